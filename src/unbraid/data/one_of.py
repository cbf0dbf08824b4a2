"""Factors put together from yes-or-no ones of which an observation has one: hair colour from CelebA's attributes."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from unbraid.data.factor_data import Factor, FactorData
from unbraid.errors import InputError, unknown

HOW = "give it as 'hair=Black_Hair,Brown_Hair,Blond_Hair', several with semicolons between"


def parse(text: str) -> dict[str, tuple[str, ...]]:
    """New factors and the yes-or-no factors that are their values.

    Args:
        text: `NAME=FACTOR,FACTOR,…`, several with semicolons between.

    Returns:
        The factors by the new names.

    Example:
        >>> parse("hair=Black_Hair,Blond_Hair; beard=No_Beard,Goatee")
        {'hair': ('Black_Hair', 'Blond_Hair'), 'beard': ('No_Beard', 'Goatee')}
    """
    found: dict[str, tuple[str, ...]] = {}
    for part in filter(str.strip, text.split(";")):
        name, equals, values = part.partition("=")
        parts = tuple(value.strip() for value in values.split(",") if value.strip())
        if not equals or not name.strip() or len(set(parts)) < 2 or len(set(parts)) < len(parts):
            raise InputError(f"one_of {part.strip()!r} names no factor with two values or more; {HOW}.")
        found[name.strip()] = parts
    if not found:
        raise InputError(f"one_of names nothing; {HOW}.")
    return found


def one_of(data: FactorData, text: str) -> FactorData:
    """The same observations with new categorical factors before the others.

    Args:
        data: with the yes-or-no factors that are named.
        text: as in `parse`.

    Returns:
        The data set; a label is missing where an observation has none of the named factors, or several.

    Example:
        >>> x, table = np.zeros((3, 2), np.float32), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> data = FactorData("toy", x, table, (Factor("dark", 2), Factor("fair", 2)))
        >>> one_of(data, "hair=dark,fair").column("hair").tolist()
        [0.0, 1.0, nan]
    """
    columns, info = [], []
    for name, parts in parse(text).items():
        if name in data.factor_names:
            raise InputError(f"one_of: {data.name} has a factor {name!r} already; choose another name.")
        for part in parts:
            if part not in data.factor_names:
                raise unknown("factor", part, data.factor_names)
            if data.factor_info[data.factor_names.index(part)].size != 2:
                raise InputError(f"one_of: {part!r} of {data.name} is not a matter of yes or no; {HOW}.")
        present = np.stack([data.column(part) for part in parts], axis=1)  # [n, value]; NaN where it is not known
        only = present.sum(axis=1) == 1
        columns.append(np.where(only, np.nan_to_num(present).argmax(axis=1), np.nan))
        info.append(Factor(name, len(parts), "categorical", parts))
    mark = hashlib.sha256(f"{data.fingerprint} one of {text}".encode()).hexdigest()[:32]
    return replace(
        data,
        factors=np.column_stack([*columns, data.factors]),
        factor_info=(*info, *data.factor_info),
        known_fingerprint=mark,
        arguments=None if data.arguments is None else {**data.arguments, "one_of": text},
    )
