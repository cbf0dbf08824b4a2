"""Interventions, importances, capacities and neighbours, with details and intervals, on small tables."""

from __future__ import annotations

import importlib
import zlib
from typing import Any

import numpy as np
import pytest
from scipy.special import digamma
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LassoCV, LogisticRegression
from sklearn.svm import LinearSVC

from unbraid import metrics as m
from unbraid.errors import InputError
from unbraid.metrics import as_table
from unbraid.metrics._shared.strata import Strata, fixed_factor_batches

from .hand import KINDS, NAMES, REPLICATES, SEED, SIZES, Array, Rows, around, drawn, groups, mixed, split

ABOUT: dict[str, Any] = {"kinds": KINDS[:3], "sizes": SIZES[:3], "names": NAMES[:3]}
HOW: dict[str, Any] = {"seed": SEED, "replicates": REPLICATES}
DRAWN: dict[str, Any] = {"train": 80, "test": 50, "batch": 6}


def table(n: int = 150) -> tuple[Array, Array]:
    codes, factors = mixed(n)
    return codes, factors[:, :3]


def stream(purpose: str) -> np.random.Generator:
    return np.random.default_rng([SEED, zlib.crc32(purpose.encode())])


def sorted_rows(label: Rows, least: int) -> tuple[Rows, Rows, Rows]:
    """Rows of values that have enough of them, by value; where each one's value begins, and how many it has."""
    known = [i for i in np.argsort(label, kind="stable") if label[i] >= 0 and (label == label[i]).sum() >= least]
    value = label[known]
    return (
        np.array(known),
        np.array([list(value).index(v) for v in value]),
        np.array([(value == v).sum() for v in value]),
    )


def picked(label: Rows, least: int, draws: np.random.Generator, points: int, columns: int) -> Rows:
    """A row each, and others of its value: rows [point, column] that agree in the factor."""
    rows, first, count = sorted_rows(label, least)
    anchor = draws.integers(len(rows), size=points)
    offset = (draws.random((points, columns)) * count[anchor, None]).astype(int)
    return rows[first[anchor, None] + offset]


def differences(codes: Array, labels: list[Rows], points: int, purpose: str) -> tuple[Array, Rows]:
    draws = stream(purpose)
    which = draws.integers(len(labels), size=points)
    out = np.zeros((points, codes.shape[1]))
    for k, label in enumerate(labels):
        chosen = np.flatnonzero(which == k)
        rows = picked(label, 2, draws, len(chosen) * DRAWN["batch"], 2).reshape(len(chosen), DRAWN["batch"], 2)
        for point, pairs in zip(chosen, rows, strict=True):
            out[point] = np.mean([np.abs(codes[a] - codes[b]) for a, b in pairs], axis=0)
    return out, which


@pytest.mark.parametrize("name", ["beta_score", "z_diff"])
def test_which_factor_pairs_share(name: str) -> None:
    codes, factors = table()
    labels = groups(factors, KINDS[:3])
    x, y = differences(codes, labels, DRAWN["train"], "pairs, train")
    x_test, y_test = differences(codes, labels, DRAWN["test"], "pairs, test")
    probe = (
        LogisticRegression(solver="newton-cholesky")
        if name == "beta_score"
        else LinearSVC(C=0.01, loss="hinge", tol=1e-6, max_iter=20_000, random_state=0)
    )
    right = (probe.fit(x, y).predict(x_test) == y_test).astype(float)
    score = getattr(m, name)(codes, factors, **ABOUT, **HOW, **DRAWN)
    assert score.value == pytest.approx(right.mean())
    assert score.interval == pytest.approx(around(right.mean(), np.array([right[r].mean() for r in drawn(50)]), 0, 1))
    assert score.details["per_factor"] == pytest.approx(
        {name: right[y_test == k].mean() for k, name in enumerate(NAMES[:3])}
    )
    kept = {"seed": SEED, "classifier": "logistic" if name == "beta_score" else "svm", **DRAWN}
    assert {key: score.details[key] for key in kept} == kept
    still = getattr(m, name)(0 * codes, factors, **ABOUT, **HOW, **DRAWN)
    assert (still.value, still.interval) == (0.0, (0.0, 0.0))
    assert getattr(m, name)(0 * codes, factors, **ABOUT, **DRAWN, replicates=0).interval is None


