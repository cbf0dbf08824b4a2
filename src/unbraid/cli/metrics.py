"""`unbraid metrics`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.padding import Padding
from rich.text import Text

from unbraid.cli.console import out
from unbraid.cli.parsers import command_parser

DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "neither": "neither end is better"}


def metrics(words: Sequence[str]) -> None:
    """List the metrics, with their ranges, what chance and perfect codes get, and what they do not see."""
    command_parser("metrics", metrics, "unbraid metrics").parse_args(words)

    from unbraid.metrics import METRICS
    from unbraid.metrics.keys import MetricKey
    from unbraid.metrics.standing import LATENTS, SIZES, published

    known = published()
    entries = {MetricKey.parse(text): entry for text, entry in known["scores"].items()}
    for name, metric in METRICS.items():
        parts = [MetricKey(name, part) for part in metric.parts]
        for key in [key for key in entries if key.metric == name] or parts or [MetricKey(name)]:
            shown, entry = metric.display(key.part), entries.get(key)
            low, high = shown.range
            facts = [
                f"{'−∞' if low is None else f'{low:g}'} … {'∞' if high is None else f'{high:g}'}".replace("-", "−")
            ]
            facts.append({"higher": "higher is better", "lower": "lower is better", "neither": ""}[shown.better])
            level = entry["chance"]["mean"] if entry else metric.chance
            facts.append("" if level is None else f"chance {level:.2f}".replace("-0.00", "0.00"))
            facts.append(f"ceiling {entry['ceiling']:.2f}" if entry and entry["ceiling"] is not None else "")
            facts.append(f"unchanged by {', '.join(metric.unchanged_by)}" if metric.unchanged_by else "")
            out.print(Text(str(key), style="bold"), Text(shown.description))
            lines = " · ".join(fact.replace("-", "−") for fact in facts if fact)
            lines += f" · {metric.reference}" if metric.reference else ""
            out.print(Padding(Text(lines, style="dim"), (0, 0, 0, 4)))
    sizes = ", ".join(map(str, SIZES))
    out.print(
        f"\n[dim]Chance and ceiling: {known['rows']:,} rows, {LATENTS} latents, factors with {sizes} values. They "
        "depend on the table; `unbraid evaluate` measures them on yours."
    )
