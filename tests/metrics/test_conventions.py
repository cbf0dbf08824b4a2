"""Conventions that have a name: the papers' own rules beside the usual ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from unbraid import metrics as m
from unbraid.errors import InputError

from .conftest import random_table


def test_explicitness_by_named_conventions() -> None:
    codes, factors = random_table(600, noise=1.0)
    plain, area = m.explicitness(codes, factors), m.explicitness(codes, factors, convention="auc")
    assert area.value == plain.details["auc"] == (plain.value + 1) / 2
    assert area.interval is not None
    assert plain.interval is not None
    assert area.interval[0] == pytest.approx((plain.interval[0] + 1) / 2)
    draws = np.random.default_rng(0)
    nothing = m.explicitness(draws.normal(size=(4000, 3)), draws.integers(3, size=4000), convention="auc")
    assert nothing.value == pytest.approx(0.5, abs=0.04)
    with pytest.raises(InputError, match="auc"):
        m.explicitness(codes, factors, convention="area")


def parted_by_hand(codes: NDArray[np.float64], factors: NDArray[np.float64], batch: int) -> float:
    """PartedVAE's authors' rule with all disjoint batches in the rows' order, by plain loops."""
    deviation = codes.std(axis=0)
    votes = np.zeros((codes.shape[1], factors.shape[1]))
    for k in range(factors.shape[1]):
        for value in np.unique(factors[:, k]):
            rows = np.flatnonzero(factors[:, k] == value)
            for start in range(0, len(rows) - batch + 1, batch):
                some = codes[rows[start : start + batch]]
                votes[(some.std(axis=0) / deviation).argmin(), k] += 1
    votes[deviation < 0.1] = 0
    return float(votes.max(axis=1).sum() / votes.sum())


def test_factor_score_by_the_rule_of_partedvae() -> None:
    """A collapsed latent that copies a factor takes that factor's votes away with it; Kim's rule asks the others."""
    draws = np.random.default_rng(0)
    factors = draws.integers([4, 3, 5], size=(40_000, 3)).astype(float)
    first, second, third = factors.T
    noise = draws.normal(size=(4, len(factors)))
    codes = np.column_stack(
        [first + 0.6 * noise[0], second - first + 0.8 * noise[1], 0.01 * third, noise[2] + 0.7 * second]
    )
    ours = m.factor_score(codes, factors, convention="parted")
    assert ours.details["active_latents"] == ["z1", "z2", "z4"]
    assert ours.details["votes"][2].sum() == 0, "votes for a collapsed latent are struck out"
    assert ours.details["votes"][:, 2].sum() < 20, "and with them all that the third factor had"
    assert ours.value == pytest.approx(parted_by_hand(codes, factors, 100), abs=0.03)
    kim = m.factor_score(codes, factors)
    assert kim.details["votes"][:, 2].sum() > 3000, "by the other rule active latents must answer for it"
    assert kim.value < ours.value - 0.2
    assert ours.details["train_accuracy"] == ours.value, "scored on the votes it was learned from"
    assert m.factor_score(codes, factors, convention="parted", inactive=0.0).value > ours.value - 0.05
    with pytest.raises(InputError, match="parted"):
        m.factor_score(codes, factors, convention="partd")
