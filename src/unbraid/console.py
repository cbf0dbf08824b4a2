"""What commands print."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

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


def print_scores(results: dict[str, dict[str, object]]) -> None:
    """Scores with their intervals; of encoders that read labels, with them and without, side by side."""
    names = [name for name in results if name != "_" and not name.startswith("without-labels/")]
    if not results.get("_", {}).get("labels_at_test"):
        print_table(("metric", "value", "95 % interval"), [(name, *shown(results[name])) for name in names])
        return
    heads = ("metric", "with labels", "95 % interval", "without", "95 % interval")
    rows = [(name, *shown(results[name]), *shown(results.get(f"without-labels/{name}", {}))) for name in names]
    print_table(heads, rows)
    out.print("\n[dim]with labels: the encoder was given the labels at test time; without: observations alone")


def shown(score: dict[str, object]) -> tuple[str, str]:
    """A value and its interval, or dashes."""
    value, interval = score.get("value"), score.get("interval")
    number = f"{value:.4f}" if isinstance(value, float) else "–"
    return number, "[{:.4f}, {:.4f}]".format(*interval) if isinstance(interval, list | tuple) else "–"


def finish(folder: Path, page: Path) -> None:
    """Where the results are."""
    out.print(f"run:    {folder}", soft_wrap=True)
    out.print(f"report: {page}", soft_wrap=True)


def first_sentence(text: str | None) -> str:
    """The first line of a docstring."""
    return (text or "").strip().split("\n")[0]
