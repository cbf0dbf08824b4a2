"""Small tables worked out by hand."""

from __future__ import annotations

import importlib
import itertools
import math
from math import log, sqrt

import numpy as np
import pytest

from unbraid import metrics as m
from unbraid.errors import InputError
from unbraid.metrics._shared.numbers import equal_width
from unbraid.metrics.udr import _relative_strength

from .conftest import random_table

FACTORS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
# The first latent is the first factor; the second is 1 only where both factors are.
CODES = np.array([[0, 0], [0, 0], [1, 0], [1, 1]], dtype=float)


def entropy(*p: float) -> float:
    return -sum(q * log(q) for q in p if q)


def test_information_of_an_and_gate() -> None:
    shared = entropy(0.25, 0.75) - 0.5 * log(2)  # H(z) − H(z given v): undecided only where v = 1
    matrix = m.mutual_information_matrix(CODES, FACTORS)
    assert matrix == pytest.approx(np.array([[log(2), 0.0], [shared, shared]]), abs=1e-12)
    scaled = m.mutual_information_matrix(CODES, FACTORS, normalise=True)
    assert scaled == pytest.approx(matrix / log(2), abs=1e-12)


def test_mig_and_modularity_of_an_and_gate() -> None:
    # Gaps (log 2 − s)/log 2 and s/log 2: whatever s is, they average to a half.
    assert m.mig(CODES, FACTORS).value == pytest.approx(0.5, abs=1e-12)
    # One latent knows one factor, the other both alike.
    assert m.modularity(CODES, FACTORS).value == pytest.approx(0.5, abs=1e-12)
    assert m.mig(CODES[:, :1], FACTORS[:, :1]).value == pytest.approx(1.0, abs=1e-12)


def test_correlations_of_a_staircase() -> None:
    score = m.mcc(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]))
    assert score.value == pytest.approx(2 / sqrt(5), abs=1e-12)
    # Two factors, one latent: the second has none left and counts 0.
    two = m.mcc(np.arange(4.0)[:, None], np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    assert two.value == pytest.approx(1 / sqrt(5), abs=1e-12)


def test_irs_of_a_staircase() -> None:
    # Within a value the latent strays by 1/2, over all by 3/2.
    assert m.irs(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), quantile=1.0).value == pytest.approx(2 / 3)


def test_total_correlation_of_four_points() -> None:
    codes = np.array([[0, 0], [1, 1], [2, 2], [3, 0]], dtype=float)
    r = np.corrcoef(codes.T)[0, 1]
    assert m.total_correlation(codes).value == pytest.approx(-0.5 * log(1 - r * r), abs=1e-12)


def test_l1_and_l2() -> None:
    a = np.zeros((2, 1, 1, 2), dtype=np.uint8)
    b = np.array([[[[51, 0]]], [[[255, 0]]]], dtype=np.uint8)
    assert m.l1(a, b).value == pytest.approx((0.2 + 1.0) / 4)
    assert m.l2(a, b).value == pytest.approx((0.04 + 1.0) / 4)
    assert m.l1(a, b.astype(np.float32) / 255).value == pytest.approx(0.3)
    assert m.l2(np.zeros((3, 2)), np.full((3, 2), 2.0)).value == 4.0


def test_conditioning_of_an_and_gate() -> None:
    shared = entropy(0.25, 0.75) - 0.5 * log(2)
    terms = m.conditioning(FACTORS, FACTORS, 1 - FACTORS, CODES, np.zeros((4, 2)))
    assert {name: score.value for name, score in terms.items()} == pytest.approx(
        {"M1": 1.0, "M2": 1.0, "M3": (1 + shared / log(2)) / 2, "M4": 0.0}, abs=1e-12
    )


def test_frechet_distance_of_two_gaussians() -> None:
    a = m.GaussianStatistics(np.array([0.0, 0.0]), np.diag([4.0, 1.0]), 100)
    b = m.GaussianStatistics(np.array([3.0, 4.0]), np.diag([9.0, 1.0]), 100)
    score = m.fid(a, b)
    assert score.value == pytest.approx(25 + (2 - 3) ** 2)  # means, then deviations
    assert score.interval is None
    assert m.fid(a, a).value == pytest.approx(0.0, abs=1e-12)


