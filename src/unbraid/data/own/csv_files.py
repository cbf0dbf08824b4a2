"""CSV files as people have them: comma, semicolon or tab, decimal commas, with a header line or without."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from unbraid.data.own.columns import MISSING
from unbraid.errors import InputError

LOOKED_AT = 200  # rows that decide on separator and header
DECIMAL = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][-+]?\d+)?")
THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")
Rows = list[list[str]]


@dataclass(frozen=True)
class Sheet:
    """Columns by name, and what there is to say of how they were read."""

    columns: dict[str, list[Any]]
    notes: tuple[str, ...] = ()


def read_csv(path: Path, header: str | bool = "auto") -> Sheet:
    """A CSV file.

    Args:
        path: the file.
        header: whether the first line names the columns: "yes", "no" or "auto", which looks at it. Without one columns
            are called c1, c2, …

    Returns:
        The columns as text, decimal commas as points.
    """
    wanted = {True: "yes", False: "no"}.get(header, header) if isinstance(header, bool) else str(header).lower()
    if wanted not in ("auto", "yes", "no"):
        raise InputError(f"header={header!r} is unknown; choose 'auto', 'yes' or 'no' (--data.header no).")
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            delimiter = find_delimiter(list(islice(stream, LOOKED_AT)))
            stream.seek(0)
            rows = [row for row in csv.reader(stream, delimiter=delimiter) if any(field.strip() for field in row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{str(path)!r} is not a readable CSV file in UTF-8 ({error}).") from error
    named = wanted == "yes" or (wanted == "auto" and not (rows and looks_like_data(rows[:LOOKED_AT])))
    if len(rows) < 1 + named:
        raise InputError(f"{str(path)!r} needs a header line and at least one row.")
    names = rows[0] if named else [f"c{k + 1}" for k in range(len(rows[0]))]
    notes = [] if wanted != "auto" or named else [no_header(len(names))]
    notes += ["fields are separated by semicolons"] if delimiter == ";" else []
    names = [name.strip() or f"column {k + 1}" for k, name in enumerate(names)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{str(path)!r} has two columns named {twice!r}; rename one.")
    for line, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise InputError(f"{str(path)!r}: line {line} has {len(row)} fields where the first has {len(names)}.")
    columns: dict[str, list[Any]] = dict(zip(names, map(list, zip(*rows[named:], strict=True)), strict=True))
    return with_points(columns, notes, delimiter)


def no_header(count: int) -> str:
    """What is said of a file without names."""
    called = "c1" if count == 1 else f"c1 to c{count}"
    return f"there is no header line: columns are called {called} (--data.header yes if the first line is one)"


def find_delimiter(lines: Sequence[str]) -> str:
    """The separator that gives every line as many fields; a semicolon or tab goes before a comma, which may be decimal.

    Example:
        >>> find_delimiter(["1,5;2,5", "3,0;4,1"]), find_delimiter(["a,b"])
        (';', ',')
    """
    whole = lines[:-1] if len(lines) == LOOKED_AT else lines  # a quoted field may go on after the last
    best, most = ",", 1
    for delimiter in ";\t,":
        try:
            counts = [len(row) for row in csv.reader(whole, delimiter=delimiter) if row]
        except csv.Error:
            continue
        if counts and min(counts) == max(counts) > 1:
            return delimiter
        if counts and counts[0] > most:
            best, most = delimiter, counts[0]
    return best


def looks_like_data(rows: Rows) -> bool:
    """Whether the first row is an observation and no header.

    Names above columns of numbers are a header, and so are numbers that count, as an array's columns do.

    Example:
        >>> looks_like_data([["5.1", "setosa"], ["4.9", "setosa"]]), looks_like_data([["mass"], ["2"]])
        (True, False)
    """
    first, rest = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    numbers = [field for field in first if is_number(field)]
    if len(rows) == 1:
        return len(numbers) == len(first)
    if not numbers or counts_up(numbers):
        return False
    repeated = False
    for k, field in enumerate(first):
        below = [row[k] for row in rest if row[k].strip().lower() not in MISSING]
        if field.strip().lower() in MISSING or is_number(field):
            continue
        if below and all(map(is_number, below)):
            return False
        repeated |= field in below
    return repeated or 2 * len(numbers) > len(first)


def is_number(text: str) -> bool:
    """Whether a field is a number, also with a decimal comma."""
    try:
        float(text)
    except ValueError:
        return bool(DECIMAL.fullmatch(text.strip()))
    return text.strip().lower() not in MISSING


def counts_up(fields: Sequence[str]) -> bool:
    """Whether these are 0, 1, 2, … or any other whole numbers, at least three, that go up by one."""
    if len(fields) < 3 or not all(field.strip().isdecimal() for field in fields):
        return False
    numbers = [int(field) for field in fields]
    return all(b - a == 1 for a, b in zip(numbers, numbers[1:], strict=False))


def with_points(columns: dict[str, list[Any]], notes: list[str], delimiter: str) -> Sheet:
    """Numbers with decimal points, whatever the file has; said where something was changed."""
    changed = {}
    for name, values in columns.items():
        if "," not in "".join(values):
            continue
        present = [value.strip() for value in values if value.strip().lower() not in MISSING]
        with_comma = [value for value in present if "," in value]
        if not with_comma or not all(map(is_number_with_commas, present)):
            continue
        # In a file with commas between fields, 1,234 is one thousand; elsewhere it is one and a bit.
        thousands = delimiter == "," and all(THOUSANDS.fullmatch(value) for value in with_comma)
        taken, point = (",", ".") if thousands else (".", ",")
        changed[name] = [value.replace(taken, "").replace(point, ".") if "," in value else value for value in values]
    if changed:
        which = "all numbers" if len(changed) > 3 else ", ".join(changed)
        notes = [*notes, f"decimal commas are read as points, in {which}"]
    return Sheet(columns | changed, tuple(notes))


def is_number_with_commas(text: str) -> bool:
    """Whether a field is a number, perhaps with a decimal comma or with commas between thousands."""
    return is_number(text) or bool(THOUSANDS.fullmatch(text))
