"""The columns of a table as `unbraid data info` lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unbraid.data.own.column_kinds import Column, describe_columns
from unbraid.data.own.tables import read_sheet
from unbraid.util.lists import name_list

MOST_LINES = 60
SUFFIXES = (".csv", ".tsv", ".parquet")


@dataclass(frozen=True)
class TableInfo:
    """The columns of a file and what is made of each, and how many rows it has."""

    columns: tuple[Column, ...]
    rows: int
    bytes: int


def table_columns(path: Path, arguments: Mapping[str, Any]) -> TableInfo | None:
    """What `load` makes of each column of a file with these arguments.

    Args:
        path: of any data set.
        arguments: of `load`.

    Returns:
        The columns; None if it is no table.
    """
    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        return None
    sheet = read_sheet(path, arguments.get("header", "auto"))
    chosen = arguments.get("columns")
    asked = None if chosen is None else name_list(chosen)
    labels, without = (name_list(arguments.get(key) or ()) for key in ("factors", "exclude"))

    def as_asked(column: Column) -> Column:
        if column.name in without:
            return replace(column, role="left out", why="as you asked")
        if column.name in labels:
            return replace(column, role="factor", why="as you asked")
        if asked is None:
            return column
        named = column.name in asked
        return replace(column, role="learned from" if named else "left out", why="as you asked" if named else "")

    columns = tuple(as_asked(column) for column in describe_columns(sheet.columns).values())
    rows = len(next(iter(sheet.columns.values()), []))
    return TableInfo(columns, rows, path.stat().st_size)


def column_lines(columns: Sequence[Column]) -> list[str]:
    """Columns as lines of text: name, kind, spread, gaps, and what is made of each."""
    if not columns:
        return []
    cells = [("column", "kind", "values", "missing", "what fit makes of it")]
    for column in columns[:MOST_LINES]:
        role = f"{column.role} ({column.why})" if column.why else column.role
        spread = f"{column.spread} ({column.distinct:,} different)" if column.distinct > 1 else column.spread
        cells.append((column.name, column.kind, spread, f"{column.missing:,}" if column.missing else "", role))
    widths = [max(len(row[k]) for row in cells) for k in range(4)]
    lines = ["  ".join([*map(str.ljust, row[:4], widths), row[4]]) for row in cells]
    if len(columns) > MOST_LINES:
        lines.append(f"… and {len(columns) - MOST_LINES:,} more columns")
    return [line.rstrip() for line in lines]
