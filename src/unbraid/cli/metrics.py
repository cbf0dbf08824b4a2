"""`unbraid metrics`."""

from __future__ import annotations

from collections.abc import Sequence

from unbraid.cli.console import out, print_table
from unbraid.cli.parsers import command_parser


def metrics(words: Sequence[str]) -> None:
    """List the metrics, with their ranges, what chance and perfect codes get, and what they do not see."""
    command_parser("metrics", metrics, "unbraid metrics").parse_args(words)

    from unbraid.metrics import METRICS
    from unbraid.metrics.keys import MetricKey
    from unbraid.metrics.standing import LATENTS, SIZES, published

    known = published()
    entries = {MetricKey.parse(text): entry for text, entry in known["scores"].items()}
    rows = []
    for name, metric in METRICS.items():
        for key in [key for key in entries if key.metric == name] or [MetricKey(name)]:
            shown, entry = metric.display(key.part), entries.get(key)
            limits = " … ".join("∞" if end is None else f"{end:g}" for end in shown.range)
            rows.append(
                (
                    str(key),
                    shown.description,
                    limits if any(end is not None for end in shown.range) else "–",
                    {"higher": "↑", "lower": "↓", "neither": "–"}[shown.better],
                    f"{entry['chance']['mean']:.2f}".replace("-0.00", "0.00") if entry else "–",
                    f"{entry['ceiling']:.2f}" if entry and entry["ceiling"] is not None else "–",
                    ", ".join(metric.unchanged_by) or "–",
                    metric.reference or "–",
                )
            )
    print_table(("metric", "what it says", "range", "better", "chance", "ceiling", "unchanged by", "reference"), rows)
    sizes = ", ".join(map(str, SIZES))
    out.print(
        f"\n[dim]Chance and ceiling: {known['rows']:,} rows, {LATENTS} latents, factors with {sizes} values. They "
        "depend on the table; `unbraid evaluate` measures them on yours."
    )
