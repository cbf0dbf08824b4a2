"""What the columns of a table are, and what is made of each where nobody says."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.data.own.columns import MISSING
from unbraid.data.own.csv_files import is_number

ColumnKind = Literal["number", "whole number", "category", "text", "date/time", "id", "constant", "empty"]
Role = Literal["learned from", "factor", "left out"]
MOST_CATEGORIES = 20  # different values of a text column that is learned from
FEW = 10  # different values of numbers that may well be a label
ROWS_THAT_COUNT = 20  # numbers that go up by one over so many rows count them
LABEL_NAMES = {"target", "label", "labels", "class", "classes", "outcome", "diagnosis", "species", "ground_truth"}
SHORT_LABEL_NAMES = {"y", "category"}  # labels only where they have few values: y is often a coordinate
ID_NAMES = re.compile(
    r"(.*[ _-])?(id|uuid|guid|key)|index|row|unnamed: 0|column 1|__index_level_0__|.*[a-z]ID", re.ASCII
)
TIME_NAMES = {"time", "timestamp", "datetime", "date", "t", "epoch", "time_stamp"}
DATE_FORMATS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%H:%M:%S")


@dataclass(frozen=True)
class Column:
    """One column: what it is, how its values are spread, and what is made of it."""

    name: str
    kind: ColumnKind
    role: Role
    why: str = ""  # of a role that is not the usual one; or what to consider
    distinct: int = 0
    missing: int = 0
    spread: str = ""  # the range of numbers, some values of text


def describe_columns(table: Mapping[str, Sequence[Any]]) -> dict[str, Column]:
    """What each column is, and what is made of it where nobody says.

    Args:
        table: columns by name, of numbers or text.

    Returns:
        Numbers and categories are learned from, likely labels are factors; ids, times, text and what never changes are
        left out.

    Example:
        >>> found = describe_columns({"mass": [1.5, 2.5, 2.0], "target": [0, 1, 1]})
        >>> found["mass"].role, found["target"].role
        ('learned from', 'factor')
    """
    return {name: describe_column(name, values) for name, values in table.items()}


def describe_column(name: str, values: Sequence[Any]) -> Column:
    """What one column is."""
    numbers, gaps = as_numbers_or_none(values)
    missing = int(gaps.sum())
    found = text_column(name, values, gaps) if numbers is None else number_column(name, numbers[~gaps])
    found = replace(found, missing=missing)
    plain = name.strip().lower()
    few = found.distinct <= MOST_CATEGORIES and found.distinct < len(values) - missing
    if found.kind in ("number", "whole number", "category", "text") and (
        plain in LABEL_NAMES or (plain in SHORT_LABEL_NAMES and few)
    ):
        return replace(found, role="factor", why="by its name a label")
    return found


def as_numbers_or_none(values: Sequence[Any]) -> tuple[NDArray[np.float64] | None, NDArray[np.bool_]]:
    """A column as numbers with NaN for gaps, or None if it holds text; and where its gaps are.

    Example:
        >>> as_numbers_or_none(["1.5", "", "2"])[0].tolist(), as_numbers_or_none(["a", None])[1].tolist()
        ([1.5, nan, 2.0], [False, True])
    """
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":  # read already
        return values.astype(np.float64, copy=False), np.isnan(values)
    if not {bool, np.bool_} & set(map(type, values)):
        try:  # most columns hold numbers without gaps: Python reads those fastest
            numbers = np.fromiter(map(float, values), np.float64, len(values))
            return numbers, np.isnan(numbers)
        except (TypeError, ValueError):
            pass
    text = ["" if value is None else str(value).strip() for value in values]
    gaps = np.array([value.lower() in MISSING for value in text], bool)
    try:
        filled = ["nan" if gap else value for value, gap in zip(text, gaps, strict=True)]
        return np.array(filled, dtype=np.str_).astype(np.float64), gaps
    except ValueError:
        return None, gaps


def number_column(name: str, present: NDArray[np.float64]) -> Column:
    """What a column of numbers is."""
    distinct = len(np.unique(present))
    spread = f"{present.min():.6g} to {present.max():.6g}" if distinct else ""
    if distinct < 2:
        kind: ColumnKind = "constant" if distinct else "empty"
        why = "it never changes" if distinct else "it has no values"
        return Column(name, kind, "left out", why, distinct, spread=spread.partition(" ")[0])
    whole = bool(np.all(present == np.rint(present)))
    rising = bool(np.all(np.diff(present) > 0))
    if whole and distinct == len(present):
        counting = len(present) >= ROWS_THAT_COUNT and bool(np.all(np.diff(present) == 1))
        if counting or ID_NAMES.fullmatch(name.strip()) or ID_NAMES.fullmatch(name.strip().lower()):
            return Column(name, "id", "left out", "it counts or names the rows", distinct, spread=spread)
    if rising and name.strip().lower() in TIME_NAMES and len(present) > 2:
        return Column(name, "date/time", "left out", "it only goes up", distinct, spread=spread)
    why = ""
    if whole and distinct == len(present) and len(present) >= ROWS_THAT_COUNT:
        why = "no value comes twice: leave it out if it is an id"
    elif whole and distinct <= FEW and distinct < len(present):
        why = "few values: name it in --factors if it is a label"
    return Column(name, "whole number" if whole else "number", "learned from", why, distinct, spread=spread)


def text_column(name: str, values: Sequence[Any], gaps: NDArray[np.bool_]) -> Column:
    """What a column of text is."""
    present = [value for value, gap in zip(values, gaps, strict=True) if not gap]
    text = [str(value).strip() for value in present]
    counts = sorted(set(text))
    shown = [shorten(value) for value in counts[:3]]
    spread = shorten(", ".join(shown), 36) + (" …" if len(counts) > 3 else "")
    if len(counts) == 1:
        return Column(name, "constant", "left out", "it never changes", 1, spread=spread)
    if all(is_date(value) for value in present[:1000]):
        return Column(name, "date/time", "left out", "", len(counts), spread=spread)
    slips = [value for value in text if not is_number(value)]
    if 2 * len(slips) < len(text):
        return Column(
            name, "number", "learned from", f"but {slips[0]!r} is text: correct it", len(counts), spread=spread
        )
    if len(counts) < len(text) and len(counts) <= MOST_CATEGORIES:
        return Column(name, "category", "learned from", "a value for each category", len(counts), spread=spread)
    if len(counts) == len(text) and not any(" " in value for value in text):
        return Column(name, "id", "left out", "no value comes twice", len(counts), spread=spread)
    return Column(name, "text", "left out", f"{len(counts)} different values", len(counts), spread=spread)


def shorten(text: str, most: int = 20) -> str:
    """Text of at most so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def is_date(value: Any) -> bool:
    """Whether a value is a date or a time.

    Example:
        >>> is_date("2024-02-29 10:00"), is_date("31.12.2024"), is_date("v1.2")
        (True, True, False)
    """
    if isinstance(value, datetime.date | datetime.time | np.datetime64):
        return True
    text = str(value).strip()
    if not text[:1].isdigit() or text.isdecimal():
        return False
    try:
        datetime.datetime.fromisoformat(text)
        return True
    except ValueError:
        return any(matches(text, form) for form in DATE_FORMATS)


def matches(text: str, form: str) -> bool:
    """Whether text is a date in this form."""
    try:
        datetime.datetime.strptime(text, form)
    except ValueError:
        return False
    return True


def role_notes(columns: Collection[Column]) -> list[str]:
    """What was chosen by itself, in sentences: none where every column is a number that is learned from."""
    out = [f"{column.name} ({column.kind})" for column in columns if column.role == "left out"]
    labels = [column.name for column in columns if column.role == "factor"]
    categories = [f"{c.name} ({c.distinct})" for c in columns if c.role == "learned from" and c.kind == "category"]
    return [
        *([f"left out: {listed(out)}; --data.columns names what to learn from"] if out else []),
        *([f"taken for labels by name: {listed(labels)}; --data.columns names what to learn from"] if labels else []),
        *([f"a value for each category of {listed(categories)}"] if categories else []),
    ]


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names with commas; of many the first few and how many there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
