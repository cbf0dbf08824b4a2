"""Agreement with straightforward implementations: loops, scikit-learn, sampling; written from the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, mutual_info_score, roc_auc_score

from unbraid import metrics as m
from unbraid.metrics import as_table
from unbraid.metrics._shared.pairs import difference_vectors
from unbraid.metrics._shared.strata import fixed_factor_batches
from unbraid.metrics._shared.thresholds import best_intervals
from unbraid.metrics.attribute_classification import hinge_bias

from .conftest import Array, random_table


def information(codes: Array, factors: Array) -> Array:
    out = np.zeros((codes.shape[1], factors.shape[1]))
    for j in range(codes.shape[1]):
        binned = np.digitize(codes[:, j], np.histogram(codes[:, j], 20)[1][:-1])
        for k in range(factors.shape[1]):
            out[j, k] = mutual_info_score(binned, factors[:, k])
    return out


def test_mig_and_modularity_to_1e_9() -> None:
    codes, factors = random_table(10_000)
    mutual = information(codes, factors)
    gaps, modular = [], []
    for k in range(factors.shape[1]):
        first, second = sorted(mutual[:, k])[::-1][:2]
        gaps.append((first - second) / mutual_info_score(factors[:, k], factors[:, k]))
    for j in range(codes.shape[1]):
        best = mutual[j].argmax()
        others = [mutual[j, k] ** 2 for k in range(factors.shape[1]) if k != best]
        modular.append(1 - sum(others) / (mutual[j, best] ** 2 * len(others)))
    assert m.mig(codes, factors).value == pytest.approx(np.mean(gaps), abs=1e-9)
    assert m.modularity(codes, factors).value == pytest.approx(np.mean(modular), abs=1e-9)
    assert m.mutual_information_matrix(codes, factors) == pytest.approx(mutual, abs=1e-9)


def test_chens_mig_agrees_with_sampling() -> None:
    """The paper's estimator (S1): draws from q(z_j given n), log q by summing over all rows."""
    draws = np.random.default_rng(0)
    factors = draws.integers(3, size=(200, 2)).astype(float)
    means = factors + 0.2 * draws.normal(size=factors.shape)
    log_vars = draws.uniform(-4, -1, size=means.shape)
    score = m.mig(means, factors, convention="chen", log_vars=log_vars)

    def log_mixture(z: Array, rows: NDArray[np.intp], j: int) -> Array:
        deviation = np.exp(0.5 * log_vars[rows, j])
        away = (z[:, None] - means[rows, j]) / deviation
        return np.log((np.exp(-0.5 * away**2) / (deviation * np.sqrt(2 * np.pi))).mean(axis=1))

    mutual = np.zeros((2, 2))
    for j in range(2):
        rows = np.repeat(np.arange(200), 80)
        z = means[rows, j] + np.exp(0.5 * log_vars[rows, j]) * draws.normal(size=len(rows))
        entropy = -log_mixture(z, np.arange(200), j).mean()
        for k in range(2):
            for value in range(3):
                same = np.flatnonzero(factors[:, k] == value)
                mutual[j, k] += log_mixture(z[np.isin(rows, same)], same, j).mean() * len(same) / 200
            mutual[j, k] += entropy
    assert score.details["information"] == pytest.approx(mutual, abs=0.02)


def test_chens_mig_integrates_to_1e_6() -> None:
    """Two values, two unit Gaussians: the information is one integral, done finely here."""
    apart, deviation = 1.5, 0.7
    means = np.repeat([[0.0], [apart]], 50, axis=0)
    factors = np.repeat([0.0, 1.0], 50)
    z = np.linspace(-12, 14, 400_001)
    parts = [np.exp(-0.5 * ((z - c) / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi)) for c in (0.0, apart)]
    mixture = np.maximum((parts[0] + parts[1]) / 2, 1e-300)
    mutual = sum(np.trapezoid(p * np.log(np.maximum(p, 1e-300) / mixture), z) / 2 for p in parts)
    score = m.mig(means, factors, convention="chen", log_vars=np.full((100, 1), 2 * np.log(deviation)))
    assert score.value == pytest.approx(mutual / np.log(2), abs=1e-6)


def test_factor_score_given_its_draws() -> None:
    codes, factors = random_table(3000)
    codes[:, 7] *= 0.01  # pruned, in the middle of the numbering
    table = as_table(codes, factors)
    spread = np.var(codes, axis=0, ddof=1)

    def vote(rows: Array) -> int:
        best, least = -1, np.inf
        for j in range(codes.shape[1]):
            if spread[j] < 0.05:
                continue
            ratio = np.var(codes[rows, j], ddof=1) / spread[j]
            if ratio < least:
                best, least = j, ratio
        return best

    votes = np.zeros((codes.shape[1], factors.shape[1]))
    for rows, k in zip(*fixed_factor_batches(table, 400, 64, 0, "factor score, train"), strict=True):
        assert len(np.unique(factors[rows, k])) == 1
        votes[vote(rows), k] += 1
    test = list(zip(*fixed_factor_batches(table, 200, 64, 0, "factor score, test"), strict=True))
    accuracy = np.mean([votes[vote(rows)].argmax() == k for rows, k in test])
    score = m.factor_score(table, train=400, test=200)
    assert score.value == pytest.approx(accuracy, abs=1e-9)
    assert (score.details["votes"] == votes).all()