def test_the_factorvae_score() -> None:
    codes, factors = table()
    codes[:, 2] = 0.2 * codes[:, 1] + 0.01 * codes[:, 0]  # below the limit: its variance is not counted
    labels = groups(factors, KINDS[:3])
    spread = codes.var(axis=0, ddof=1)
    active = [j for j in range(4) if spread[j] >= 0.1]
    assert active == [0, 1, 3]

    def votes(points: int, purpose: str) -> tuple[list[int], Rows]:
        draws = stream(purpose)
        which = draws.integers(3, size=points)
        rows = np.zeros((points, DRAWN["batch"]), dtype=int)
        for k, label in enumerate(labels):
            rows[which == k] = picked(label, 10, draws, int((which == k).sum()), DRAWN["batch"])
        return [min(active, key=lambda j: codes[r, j].var(ddof=1) / spread[j]) for r in rows], which

    counted = np.zeros((4, 3))
    for j, k in zip(*votes(DRAWN["train"], "factor score, train"), strict=True):
        counted[j, k] += 1
    least, which = votes(DRAWN["test"], "factor score, test")
    right = np.array([float(counted[j].argmax() == k) for j, k in zip(least, which, strict=True)])
    score = m.factor_score(codes, factors, **ABOUT, **HOW, **DRAWN, inactive=0.1)
    assert (score.details["votes"] == counted).all()
    assert score.value == pytest.approx(right.mean())
    assert score.interval == pytest.approx(around(right.mean(), np.array([right[r].mean() for r in drawn(50)]), 0, 1))
    assert score.details["train_accuracy"] == pytest.approx(counted.max(axis=1).sum() / DRAWN["train"])
    assert score.details["per_factor"] == pytest.approx(
        {name: right[which == k].mean() for k, name in enumerate(NAMES[:3])}
    )
    kept = {"seed": SEED, "batch": 6, "active": 3, "active_latents": ["z1", "z2", "z4"]}
    assert {key: score.details[key] for key in kept} == kept
    nothing = m.factor_score(codes, factors, **ABOUT, **HOW, **DRAWN, inactive=1e9)
    assert (nothing.value, nothing.interval, nothing.details["active"]) == (0.0, (0.0, 0.0), 0)
    assert m.factor_score(codes, factors, **ABOUT, **DRAWN, inactive=1e9, replicates=0).interval is None


def test_values_with_too_few_rows_are_not_held_fixed() -> None:
    label = np.array([0.0] * 10 + [1.0] * 11 + [2.0] * 9 + [np.nan] * 2)[:, None]
    found = Strata(as_table(np.zeros((32, 1)), label, kinds=["categorical"]), 0, least=10)
    assert found.rows.tolist() == list(range(21))
    assert found.first.tolist() == [0] * 10 + [10] * 11
    assert found.count.tolist() == [10] * 10 + [11] * 11
    for counts, enough in (((12, 11, 24), False), ((12, 11, 23), True), ((30, 3), False)):
        column = np.repeat(np.arange(len(counts)), counts).astype(float)
        if counts == (12, 11, 24):  # of values of one row each, more than half of the rows
            column[23:] = np.arange(2, 26)
        elif counts == (12, 11, 23):
            column[23:] = np.arange(2, 25)
        cut = as_table(np.zeros((len(column), 1)), column[:, None], kinds=["categorical"])
        if enough:
            rows, _ = fixed_factor_batches(cut, 20, 4, 0, "here")
            assert (np.ptp(column[rows], axis=1) == 0).all()
            assert (rows < 23).all()
        else:
            with pytest.raises(InputError, match="too few rows"):
                Strata(cut, 0, least=10)