def test_kernel_distance_by_all_pairs() -> None:
    draws = np.random.default_rng(0)
    a, b = draws.normal(size=(7, 3)), draws.normal(1, 1, size=(5, 3))

    def kernel(x: np.ndarray, y: np.ndarray) -> float:
        return float((x @ y / 3 + 1) ** 3)

    def within(x: np.ndarray) -> float:
        return float(np.mean([kernel(p, q) for i, p in enumerate(x) for j, q in enumerate(x) if i != j]))

    across = float(np.mean([kernel(p, q) for p in a for q in b]))
    assert m.kid(a, b).value == pytest.approx(within(a) + within(b) - 2 * across, abs=1e-9)


def test_relative_strength_of_a_mixed_latent() -> None:
    # Columns: 0.8²/1.0 and 0.6²/0.6; rows: 0.8²/0.8 and 0.6²/0.8; four latents in all.
    similarity = np.array([[0.8, 0.0], [0.2, 0.6]])
    assert _relative_strength(similarity) == pytest.approx((0.64 + 0.6 + 0.8 + 0.45) / 4)


def test_attribute_vectors_of_four_points() -> None:
    codes = np.array([[-1.0], [-1.0], [1.0], [1.0]] * 3)
    truth = np.array([0, 0, 1, 1] * 3)
    assert m.attribute_classification(codes, truth).value == 1.0


def test_classes_are_counted_by_their_names_or_by_the_best_ones() -> None:
    true = np.array([0, 0, 1, 1, 2, np.nan])
    turned = np.array([2, 2, 0, 0, 1, 1])
    assert m.class_accuracy(turned, true).value == 0
    assert m.class_accuracy(turned, true, naming="best").value == 1
    assert m.class_accuracy(np.zeros(6), true, naming="best").value == pytest.approx(2 / 5)
    score = m.class_accuracy(np.array([0, 1, 1, 1, 2, 0]), true)
    assert score.value == pytest.approx(4 / 5)
    assert score.details["observations"] == 5
    assert score.interval is not None
    assert score.interval[0] < 0.8 < score.interval[1]
    with pytest.raises(InputError, match="whose class is known; there are none"):
        m.class_accuracy([0, 1], [np.nan, np.nan])


def test_bins_are_equally_wide_and_an_edge_belongs_to_the_bin_above() -> None:
    column = np.array([[0.0], [0.9], [1.0], [2.0], [3.5], [4.0]])
    assert equal_width(column, 4)[:, 0].tolist() == [0, 0, 1, 2, 3, 3]


def test_dci_weighs_latents_and_factors_by_their_importance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eastwood & Williams 2018, §2: entropies in the base of what they are over, weighted by shares of importance."""
    importance = np.array([[6.0, 1.0, 1.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [3.0, 1.0, 4.0]])
    accuracy = [0.9, 0.6, 0.3]
    monkeypatch.setattr(
        importlib.import_module("unbraid.metrics.dci"),
        "_factor",
        lambda table, f, *_: (importance[:, f], accuracy[f], np.zeros(0)),
    )
    codes, factors = random_table(60)
    score = m.dci(codes[:, :4], factors[:, :3], replicates=0)

    def concentration(p: np.ndarray) -> float:
        p = p / p.sum()
        return 1 + sum(x * math.log(x, len(p)) for x in p if x > 0)

    rows, columns = importance.sum(1) / importance.sum(), importance.sum(0) / importance.sum()
    disentanglement = sum(r * concentration(p) for r, p in zip(rows, importance, strict=True) if r > 0)
    completeness = sum(c * concentration(p) for c, p in zip(columns, importance.T, strict=True))
    assert score.value == pytest.approx(disentanglement)
    assert score.details["completeness"] == pytest.approx(completeness)
    assert score.details["informativeness"] == pytest.approx(0.6)


def test_conditioning_terms_are_those_of_their_codes() -> None:
    """M1 of y, M2 of x̂, M3 with z drawn, M4 with y drawn: the first coin is known to as many of them as it is in."""
    coins = np.array(list(itertools.product((0.0, 1.0), repeat=4)))
    known = [coins[:, :4], coins[:, [0, 1, 2, 2]], coins[:, [0, 1, 0, 0]], coins[:, [0, 0, 0, 0]]]
    terms = m.conditioning(coins, *known, replicates=0)
    assert {name: score.value for name, score in terms.items()} == pytest.approx(
        {"M1": 1.0, "M2": 0.75, "M3": 0.5, "M4": 0.25}
    )
