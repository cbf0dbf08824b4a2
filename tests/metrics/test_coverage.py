"""A small version of benchmarks/coverage.py: intervals hold what scores are expected to be, p-values are uniform."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from unbraid import metrics as m

from .conftest import random_table


@pytest.mark.parametrize("metric", [m.mig, m.mcc, m.sufficiency], ids=lambda f: f.__name__)
def test_intervals_hold_the_expected_score(metric: Callable[..., m.Score]) -> None:
    scores = [metric(*random_table(400, seed=seed, noise=0.3, spare=0), seed=seed) for seed in range(100)]
    expected = float(np.mean([score.value for score in scores]))
    held = [score.interval is not None and score.interval[0] <= expected <= score.interval[1] for score in scores]
    assert 88 <= sum(held) <= 100


def test_p_values_of_permuted_tables_are_uniform() -> None:
    found = []
    for seed in range(150):
        codes, factors = random_table(120, seed=seed, spare=1)
        order = np.random.default_rng(seed).permutation(120)
        score = m.mig(codes, factors[order], seed=seed, replicates=0, calibrate=9)
        assert score.p_value is not None
        found.append(score.p_value)
    levels = np.arange(1, 11) / 10
    gap = np.abs(np.searchsorted(np.sort(found), levels + 1e-9) / len(found) - levels).max()
    assert gap < 1.36 / np.sqrt(150)  # Kolmogorov's limit