def test_irs_by_loops() -> None:
    codes, factors = random_table(2000)
    robust = np.zeros((codes.shape[1], factors.shape[1]))
    reach = np.abs(codes - codes.mean(axis=0)).max(axis=0)
    for j in range(codes.shape[1]):
        for k in range(factors.shape[1]):
            away = []
            for value in np.unique(factors[:, k]):
                z = codes[factors[:, k] == value, j]
                away.append(np.quantile(np.abs(z - z.mean()), 0.99))
            robust[j, k] = 1 - np.mean(away) / reach[j]
    assert m.irs(codes, factors).value == pytest.approx(np.average(robust.max(axis=1), weights=reach), abs=1e-9)


def test_thresholds_are_the_best_there_are() -> None:
    """Every assignment of six stretches to three classes with at most two thresholds, tried out."""
    draws = np.random.default_rng(0)
    mass = draws.random((4, 6, 3))
    found = best_intervals(mass)
    for j in range(4):
        best = -np.inf
        for code in range(3**6):
            guess = np.array([code // 3**i % 3 for i in range(6)])
            if (np.diff(guess) != 0).sum() <= 2:
                best = max(best, mass[j, np.arange(6), guess].sum())
        assert mass[j, np.arange(6), found[j]].sum() == pytest.approx(best, abs=1e-12)


def test_a_binary_threshold_is_the_best_of_all_cuts() -> None:
    draws = np.random.default_rng(0)
    truth = (draws.random(80) < 0.3).astype(float)
    codes = (truth + draws.normal(size=80))[:, None]
    score = m.sap(codes, truth, mode="threshold", train=2, test=10_000)
    _, held = as_table(codes, truth).split(2, 10_000, 0)
    z, y = codes[held, 0], truth[held]
    cuts = [np.where(z <= cut, low, 1 - low) for cut in z for low in (0, 1)]
    assert score.value == pytest.approx(max(balanced_accuracy_score(y, guess) for guess in cuts), abs=1e-9)


def test_difference_vectors_come_from_pairs_that_share_the_factor() -> None:
    _, factors = random_table(2000)
    points, which = difference_vectors(as_table(factors, factors), 50, 16, 0, "here")
    assert (points[np.arange(50), which] == 0).all()
    assert (np.delete(points[0], which[0]) > 0).all()


def test_explicitness_with_one_regression_a_value() -> None:
    codes, factors = random_table(10_000, noise=0.5)
    table = as_table(codes, factors)
    fit, held = table.split(10_000, 5_000, 0)
    areas = []
    for k in range(factors.shape[1]):
        each = []
        for value in np.unique(factors[:, k]):
            probe = LogisticRegression().fit(codes[fit], factors[fit, k] == value)
            each.append(roc_auc_score(factors[held, k] == value, probe.decision_function(codes[held])))
        areas.append(np.mean(each))
    score = m.explicitness(table)
    assert score.details["auc"] == pytest.approx(np.mean(areas), abs=1e-4)
    assert score.value == pytest.approx(2 * np.mean(areas) - 1, abs=2e-4)
    assert m.explicitness(table, convention="auc").value == pytest.approx(np.mean(areas), abs=1e-4)


def test_dci_with_one_lightgbm_a_factor() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    codes, factors = random_table(3_000)
    table = as_table(codes, factors)
    fit, held = table.split(10_000, 5_000, 0)
    options = {"n_estimators": 20, "learning_rate": 0.3, "max_depth": 3, "num_leaves": 8, "max_bin": 63}
    make = lambda: lightgbm.LGBMClassifier(**options, importance_type="gain", n_jobs=1, verbose=-1)  # noqa: E731
    importance, accuracy = [], []
    for k in range(factors.shape[1]):
        model = make().fit(codes[fit], factors[fit, k])
        importance.append(model.feature_importances_ / model.feature_importances_.sum())
        accuracy.append(model.score(codes[held], factors[held, k]))
    matrix = np.array(importance).T
    value = 0.0
    for row in matrix:
        p = row / row.sum()
        entropy = -sum(q * np.log(q) / np.log(len(p)) for q in p if q > 0)
        value += row.sum() / matrix.sum() * (1 - entropy)
    score = m.dci(table, mode="lightgbm")
    assert score.details["mode"] == "lightgbm"
    assert score.value == pytest.approx(value, abs=1e-6)
    assert score.details["informativeness"] == pytest.approx(np.mean(accuracy), abs=1e-6)


def test_dci_boosting_is_scikit_learns() -> None:
    from sklearn.ensemble import GradientBoostingClassifier

    codes, factors = random_table(150)
    table = as_table(codes[:, :3], factors[:, :2])
    fit, _ = table.split(10_000, 5_000, 0)
    score = m.dci(table, mode="boosting")
    for k in range(2):
        model = GradientBoostingClassifier(random_state=0).fit(codes[fit, :3], factors[fit, k])
        assert score.details["importance"][:, k] == pytest.approx(model.feature_importances_, abs=1e-9)


def test_of_a_flat_stretch_the_bias_is_the_middle() -> None:
    assert hinge_bias(np.array([3.0]), np.array([-3.0])) == 0.0  # no loss from −2 to 2
    assert hinge_bias(np.array([4.0, 9.0]), np.array([-3.0, -8.0])) == -0.5  # from −3 to 2


def test_hinge_bias_is_the_minimum() -> None:
    draws = np.random.default_rng(0)
    for _ in range(20):
        positive, negative = draws.normal(1, 2, draws.integers(1, 9)), draws.normal(-1, 2, draws.integers(1, 9))

        def loss(b: float, p: Array = positive, q: Array = negative) -> float:
            return float(np.maximum(0, 1 - (p + b)).sum() + np.maximum(0, 1 + (q + b)).sum())

        bends = np.concatenate([1 - positive, -1 - negative])  # a convex broken line has its minimum at a bend
        assert loss(hinge_bias(positive, negative)) == pytest.approx(min(loss(b) for b in bends), abs=1e-12)
