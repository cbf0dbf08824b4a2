"""What probes are fitted with, against scikit-learn, torch and definitions: regressions, SVMs, a network, cuts."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from unbraid import metrics as m
from unbraid.metrics._shared import mlp, probes, solvers, thresholds
from unbraid.metrics._shared.bootstrap import interval, mean_interval, resampled_means
from unbraid.metrics._shared.lasso import lasso
from unbraid.metrics._shared.neighbours import NeighbourColumn
from unbraid.metrics._shared.ranking import areas

from .conftest import random_table
from .hand import Array, Rows, around, drawn


@pytest.mark.parametrize("products", [1 << 22, 50], ids=["at once", "in blocks"])
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_regressions_of_one_value_against_the_others(
    monkeypatch: pytest.MonkeyPatch, products: int, scale: float
) -> None:
    monkeypatch.setattr(solvers, "_PRODUCTS", products)
    draws = np.random.default_rng(0)
    x = draws.normal(size=(40, 3)) * [1.0, 3.0, 0.0] + [0.0, 2.0, 0.0]
    targets = np.stack(
        [x[:, 0] + draws.normal(size=40) > 0, x[:, 1] + 2 * draws.normal(size=40) > 2, draws.random(40) < 0.2], axis=1
    ).astype(float)
    known = (draws.random((40, 3)) < 0.8).astype(float)
    for mask in (None, known):
        found = solvers.logistic_one_vs_rest(scale * x, targets, mask, penalty=0.7)
        for k in range(3):
            rows = np.arange(40) if mask is None else np.flatnonzero(mask[:, k])
            # The penalty is of the weights in the codes' own units.
            probe = LogisticRegression(C=0.7 * scale**2, tol=1e-12, max_iter=100_000).fit(x[rows], targets[rows, k])
            assert found[:-1, k] * scale == pytest.approx(probe.coef_[0], abs=1e-4)
            assert found[-1, k] == pytest.approx(probe.intercept_[0], abs=1e-3)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("penalty", [0.01, 0.5])
def test_svms_of_one_code(classes: int, penalty: float) -> None:
    draws = np.random.default_rng(classes)
    label = draws.choice(classes, 60, p=np.arange(1, classes + 1) / np.arange(1, classes + 1).sum())
    x = np.round(label - 1.5 * (label == 2) + 0.7 * draws.normal(size=60), 1)  # with ties
    slope, intercept = solvers.SortedColumn(x).svm_one_vs_rest(label, classes, penalty)
    svm = LinearSVC(C=penalty, class_weight="balanced", tol=1e-12, max_iter=1_000_000).fit(x[:, None], label)
    assert slope == pytest.approx(svm.coef_[:, 0], abs=1e-6)
    assert intercept == pytest.approx(svm.intercept_, abs=1e-6)


def test_an_svm_of_a_code_whose_sign_is_turned_turns_its_slope() -> None:
    draws = np.random.default_rng(0)
    label = draws.integers(3, size=50)
    x = label + draws.normal(size=50)
    slope, intercept = solvers.SortedColumn(x).svm_one_vs_rest(label, 3)
    turned, same = solvers.SortedColumn(-x).svm_one_vs_rest(label, 3)
    assert turned == pytest.approx(-slope)
    assert same == pytest.approx(intercept)


def test_probes_of_many_values_are_fitted_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, factors = random_table(80)
    whole = probes.one_vs_rest_decisions(m.as_table(codes, factors), 60, 20, 1)
    monkeypatch.setattr(probes, "_COLUMNS", 5)
    parts = probes.one_vs_rest_decisions(m.as_table(codes, factors), 60, 20, 1)
    for a, b in zip(whole[0], parts[0], strict=True):
        assert a == pytest.approx(b, abs=1e-6)
    assert [len(values) for values in parts[1]] == [2, 3, 4, 8, 6]


@pytest.mark.parametrize("epochs", [0, 2, 7])
def test_the_network_is_trained_like_torchs(epochs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One hidden layer for each factor, cross-entropy of known labels averaged over each batch, Adam."""
    monkeypatch.setattr(mlp, "_BATCH", 8)
    draws = np.random.default_rng(0)
    n, hidden, seed = 30, 5, 2
    x: Any = draws.normal(size=(n, 3)).astype(np.float32)
    test: Any = draws.normal(size=(3000, 3)).astype(np.float32)
    labels = [draws.integers(2, size=n), 2 * draws.integers(3, size=n) + 1]
    labels[1][::4] = -1
    labels[0][1] = -1
    guesses = mlp.mlp_guesses(x, labels, test, hidden, epochs, seed)

    rng = np.random.default_rng([seed, zlib.crc32(b"mlp")])
    sizes = (2, 3)
    shapes = [(4, 2 * hidden), *((hidden + 1, k) for k in sizes)]
    bounds = [np.sqrt(6 / (3 + hidden)), *(np.sqrt(6 / (hidden + k)) for k in sizes)]
    weights = [
        torch.tensor(rng.uniform(-c, c, a * b).reshape(a, b).astype(np.float32), requires_grad=True)
        for c, (a, b) in zip(bounds, shapes, strict=True)
    ]
    adam = torch.optim.Adam(weights, lr=1e-3)
    targets = [np.searchsorted(sorted(set(label) - {-1}), label) for label in labels]

    def logits(inputs: torch.Tensor) -> list[torch.Tensor]:
        h = torch.relu(inputs @ weights[0][:-1] + weights[0][-1])
        return [h[:, f * hidden : (f + 1) * hidden] @ w[:-1] + w[-1] for f, w in enumerate(weights[1:])]

    for _ in range(epochs):
        for rows in np.array_split(rng.permutation(n), n // 8):
            loss = torch.zeros(())
            for f, out in enumerate(logits(torch.from_numpy(x[rows]))):
                there = labels[f][rows] >= 0
                if there.any():
                    chosen = torch.from_numpy(targets[f][rows][there])
                    loss = loss + torch.nn.functional.cross_entropy(out[torch.from_numpy(there)], chosen)
            adam.zero_grad()
            loss.backward()
            adam.step()
    for f, out in enumerate(logits(torch.from_numpy(test))):
        expected = np.array(sorted(set(labels[f]) - {-1}))[out.argmax(1).numpy()]
        assert (guesses[f] != expected).sum() <= 3  # ties of single precision
        assert len(set(expected)) > 1


def test_areas_by_all_pairs() -> None:
    draws = np.random.default_rng(0)
    decision = np.round(draws.normal(size=(25, 4)), 1)
    positive = np.stack([draws.random(25) < 0.4, np.ones(25, bool), np.zeros(25, bool), decision[:, 3] > 0], axis=1)
    found, again = areas(decision, positive, 5, 30)
    assert found.shape == (2,)  # of those that have both
    assert again.shape == (30, 2)
    for column, j in enumerate((0, 3)):
        yes, no = decision[positive[:, j], j], decision[~positive[:, j], j]
        wins = (yes[:, None] > no).mean() + 0.5 * (yes[:, None] == no).mean()
        assert found[column] == pytest.approx(wins)
    none, nothing = areas(decision[:, 1:3], positive[:, 1:3], 5, 30)
    assert none.shape == (0,)
    assert nothing.shape == (30, 0)


def best_of_all_cuts(mass: Array) -> float:
    """Every way to name the stretches between up to size − 1 cuts."""
    segments, size = mass.shape
    best = np.full((size, size), -np.inf)  # [cuts so far, name of the last stretch]
    best[0] = mass[0]
    for s in range(1, segments):
        cut = np.full((size, size), -np.inf)
        cut[1:] = best[:-1].max(axis=1)[:, None]
        best = np.maximum(best, cut) + mass[s]
    return float(best.max())


def test_cuts_of_a_code() -> None:
    draws = np.random.default_rng(0)
    mass = draws.random((3, 9, 4))
    named = thresholds.best_intervals(mass)
    for j in range(3):
        assert mass[j, np.arange(9), named[j]].sum() == pytest.approx(best_of_all_cuts(mass[j]))
        assert (np.diff(named[j]) != 0).sum() <= 3
    two = draws.random((3, 9, 2))
    two /= two.sum(axis=1, keepdims=True)  # classes weigh alike
    named = thresholds.best_split(two)
    for j in range(3):
        cuts = [two[j, :cut, low].sum() + two[j, cut:, 1 - low].sum() for cut in range(1, 10) for low in (0, 1)]
        assert two[j, np.arange(9), named[j]].sum() == pytest.approx(max(cuts))


def test_stretches_are_distinct_values_or_quantiles() -> None:
    draws = np.random.default_rng(0)
    x = draws.normal(size=1500)
    segment, count = thresholds.segments(x, 2)
    assert count == 1500
    assert (segment == np.argsort(np.argsort(x))).all()
    segment, count = thresholds.segments(x, 3)
    assert count == 512
    assert set(np.bincount(segment)) <= {2, 3, 4}
    assert (np.diff(segment[np.argsort(x)]) >= 0).all()
    few = np.round(x)
    segment, count = thresholds.segments(few, 3)
    assert count == len(set(few))
    assert thresholds.segments(np.arange(512.0), 3)[1] == 512
    assert (np.sort(few) == np.unique(few)[np.sort(segment)]).all()


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
def test_more_than_a_thousand_rows_are_resampled_in_groups(shape: tuple[int, ...]) -> None:
    rows = np.random.default_rng(0).normal(size=(2500, *shape))
    rng = np.random.default_rng([4, zlib.crc32(b"here")])
    order = rng.permutation(2500)
    starts = [int(i * 2.5) for i in range(1000)]
    members = [order[a:b] for a, b in zip(starts, [*starts[1:], 2500], strict=True)]
    chosen = rng.integers(1000, size=(6, 1000))
    expected = [rows[np.concatenate([members[g] for g in groups])].mean(axis=0) for groups in chosen]
    assert resampled_means(rows, seed=4, replicates=6, purpose="here") == pytest.approx(np.array(expected))
    few = rows[:1000]
    plain = np.array([few[r].mean(axis=0) for r in drawn(1000, 4, 6, "here")])
    assert resampled_means(few, seed=4, replicates=6, purpose="here") == pytest.approx(plain)


def test_groups_are_summed_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(2500, 3))
    whole = resampled_means(rows, seed=1, replicates=5)
    monkeypatch.setattr("unbraid.metrics._shared.bootstrap._COPIED", 100)
    assert resampled_means(rows, seed=1, replicates=5) == pytest.approx(whole)


