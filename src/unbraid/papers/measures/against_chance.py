"""Scores of codes beside what they are at chance: the studies of what came after the five papers share them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from unbraid import metrics
from unbraid.api import Run
from unbraid.papers.measures import runs
from unbraid.util.seeds import stream


def score(run: Run, name: str, part: str = "", *, chance: bool = False) -> float:
    """A metric, or a part of it, of a run's codes.

    Args:
        run: the finished run.
        name: of the metric.
        part: of its value, where it has several.
        chance: score the same codes against factors whose rows are in a random order.
    """
    table, info = run.encode(show=False), run.data.factor_info
    factors = stream(run.plan.seed, "chance").permutation(table.factors) if chance else table.factors
    found = getattr(metrics, name)(
        table.codes, factors, kinds=tuple(one.kind for one in info), seed=run.plan.seed, replicates=0
    )
    value = found[part] if part else found
    return float(np.asarray(getattr(value, "value", value)))


MEASURES: dict[str, Callable[[Run], float]] = {
    "mig": partial(score, name="mig"),
    "mig-chance": partial(score, name="mig", chance=True),
    "dci": partial(score, name="dci"),
    "dci-chance": partial(score, name="dci", chance=True),
    "infom": partial(score, name="infomec", part="modularity"),
    "infom-chance": partial(score, name="infomec", part="modularity", chance=True),
    "infoc": partial(score, name="infomec", part="compactness"),
    "infoc-chance": partial(score, name="infomec", part="compactness", chance=True),
    "infoe": partial(score, name="infomec", part="explicitness"),
    "l2": runs.squared_error,
}
# Figure → (heading, digits), as tables want them.
COLUMNS = {
    "mig": ("MIG", 3),
    "mig-chance": ("at chance", 3),
    "dci": ("DCI disentanglement", 3),
    "dci-chance": ("at chance", 3),
    "infom": ("InfoM", 3),
    "infom-chance": ("at chance", 3),
    "infoc": ("InfoC", 3),
    "infoc-chance": ("at chance", 3),
    "infoe": ("InfoE", 3),
    "l2": ("squared error", 4),
}
DRAWN = {name: COLUMNS[name] for name in ("mig", "dci", "infom", "infoc", "l2")}
HOW = (
    "Means over seeds with 95 % Student intervals. Scores from mean codes; at chance, the same codes against factors "
    "in a random order. InfoM, InfoC and InfoE: modularity, compactness and explicitness of InfoMEC (Hsu et al. 2023)."
)
