"""Shared printing helpers: tables on standard output, complaints on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

out = Console(highlight=False)


def complain(sentence: str) -> None:
    """Print one sentence on standard error.

    Args:
        sentence: what is wrong and what to do about it.
    """
    print(f"unbraid: {sentence}", file=sys.stderr)


WIDEST_NAME = 36  # of a first column that is kept on one line: names are copied from it


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a plain table.

    Args:
        heads: a heading for each column.
        rows: cells as text; those of the first column are set bold.
    """
    table = Table(box=None, pad_edge=False, header_style="dim")
    names_fit = max((len(row[0]) for row in rows), default=0) <= WIDEST_NAME
    for number, head in enumerate(heads):
        table.add_column(head, overflow="fold", no_wrap=number == 0 and names_fit)
    for row in rows:
        table.add_row(Text(row[0], style="bold"), *map(Text, row[1:]))
    out.print(table)


def print_places(folder: Path, page: Path) -> None:
    """Print where the results of a run are.

    Args:
        folder: the run directory.
        page: its report.
    """
    out.print(f"run:    {folder}", soft_wrap=True)
    out.print(f"report: {page}", soft_wrap=True)


def print_verdict(sentences: Iterable[tuple[str, str]]) -> None:
    """Print what there is to know of a run, a line for each sentence.

    Args:
        sentences: each with its level: good, note or bad.
    """
    marks = {"good": "[green]✓[/]", "bad": "[bold yellow]![/]"}
    for level, text in sentences:
        out.print(f"{marks.get(level, '·')} {escape(text)}", soft_wrap=True)


def print_notes(notes: Iterable[str]) -> None:
    """Print what a loader chose by itself, a line for each.

    Args:
        notes: sentences without a full stop.
    """
    for note in notes:
        out.print(f"· {escape(note)}", soft_wrap=True)


def first_line(text: str | None) -> str:
    """The first line of a docstring.

    Args:
        text: the docstring; None counts as empty.

    Returns:
        That line without blanks around it.

    Example:
        >>> first_line("Learn the factors. \\n\\n    More about it.")
        'Learn the factors.'
    """
    return (text or "").strip().split("\n")[0].strip()
