"""Attributes in single codes: does one code tell an attribute better than the same codes do when they are turned?"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from unbraid.api import Run
from unbraid.papers import tables
from unbraid.papers.measures.chains import NOTHING

TURNS = 20  # random rotations that chance is the mean of
IN_USE = 0.05  # variance of a code, below which it says nothing and is left out, as in SAP
RARE = 0.01  # part of the images: of what fewer have nothing can be told
SHOWN = 0.7  # from this area on an attribute is named on the page


def area_of_best_code(codes: NDArray[np.floating], has: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The area under the ROC curve of the code that tells an attribute best, in either direction.

    The code and its direction are chosen on every second row, the area is that of the others.

    Args:
        codes: [n, code].
        has: which rows have which attribute, [n, attribute].

    Returns:
        An area for each attribute; 0.5 is chance, where the choice helps nothing.

    Example:
        >>> codes = np.arange(40.0).reshape(20, 2) * [1, 0]
        >>> area_of_best_code(codes, codes[:, :1] < 18)
        array([1.])
    """
    chosen, found = areas(codes[::2], has[::2]), areas(codes[1::2], has[1::2])
    best = np.abs(chosen - 0.5).argmax(axis=0)[None]
    chosen, found = (np.take_along_axis(each, best, axis=0)[0] for each in (chosen, found))
    return np.asarray(np.where(chosen < 0.5, 1 - found, found))


def areas(codes: NDArray[np.floating], has: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The area under the ROC curve of every code for every attribute, [code, attribute]; Mann and Whitney's form."""
    n1 = has.sum(axis=0)
    ranks = rankdata(codes, axis=0).T @ has  # [code, attribute]
    return np.asarray((ranks - n1 * (n1 + 1) / 2) / (n1 * (len(has) - n1)))


def turned(codes: NDArray[np.floating], seed: int) -> NDArray[np.float64]:
    """The codes, each with a variance of 1, in a random rotation: what they tell together stays."""
    standard = (codes - codes.mean(axis=0)) / codes.std(axis=0)
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(codes.shape[1],) * 2))
    return np.asarray(standard @ turn)


@lru_cache(maxsize=4)
def attributes_told(
    folder: Path, prefix: str, without: tuple[str, ...]
) -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.float64]]:
    """Attributes of the data, the areas of their best codes, and those of turned codes."""
    run = Run.open(folder)
    table, info = run.encode(show=False), run.data.factor_info
    of_two = [k for k, factor in enumerate(info) if factor.size == 2 and factor.name not in without]
    kept = [k for k in of_two if RARE <= np.mean(table.factors[:, k]) <= 1 - RARE]
    codes = table.codes[:, [name.startswith(prefix) for name in table.columns]]
    codes = codes[:, codes.var(axis=0) > IN_USE]
    if not kept or not codes.shape[1]:
        return (), np.empty(0), np.empty(0)
    has = table.factors[:, kept] == 1
    chance = np.mean([area_of_best_code(turned(codes, seed), has) for seed in range(TURNS)], axis=0)
    return tuple(info[k].name for k in kept), area_of_best_code(codes, has), chance


def mean_area(run: Run, which: str, prefix: str = "", without: Collection[str] = ()) -> float:
    """The mean over attributes: of the best codes, of turned ones, or by how much the former are ahead."""
    _, own, chance = attributes_told(run.folder, prefix, tuple(without))
    return float({"own": own, "turned": chance, "ahead": own - chance}[which].mean()) if len(own) else NOTHING


def measures(prefix: str = "", without: Collection[str] = ()) -> dict[str, Callable[[Run], float]]:
    """The three figures.

    Args:
        prefix: of the names of the codes that count, such as z.
        without: attributes to leave out: those whose labels were shown.
    """
    return {
        f"attributes-{which}": partial(mean_area, which=which, prefix=prefix, without=tuple(without))
        for which in ("own", "turned", "ahead")
    }


COLUMNS = {
    "attributes-own": ("area of the best code", 3),
    "attributes-turned": ("of turned codes", 3),
    "attributes-ahead": ("ahead by", 3),
}
EXPLAINED = (
    "Attributes in single codes, in numbers: the area under the ROC curve (0.5: chance) of the one code that tells an "
    f"attribute best, chosen on every second face and measured on the others, averaged over all attributes; that of "
    f"the same codes in {TURNS} random rotations, which tell as much together; and the difference."
)


def named(run: Run, prefix: str = "", without: Collection[str] = ()) -> str:
    """A table of the attributes that single codes of a run tell well, with the same of turned codes."""
    names, own, chance = attributes_told(run.folder, prefix, tuple(without))
    rows = [
        [names[k].replace("_", " "), f"{own[k]:.2f}", f"{chance[k]:.2f}"] for k in np.argsort(-own) if own[k] >= SHOWN
    ]
    return tables.markdown(["", "area of the best code", "of turned codes"], rows)
