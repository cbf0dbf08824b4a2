"""All measures of runs: one line each."""

from __future__ import annotations

from unbraid.evaluation import (
    classes,
    conditioning,
    downstream,
    identifiability,
    identity,
    inception,
    leakage,
    lpips,
    reconstruction,
    table,
)
from unbraid.evaluation.measure import Measure

MEASURES: tuple[Measure, ...] = (
    table.MEASURE,
    reconstruction.MEASURE,
    downstream.MEASURE,
    inception.MEASURE,
    lpips.MEASURE,
    identifiability.MEASURE,
    classes.MEASURE,
    conditioning.MEASURE,
    identity.MEASURE,
    leakage.MEASURE,
    leakage.TIED,
)