def test_an_interval_holds_its_value_and_keeps_to_its_range() -> None:
    again = np.array([3.0, 1.0, 2.0, 7.0, np.nan, 5.0, np.inf])
    finite = np.array([3.0, 1.0, 2.0, 7.0, 5.0])
    assert interval(4.0, again) == pytest.approx(around(4.0, finite))
    assert interval(4.0, again, low=3.0, high=5.0) == (3.0, 5.0)
    assert interval(4.0, again, low=4.5) == pytest.approx((4.0, around(4.0, finite)[1]))
    assert interval(np.nan, again) is None
    assert interval(1.0, np.array([np.nan])) is None
    many = np.random.default_rng(0).normal(size=199)
    assert interval(0.0, many) == pytest.approx(tuple(np.sort(many - many.mean())[[4, 194]]))  # the 5th of 199
    assert mean_interval(finite, seed=0, replicates=0) is None
    some = np.array([finite[r].mean() for r in drawn(5, 3, 20)])
    assert mean_interval(finite, seed=3, replicates=20, low=3.0) == pytest.approx(around(3.6, some, 3.0))


def information(x: Array, label: Rows, k: int) -> float:
    from scipy.special import digamma

    total, n = 0.0, len(x)
    for i in range(n):
        same = np.sort(np.abs(np.delete(x, i)[np.delete(label, i) == label[i]] - x[i]))
        used = min(k, len(same))
        near = max(1, (np.abs(x - x[i]) < same[used - 1]).sum())
        total += (digamma(n) + digamma(used) - digamma(len(same) + 1) - digamma(near)) / n
    return total


