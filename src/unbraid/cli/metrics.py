"""`unbraid metrics`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.padding import Padding
from rich.text import Text

from unbraid.cli.console import out
from unbraid.cli.parsers import command_parser


def metrics(words: Sequence[str]) -> None:
    """List the metrics, with their ranges, what chance and perfect codes get, and what they do not see."""
    command_parser("metrics", metrics, "unbraid metrics").parse_args(words)

    from unbraid.metrics import METRICS
    from unbraid.metrics.keys import MetricKey
    from unbraid.metrics.standing import LATENTS, SIZES, published

    known = published()
    entries = {MetricKey.parse(text): entry for text, entry in known["scores"].items()}
    for name, metric in METRICS.items():
        for key in [key for key in entries if key.metric == name] or [MetricKey(name)]:
            shown, entry = metric.display(key.part), entries.get(key)
            limits = " … ".join("∞" if end is None else f"{end:g}" for end in shown.range)
            facts = [limits if any(end is not None for end in shown.range) else ""]
            facts.append({"higher": "higher is better", "lower": "lower is better", "neither": ""}[shown.better])
            facts.append(f"chance {entry['chance']['mean']:.2f}".replace("-0.00", "0.00") if entry else "")
            facts.append(f"ceiling {entry['ceiling']:.2f}" if entry and entry["ceiling"] is not None else "")
            facts.append(f"unchanged by {', '.join(metric.unchanged_by)}" if metric.unchanged_by else "")
            out.print(Text(str(key), style="bold"), Text(shown.description))
            lines = " · ".join(fact for fact in (*facts, metric.reference) if fact)
            out.print(Padding(Text(lines, style="dim"), (0, 0, 0, 4)))
    sizes = ", ".join(map(str, SIZES))
    out.print(
        f"\n[dim]Chance and ceiling: {known['rows']:,} rows, {LATENTS} latents, factors with {sizes} values. They "
        "depend on the table; `unbraid evaluate` measures them on yours."
    )