def importances(codes: Array, factors: Array, mode: str, fit: Rows, held: Rows) -> tuple[Array, list[float], Array]:
    """Of each latent for each factor, test accuracies or R², and the bootstrap of these."""
    labels, out, scores, again = groups(factors), np.zeros((4, 4)), [], []
    for k, label in enumerate(labels):
        known_fit, known_held = fit[label[fit] >= 0], held[label[held] >= 0]
        spread = np.where(codes[known_fit].std(0) > 0, codes[known_fit].std(0), 1.0)
        x = (codes - codes[known_fit].mean(0)) / spread if mode == "lasso" else codes
        if mode == "forest" and KINDS[k] != "continuous":
            model = RandomForestClassifier(50, max_depth=8, random_state=SEED).fit(x[known_fit], label[known_fit])
            right = (model.predict(x[known_held]) == label[known_held]).astype(float)
            out[:, k] = model.feature_importances_
            scores.append(right.mean())
            again.append([right[r].mean() for r in drawn(len(right))])
            continue
        turn = 2 * np.pi * factors[:, 2] / 5
        targets = [np.cos(turn), np.sin(turn)] if KINDS[k] == "cyclic" else [factors[:, k]]
        left, spread2 = np.zeros(len(known_held)), np.zeros(len(known_held))
        for y in targets:
            y = (y - y[known_fit].mean()) / y[known_fit].std()
            model = LassoCV(cv=5, random_state=SEED) if mode == "lasso" else None
            model = model or RandomForestRegressor(50, max_depth=8, random_state=SEED)
            model.fit(x[known_fit], y[known_fit])
            out[:, k] += np.abs(model.coef_ if mode == "lasso" else model.feature_importances_) / len(targets)
            left += (y[known_held] - model.predict(x[known_held])) ** 2
            spread2 += (y[known_held] - y[known_held].mean()) ** 2
        scores.append(1 - left.sum() / spread2.sum())
        again.append([1 - left[r].sum() / spread2[r].sum() for r in drawn(len(left))])
    return out, scores, np.mean(again, axis=0)


def concentration(shares: Array) -> float:
    p = shares / shares.sum() if shares.sum() > 0 else np.full(len(shares), 1 / len(shares))
    return 1 + sum(v * np.log(v) / np.log(len(p)) for v in p if v > 0)


@pytest.mark.parametrize("mode", ["forest", "lasso"])
def test_dci(mode: str) -> None:
    codes, factors = mixed(150)
    fit, held = split(150, 100, 50)
    importance, scores, again = importances(codes, factors, mode, fit, held)
    score = m.dci(codes, factors, kinds=KINDS, sizes=SIZES, names=NAMES, **HOW, train=100, test=50, mode=mode)
    assert score.details["importance"] == pytest.approx(importance, abs=1e-9)
    rows, columns = importance.sum(1) / importance.sum(), importance.sum(0) / importance.sum()
    latents, of_factors = (np.array([concentration(p) for p in part]) for part in (importance, importance.T))
    assert score.value == pytest.approx(rows @ latents, abs=1e-9)
    assert score.details["completeness"] == pytest.approx(columns @ of_factors, abs=1e-9)
    assert score.details["informativeness"] == pytest.approx(np.mean(scores), abs=1e-9)
    assert score.details["per_latent"] == pytest.approx(latents, abs=1e-9)
    for name, values in (("per_factor", of_factors), ("informativeness_per_factor", scores)):
        assert score.details[name] == pytest.approx(dict(zip(NAMES, values, strict=True)), abs=1e-9)
    kept = {"mode": mode, "seed": SEED, "train": 100, "test": 50}
    assert {key: score.details[key] for key in kept} == kept

    def resampled(weights: Array, values: Array) -> Array:
        return np.array([(weights[r] @ values[r]) / max(weights[r].sum(), 4e-12) for r in drawn(4)])

    assert score.interval == pytest.approx(around(score.value, resampled(rows, latents), 0, 1), abs=1e-9)
    of_c = around(score.details["completeness"], resampled(columns, of_factors), 0, 1)
    assert score.details["completeness_interval"] == pytest.approx(of_c, abs=1e-9)
    of_i = around(score.details["informativeness"], again, high=1)
    assert score.details["informativeness_interval"] == pytest.approx(of_i, abs=1e-9)


