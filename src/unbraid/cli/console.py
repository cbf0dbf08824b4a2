"""What commands print."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from unbraid.metrics.keys import HEADS, MetricKey
from unbraid.metrics.score import verdict

out = Console(highlight=False)


def complain(sentence: str) -> None:
    """One sentence on standard error."""
    print(f"unbraid: {sentence}", file=sys.stderr)


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A plain table."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head in heads:
        table.add_column(head, overflow="fold")
    for row in rows:
        table.add_row(Text(row[0], style="bold"), *map(Text, row[1:]))
    out.print(table)


def print_scores(results: Mapping[str, Mapping[str, Any]]) -> None:
    """Scores with their intervals; of encoders that read labels, with them and without in columns of their own."""
    names = [name for name in results if name != "_"]
    if not results.get("_", {}).get("labels_at_test"):
        print_table(("metric", "value", "95 % interval"), [(name, *shown(results[name])) for name in names])
        return
    rows: dict[str, dict[bool, str]] = {}
    for name in names:
        key = MetricKey.parse(name)
        rows.setdefault(str(key.plain), {})[key.reads_labels] = " ".join(shown(results[name])).removesuffix(" –")
    print_table(("metric", *HEADS), [(name, row.get(True, "–"), row.get(False, "–")) for name, row in rows.items()])


def shown(score: Mapping[str, Any]) -> tuple[str, str]:
    """A value and its interval, or dashes; for a condition, whether it holds."""
    value, interval = score.get("value"), score.get("interval")
    number = f"{value:.4f}".replace("-0.0000", "0.0000") if isinstance(value, float) else "–"
    said = verdict(score.get("details") or {})
    if said:
        return number, said
    return number, "[{:.4f}, {:.4f}]".format(*interval) if isinstance(interval, list | tuple) else "–"


def finish(folder: Path, page: Path) -> None:
    """Where the results are."""
    out.print(f"run:    {folder}", soft_wrap=True)
    out.print(f"report: {page}", soft_wrap=True)


def first_sentence(text: str | None) -> str:
    """The first line of a docstring."""
    return (text or "").strip().split("\n")[0]
