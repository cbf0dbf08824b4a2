"""Conventions that have a name: the papers' own rules beside the usual ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from unbraid import metrics as m
from unbraid.errors import InputError
from unbraid.metrics.sap import used_latents

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


def test_how_little_a_latent_may_vary_by_each_convention() -> None:
    """Forty rows of ±s have the variance s², as a sample's 40/39 of it: 0.0495 is 0.0508 and 0.0099 is 0.0102."""
    side = np.tile([1.0, -1.0], 20)
    factors = np.column_stack([np.repeat([0.0, 1.0], 20), np.tile([0.0, 0.0, 1.0, 1.0], 10)])
    variances = np.array([1.0, 0.0495, 0.0480, 0.04, 0.0102, 0.0099])
    codes = np.sqrt(variances) * side[:, None]
    kim, parted = (
        m.factor_score(codes, factors, convention=convention, train=20, test=20, replicates=0).details
        for convention in ("kim", "parted")
    )
    assert kim["active_latents"] == ["z1", "z2"], "a sample's variance of at least 0.05"
    assert parted["active_latents"] == ["z1", "z2", "z3", "z4", "z5"], "a deviation of at least 0.1"
    assert (kim["batch"], parted["batch"]) == (64, 100)
    active = used_latents(np.sqrt([1.0, 0.06, 0.04, 0.01]) * side[:, None])
    assert active.tolist() == [True, True, False, False], "a variance above 0.05, not a deviation"
    narrow = used_latents(np.sqrt([0.1, 0.006, 0.004]) * side[:, None])
    assert narrow.tolist() == [True, True, False], "or above that part of the largest, where all are narrow"


def test_what_matters_for_a_circle_matters_for_both_of_its_coordinates() -> None:
    turn = np.tile(np.arange(8.0), 40)
    side = np.random.default_rng(0).normal(size=(320, 1))
    codes = np.column_stack([np.cos(np.pi * turn / 4), np.sin(np.pi * turn / 4), side])
    factors = np.column_stack([turn, side])
    score = m.dci(codes, factors, kinds=["cyclic", "continuous"], sizes=[8, 0], mode="lasso", replicates=0)
    importance = score.details["importance"]
    assert importance[:, 0] == pytest.approx([0.5, 0.5, 0.0], abs=0.02), "each is all of one of two coordinates"
    assert importance[:, 1] == pytest.approx([0.0, 0.0, 1.0], abs=0.02)