def test_importances_that_are_all_zero_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("unbraid.metrics.dci")
    monkeypatch.setattr(module, "_factor", lambda *_: (np.zeros(4), 0.25, np.zeros(0)))
    codes, factors = mixed()
    score = m.dci(codes, factors, kinds=KINDS, sizes=SIZES, replicates=0)
    assert (score.value, score.details["completeness"], score.details["informativeness"]) == (0.0, 0.0, 0.25)
    assert score.details["per_latent"] == pytest.approx(np.zeros(4))
    alone = module._entropy(np.array([[3.0], [0.0]]), 1)  # one outcome: certain, or nothing at all
    assert alone.tolist() == [0.0, 1.0]


def test_explicitness_of_dci_es() -> None:
    codes, factors = mixed(120)
    fit, held = split(120, 80, 40)
    draws = stream("fourier")
    x = np.stack([(c - c.mean()) / c.std() if np.ptp(c) else 0 * c for c in codes.T], axis=1)
    frequencies = draws.standard_normal((4, 256)) / 2
    waves = np.sqrt(2) * np.cos(x @ frequencies + draws.uniform(0, 2 * np.pi, 256))
    turn = 2 * np.pi * factors[:, 2] / 5
    shape = np.stack([(factors[:, 1] == v) * 1.0 for v in range(3)], axis=1)
    shape[np.isnan(factors[:, 1])] = np.nan
    curves, each, again = [], [], []
    for target in (factors[:, :1], shape, np.stack([np.cos(turn), np.sin(turn)], 1), factors[:, 3:]):
        known = ~np.isnan(target.sum(axis=1))
        rows, test = fit[known[fit]], held[known[held]]
        target = target - target[rows].mean(0)
        scale = (target[test] ** 2).sum(1).mean()
        of_capacity = []
        for count in (4, 8, 16, 32, 64, 128, 256):
            features = np.column_stack([waves[:, :count], np.ones(120)])
            ridge = 1e-3 * len(rows) * np.diag([1.0] * count + [0.0])
            weights = np.linalg.inv(features[rows].T @ features[rows] + ridge) @ features[rows].T @ target[rows]
            of_capacity.append(((target[test] - features[test] @ weights) ** 2).sum(1) / scale)
        errors = np.array(of_capacity)  # [capacity, row]

        def explicit(loss: Array) -> float:
            lowest = [min(1.0, *loss[: i + 1]) for i in range(7)]
            if lowest[-1] >= 0.99:
                return -1.0
            area = sum((lowest[i] + lowest[i + 1]) / 2 - lowest[-1] for i in range(6))
            return 1 - area / (0.5 * (1 - lowest[-1]) * 6)

        curves.append(errors.mean(1))
        each.append(explicit(errors.mean(1)))
        again.append([explicit(errors[:, r].mean(1)) for r in drawn(len(test))])
    score = m.dci_es(codes, factors, kinds=KINDS, sizes=SIZES, names=NAMES, **HOW, train=80, test=40)
    assert score.details["curves"] == pytest.approx(np.array(curves), abs=1e-6)
    assert score.value == pytest.approx(np.mean(each), abs=1e-6)
    assert score.details["per_factor"] == pytest.approx(dict(zip(NAMES, each, strict=True)), abs=1e-6)
    assert score.interval == pytest.approx(around(score.value, np.mean(again, axis=0), -1, 1), abs=1e-6)
    kept = {"seed": SEED, "train": 80, "test": 40, "capacities": [4, 8, 16, 32, 64, 128, 256], "size": 1.0}
    assert {key: score.details[key] for key in kept} == kept
    assert m.dci_es(codes[:, :2], factors[:, :1], train=80, test=40, replicates=0).details["size"] == 0.5


