"""Training under factors that depend on one another, while scores stay under the data's own distribution.

The field's protocol for correlated factors: pairs of factors are drawn with weights exp(−(u − v)²/2σ²), u and v the
values scaled to [0, 1], and the model is scored where they are independent (Träuble et al. 2021; Roth et al. 2023).
A letter in the place of σ is one of the four joint distributions of Chen et al. 2018, fig. 5.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from unbraid.data.factor_data import FactorData
from unbraid.data.published_ties import published_pairs
from unbraid.data.reweight import RATIO, Configuration, configuration
from unbraid.errors import InputError, unknown
from unbraid.util.seeds import stream

STRENGTH = 0.2  # σ: the smaller, the stronger; the protocol has 0.1, 0.2 and 0.4
PRESETS = ("1-pair", "2-pairs", "3-pairs", "1-to-all")
HOW = (
    "give pairs such as 'shape~size:0.2,x~y' or one of "
    + ", ".join(PRESETS)
    + ", with :σ behind it; of Shapes3D, dSprites, MPI3D and Cars3D also published pairs such as 1-pair/2"
)


@dataclass(frozen=True)
class Tie:
    """Two factors that go together, the more the smaller the strength is; or as a configuration says."""

    first: str
    second: str
    strength: float | Configuration


def ties(text: str, names: Sequence[str], data: str = "") -> tuple[Tie, ...]:
    """The pairs of factors that a text names.

    Args:
        text: `a~b`, `a~b:0.1`, `a~b:D` and several of these with commas between; or a preset: `1-pair` ties the first
            factor to the second, `2-pairs` also the third to the fourth, `3-pairs` the fifth to the sixth, and
            `1-to-all` the first to every other. `1-pair/2` and the like are the published pairs of a data set, with
            their own σ unless it is given (`unbraid.data.published_ties`).
        names: of the factors that vary, in their order.
        data: name of the data set.

    Returns:
        The pairs.

    Example:
        >>> ties("1-to-all:0.4", ["shape", "size", "hue"])
        (Tie(first='shape', second='size', strength=0.4), Tie(first='shape', second='hue', strength=0.4))
        >>> ties("hue~size", ["shape", "size", "hue"])
        (Tie(first='hue', second='size', strength=0.2),)
        >>> ties("1-pair/2", ["shape", "scale", "orientation", "x", "y"], "dsprites")
        (Tie(first='x', second='y', strength=0.1),)
    """
    found: list[Tie] = []
    for part in text.split(","):
        what, _, number = part.strip().partition(":")
        strength = _strength(number, text)
        if "/" in what and what.partition("/")[0] in PRESETS:
            known, usual = published_pairs(data, what, tuple(names))
            pairs, strength = list(known), strength if number else usual
        elif what in PRESETS:
            pairs = [(names[0], other) for other in names[1:]] if what == "1-to-all" else _neighbours(what, names)
        else:
            first, tilde, second = what.partition("~")
            if not tilde:
                raise InputError(f"--train-under {text!r} names no pair of factors; {HOW}.")
            for name in (first, second):
                if name not in names:
                    raise unknown("factor that varies", name, names)
            if first == second:
                raise InputError(f"--train-under {text!r} ties {first!r} to itself; {HOW}.")
            pairs = [(first, second)]
        found += [Tie(first, second, strength) for first, second in pairs]
    return tuple(found)


def _neighbours(preset: str, names: Sequence[str]) -> list[tuple[str, str]]:
    count = int(preset[0])
    if len(names) < 2 * count:
        raise InputError(f"{preset} needs {2 * count} factors that vary; these data have {len(names)}: {HOW}.")
    return list(pairwise(names[: 2 * count]))[::2]


def _strength(number: str, text: str) -> float | Configuration:
    if number in get_args(Configuration):
        return cast(Configuration, number)
    try:
        strength = float(number) if number else STRENGTH
    except ValueError:
        strength = 0.0
    if not 0 < strength < np.inf:
        raise InputError(
            f"--train-under {text!r}: {number!r} is no strength; give a number above 0, such as 0.2, or A to D."
        )
    return strength


def row_chances(data: FactorData, text: str) -> NDArray[np.float64]:
    """The probability of every observation under the ties, [n]; in all they are 1.

    Args:
        data: the data set, with all labels of the factors that are tied.
        text: as in `ties`.
    """
    columns = {name: data.column(name) for name in data.factor_names}
    varying = [name for name, column in columns.items() if len(np.unique(column[~np.isnan(column)])) > 1]
    if len(varying) < 2:
        raise InputError(f"{data.name} has no two factors that vary, so that none can be tied to another.")
    exponent = np.zeros(len(data))
    for tie in ties(text, varying, data.name):
        u, v = (_unit(data.name, name, columns[name]) for name in (tie.first, tie.second))
        if isinstance(tie.strength, str):
            exponent += np.log(_configured(tie.strength, u, v))
            continue
        exponent -= np.square(u - v) / (2 * tie.strength**2)
    weights = np.exp(exponent - exponent.max())
    return np.asarray(weights / weights.sum())


def _configured(name: Configuration, *columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weight of every row in one of the four joint distributions of two factors."""
    (first, i), (second, j) = (np.unique(column, return_inverse=True) for column in columns)
    return configuration(name, len(first), len(second))[i, j]


def _unit(data: str, name: str, column: NDArray[np.float64]) -> NDArray[np.float64]:
    if np.isnan(column).any():
        raise InputError(f"{data} lacks some labels of {name!r}, so that its rows cannot be weighed by it.")
    low, high = column.min(), column.max()
    return np.asarray((column - low) / (high - low))


def rows_by_chance(chances: NDArray[np.float64], seed: int = 0, times: int = 1) -> NDArray[np.int64]:
    """As many rows as there are chances, or several times that, each as often as its chance says, rounded down or up.

    Example:
        >>> rows_by_chance(np.array([0.5, 0.25, 0.25, 0.0])).tolist()
        [0, 0, 1, 2]
    """
    n = times * len(chances)
    ends = np.cumsum(chances)
    ends[-1] = max(ends[-1], 1.0)
    places = (np.arange(n) + stream(seed, "train under").random()) / n
    return np.searchsorted(ends, places, side="right").astype(np.int64)


def train_under(data: FactorData, text: str) -> FactorData:
    """The same data, of which training draws rows under ties between factors; everything else reads all rows alike."""
    letters = tuple(f":{name}" for name in get_args(Configuration))
    lettered = any(part.strip().endswith(letters) for part in text.split(","))
    # In the paper's four distributions every row has a chance, which rounding must not take from it.
    rows = rows_by_chance(row_chances(data, text), times=ceil(RATIO) if lettered else 1)
    kept = len(np.unique(rows))
    note = (
        f"Training draws factors under {text}: {kept:,} of {len(data):,} observations. Scores are of all of them alike."
    )
    mark = hashlib.sha256(f"{data.fingerprint} under {text}".encode()).hexdigest()[:32]
    arguments = None if data.arguments is None else {**data.arguments, "train_under": text}
    return replace(data, train_rows=rows, known_fingerprint=mark, arguments=arguments, notes=(*data.notes, note))