def test_neighbours_of_every_row() -> None:
    draws = np.random.default_rng(0)
    x, label = draws.normal(size=40), draws.integers(3, size=40)
    x = x + label
    standard = (x - x.mean()) / x.std()
    column = NeighbourColumn(x, np.zeros(40))
    assert column.information(label, 3) == pytest.approx(information(standard, label, 3))
    for many in (9, 25):  # a class with fewer rows takes all of them
        expected = max(0.0, information(standard, label, many))
        assert column.information(label, many) == pytest.approx(expected)
    assert column.information(draws.permutation(label), 3) >= 0
    alone = np.append(label[:-1], 7)  # a value that occurs once has no neighbour, and is left out
    rest = np.append(label[:-2], [-1, 7])
    assert column.information(alone, 3) == pytest.approx(information(standard[:-1], label[:-1], 3))
    assert column.information(rest, 3) == pytest.approx(information(standard[:-2], label[:-2], 3))
    assert column.information(np.arange(40), 3) == 0.0
    assert column.information(np.full(40, -1), 3) == 0.0
    assert NeighbourColumn(np.full(40, 2.0), draws.normal(size=40)).information(label, 3) < 0.2


def test_a_feature_that_never_moves_has_no_weight() -> None:
    x = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert lasso(x, 3 * x[:, :1], 0.1) == pytest.approx(np.array([[2.9], [0.0]]))