def neighbour_information(x: Array, labels: Rows, k: int) -> float:
    """Ross 2014, over the rows whose value occurs at least twice."""
    kept = np.array([v >= 0 and (labels == v).sum() > 1 for v in labels])
    x, labels = x[kept], labels[kept]
    total = 0.0
    for i in range(len(x)):
        same = np.sort(np.abs(np.delete(x, i)[np.delete(labels, i) == labels[i]] - x[i]))
        used = min(k, len(same))
        near = max(1, (np.abs(x - x[i]) < same[used - 1]).sum())  # with the row itself
        total += digamma(len(x)) + digamma(used) - digamma(len(same) + 1) - digamma(near)
    return max(0.0, total / len(x))


def test_modularity_and_compactness_of_infomec() -> None:
    codes, factors = mixed(122)
    codes = np.column_stack([codes, 0.01 * codes[:, 0]])  # hardly moves: not in use
    labels = groups(factors)
    noise = stream("ties").standard_normal(122)
    information = np.zeros((3, 4))
    for row, j in enumerate((0, 1, 3)):
        z = (codes[:, j] - codes[:, j].mean()) / codes[:, j].std()
        z = z + 1e-10 * max(1.0, np.abs(z).mean()) * np.sign(z[np.abs(z).argmax()]) * noise
        for k, label in enumerate(labels):
            p = np.array([(label == v).sum() / (label >= 0).sum() for v in set(label) - {-1}])
            information[row, k] = neighbour_information(z, label, 4) / -(p * np.log(p)).sum()
    found = m.infomec(codes, factors, kinds=KINDS, sizes=SIZES, names=NAMES, **HOW, neighbours=4, train=80, test=40)

    def share(values: Array) -> float:
        return (max(values) / sum(values) - 1 / len(values)) / (1 - 1 / len(values))

    latents, of_factors = [share(row) for row in information], [share(row) for row in information.T]
    for part, values in (("modularity", latents), ("compactness", of_factors)):
        score = found[part]
        assert score.value == pytest.approx(np.mean(values), abs=1e-9)
        assert score.details["information"] == pytest.approx(information, abs=1e-9)
        several = np.array([np.array(values)[r].mean() for r in drawn(len(values))])
        assert score.interval == pytest.approx(around(score.value, several, 0, 1), abs=1e-9)
        kept = {"seed": SEED, "neighbours": 4, "rows": 122, "active": 3}
        assert {key: score.details[key] for key in kept} == kept
    assert found["modularity"].details["per_latent"] == pytest.approx(latents, abs=1e-9)
    assert found["compactness"].details["per_factor"] == pytest.approx(
        dict(zip(NAMES, of_factors, strict=True)), abs=1e-9
    )
    still = m.infomec(0 * codes, factors, kinds=KINDS, sizes=SIZES, **HOW, train=80, test=40)["modularity"]
    assert (still.value, still.interval, still.details["active"]) == (0.0, (0.0, 0.0), 0)
    one = m.infomec(codes[:, :1], factors, kinds=KINDS, sizes=SIZES, **HOW, train=80, test=40)["compactness"]
    assert set(one.details["per_factor"].values()) <= {0.0, 1.0}
    for scale in (1e-3, 1e3):  # what counts is how far a latent goes beside the others
        scaled = m.infomec(scale * codes, factors, kinds=KINDS, sizes=SIZES, replicates=0, train=80, test=40)
        assert scaled["modularity"].details["active"] == 3
    some = m.infomec(codes, factors, kinds=KINDS, sizes=SIZES, points=50, replicates=0, train=80, test=40)
    assert some["modularity"].details["rows"] == 50
    assert some["modularity"].interval is None
