"""The metrics by name, as `unbraid metrics` prints them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from unbraid.metrics.information import mig, modularity
from unbraid.metrics.intervention import factor_score
from unbraid.metrics.quality import l1, l2


class Metric(NamedTuple):
    """A metric: the function, what it says in one line, and what it needs."""

    function: Callable[..., Any]
    description: str
    needs: str


METRICS: Mapping[str, Metric] = {
    "mig": Metric(mig, "gap between the two latents that know most of a factor", "codes, factors"),
    "modularity": Metric(modularity, "whether each latent knows of one factor only", "codes, factors"),
    "factor_score": Metric(factor_score, "least varying latent names the fixed factor", "codes, factors"),
    "l1": Metric(l1, "mean absolute error of reconstructions", "observations, reconstructions"),
    "l2": Metric(l2, "mean squared error of reconstructions", "observations, reconstructions"),
}
