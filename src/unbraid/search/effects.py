"""Which option matters: how much of a score's variance over all trials goes with each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbraid.search.ranking import Ranked

MOST_LEVELS = 8  # an option with more values is cut into quarters


@dataclass(frozen=True)
class Effect:
    """One option's part in a score."""

    option: str
    share: float  # of the variance: between the means of the option's values, over all of it (η²)
    p: float  # of a share this large if the option did nothing (F test)
    levels: int
    trials: int


def effects(settings: Sequence[Ranked], by: str) -> list[Effect]:
    """One-way analysis of variance of a score for the method, each option that was varied, and the seed.

    Args:
        settings: of the search.
        by: the figure.

    Returns:
        The options by their share, the largest first. An option that only some methods have is judged among these.

    Example:
        >>> from unbraid.search.ranking import Row, summarise
        >>> from unbraid.search.space import Setting
        >>> one, two = Setting("vae", {"beta": 1}), Setting("vae", {"beta": 2})
        >>> rows = lambda s, a, b: [Row("", s, 0, "finished", {"x": a}), Row("", s, 1, "finished", {"x": b})]
        >>> found = effects([summarise(one, rows(one, 0.0, 0.1), {}), summarise(two, rows(two, 1.0, 1.1), {})], "x")
        >>> [(e.option, round(e.share, 2)) for e in found]
        [('beta', 0.99), ('seed', 0.01)]
    """
    trials = [
        ({"method": one.setting.method, **one.setting.values, "seed": seed}, value)
        for one in settings
        if by in one.figures
        for seed, value in one.figures[by].seeds.items()
        if math.isfinite(value)
    ]
    names = dict.fromkeys(name for known, _ in trials for name in known)
    found = [effect(name, [(known[name], value) for known, value in trials if name in known]) for name in names]
    return sorted((one for one in found if one is not None), key=lambda one: -one.share)


def effect(name: str, pairs: Sequence[tuple[Any, float]]) -> Effect | None:
    """The part of one option; None where it has one value only, or there is nothing to explain."""
    from scipy.stats import f

    groups: dict[Any, list[float]] = {}
    for level, (_, value) in zip(levels([key for key, _ in pairs]), pairs, strict=True):
        groups.setdefault(level, []).append(value)
    values = np.array([value for _, value in pairs])
    total = float(((values - values.mean()) ** 2).sum())
    if len(groups) < 2 or total == 0:
        return None
    between = sum(len(group) * (np.mean(group) - values.mean()) ** 2 for group in groups.values())
    inner, free = len(groups) - 1, len(values) - len(groups)
    p = float("nan")
    if free > 0:
        within = total - float(between)
        p = float(f.sf((between / inner) / (within / free), inner, free)) if within > 0 else 0.0
    return Effect(name, min(1.0, float(between) / total), p, len(groups), len(values))


def levels(values: Sequence[Any]) -> list[Any]:
    """The groups that values fall into: themselves, or quarters of many numbers."""
    numbers = all(isinstance(value, int | float) for value in values)
    if len(set(values)) <= MOST_LEVELS or not numbers:
        return list(values)
    edges = np.quantile(np.array(values, float), [0.25, 0.5, 0.75])
    return [int(place) for place in np.searchsorted(edges, np.array(values, float))]
