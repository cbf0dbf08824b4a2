"""Scores that rest on predictions, with their details and intervals, on a table with gaps and all kinds of factors."""

from __future__ import annotations

import itertools
import warnings
import zlib
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from unbraid import metrics as m
from unbraid.metrics.attribute_classification import hinge_bias

from .hand import KINDS, NAMES, REPLICATES, SEED, SIZES, Array, Rows, around, drawn, gap, groups, mixed, split

ABOUT: dict[str, Any] = {"kinds": KINDS, "sizes": SIZES, "names": NAMES}
HOW: dict[str, Any] = {"seed": SEED, "replicates": REPLICATES}
SOME: dict[str, Any] = {"train": 60, "test": 30}


def by_name(values: Any, names: tuple[str, ...] = NAMES) -> dict[str, float]:
    return dict(zip(names, np.asarray(values).tolist(), strict=True))


def targets(factors: Array) -> list[Array]:
    """What a factor is regressed as: its number, all classes but one, the point on a circle."""
    turn = 2 * np.pi * factors[:, 2] / 5
    shape = np.stack([(factors[:, 1] == v).astype(float) for v in (1, 2)], axis=1)
    shape[np.isnan(factors[:, 1])] = np.nan
    return [factors[:, :1], shape, np.stack([np.cos(turn), np.sin(turn)], axis=1), factors[:, 3:]]


def explained(code: Array, target: Array) -> float:
    """R² of a linear regression of the code on the target."""
    if np.ptp(code) == 0:
        return 0.0
    design = np.column_stack([np.ones(len(code)), target])
    left = code - design @ np.linalg.lstsq(design, code, rcond=None)[0]
    return 1 - left.var() / code.var()


def ranks(values: Array) -> Array:
    return np.array([(values < v).sum() + ((values == v).sum() + 1) / 2 for v in values])


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_mcc(method: str) -> None:
    codes, factors = mixed()
    strength, again = np.zeros((4, 4)), np.zeros((REPLICATES, 4, 4))
    for k, target in enumerate(targets(factors)):
        known = ~np.isnan(target).any(axis=1)
        y = target[known]
        for j in range(4):
            z = codes[known, j]
            if method == "spearman":
                z = ranks(z)
                y = np.apply_along_axis(ranks, 0, target[known]) if KINDS[k] in ("ordinal", "continuous") else y
            strength[j, k] = np.sqrt(explained(z, y))
            again[:, j, k] = [np.sqrt(explained(z[rows], y[rows])) for rows in drawn(len(z))]
    # Each factor has the latent that leaves most in all: three latents, one of them for the least that is lost.
    best = max((sum(strength[p[k], k] for k in range(4)), p) for p in itertools.permutations(range(4)))[1]
    score = m.mcc(codes, factors, **ABOUT, **HOW, method=method)
    value = np.mean([strength[best[k], k] for k in range(4)])
    assert score.value == pytest.approx(value, abs=1e-6)
    assert score.details["correlation"] == pytest.approx(strength, abs=1e-6)
    assert score.details["per_factor"] == pytest.approx(by_name([strength[best[k], k] for k in range(4)]), abs=1e-6)
    assert score.details["latent"] == {NAMES[k]: f"z{best[k] + 1}" for k in range(4)}
    assert (score.details["method"], score.details["seed"]) == (method, SEED)
    several = np.stack([again[:, best[k], k] for k in range(4)], axis=1).mean(axis=1)
    assert score.interval == pytest.approx(around(float(value), several, 0, 1), abs=1e-6)


def credits_of_svm(codes: Array, label: Rows, fit: Rows, held: Rows, penalty: float) -> Array:
    """Of each latent alone, [test row, latent]: whether a linear SVM with balanced classes names the label."""
    fit = fit[label[fit] >= 0]
    out = np.zeros((len(held), 4))
    for j in (0, 1, 3):
        svm = LinearSVC(C=penalty, class_weight="balanced", tol=1e-10, max_iter=200_000)
        out[:, j] = svm.fit(codes[fit, j : j + 1], label[fit]).predict(codes[held, j : j + 1]) == label[held]
    return out


def test_sap() -> None:
    codes, factors = mixed()
    fit, held = split(90, **SOME)
    scores, again = np.zeros((4, 4)), np.zeros((REPLICATES, 4, 4))
    rows = drawn(len(held))
    for k, label in enumerate(groups(factors)[:3]):
        credit, known = credits_of_svm(codes, label, fit, held, 0.05), label[held] >= 0
        scores[:, k] = credit.sum(0) / known.sum()
        again[:, :, k] = [credit[r].mean(0) / known[r].mean() for r in rows]
    known = held[~np.isnan(factors[held, 3])]
    for j in range(4):
        scores[j, 3] = explained(codes[known, j], factors[known, 3:])
        again[:, j, 3] = [explained(codes[known[r], j], factors[known[r], 3:]) for r in drawn(len(known))]
    gaps = [gap(scores[:, k]) for k in range(4)]
    score = m.sap(codes, factors, **ABOUT, **HOW, **SOME, penalty=0.05)
    assert score.details["scores"] == pytest.approx(scores, abs=1e-6)
    assert score.value == pytest.approx(np.mean(gaps), abs=1e-6)
    assert score.details["per_factor"] == pytest.approx(by_name(gaps), abs=1e-6)
    several = np.array([np.mean([gap(one[:, k]) for k in range(4)]) for one in again])
    assert score.interval == pytest.approx(around(score.value, several, 0, 1), abs=1e-6)
    assert score.details["mode"] == by_name(["svm", "svm", "svm", "regression"])
    assert (score.details["active"], score.details["train"], score.details["test"]) == (3, 60, 30)
    none = m.sap(codes, factors, **ABOUT, **SOME, inactive=1e9, replicates=0)
    assert (none.value, none.details["active"]) == (0.0, 0)


def test_sap_by_thresholds() -> None:
    """The best of all cuts in the order of a code, by accuracy in which classes weigh alike."""
    codes, factors = mixed()
    _, held = split(90, **SOME)
    label = groups(factors)[1][held]
    known = label >= 0
    z, y = codes[held][known], label[known]
    weight = np.array([known.sum() / (3 * (y == v).sum()) for v in y])
    scores, credit = np.zeros(4), np.zeros((len(held), 4))
    for j in (0, 1, 3):
        places = np.unique(z[:, j])
        for low in places:
            for high in places[places >= low]:
                part = (z[:, j] > low).astype(int) + (z[:, j] > high)
                for names in np.ndindex(3, 3, 3):
                    right = weight * (np.array(names)[part] == y)
                    if right.sum() / known.sum() > scores[j] + 1e-12:
                        scores[j], credit[known, j] = right.sum() / known.sum(), right
    score = m.sap(codes, factors[:, 1], kinds=["categorical"], **HOW, **SOME, mode="threshold")
    assert score.details["scores"][:, 0] == pytest.approx(scores, abs=1e-9)
    assert score.value == pytest.approx(gap(scores), abs=1e-9)
    assert score.interval is not None
    assert score.interval[0] < score.value < score.interval[1]


def decisions_of(codes: Array, label: Rows, fit: Rows, held: Rows) -> Array:
    """Of each value of a factor against the others, [test row, value]."""
    fit = fit[label[fit] >= 0]
    out = []
    for value in sorted(set(label[fit])):
        probe = LogisticRegression(tol=1e-12, max_iter=10_000).fit(codes[fit], label[fit] == value)
        out.append(probe.decision_function(codes[held]))
    return np.stack(out, axis=1)


def mean_of(values: Array, chosen: Array) -> float:
    """Of those that are chosen; 0 where none are."""
    return float(values[chosen].mean()) if chosen.any() else 0.0


@pytest.mark.parametrize("convention", ["normalised", "auc"])
def test_explicitness(convention: str) -> None:
    codes, factors = mixed()
    codes, factors = codes[:, :3], factors[:, :3]  # twenty parts of a continuous factor need more rows
    fit, held = split(90, **SOME)
    areas, again = [], []
    for label in groups(factors, KINDS[:3]):
        decision, truth = decisions_of(codes, label, fit, held), label[held]
        there = truth >= 0
        decision, truth = decision[there], truth[there]
        each, drawings = [], []
        for value in range(decision.shape[1]):
            yes = truth == value
            beaten = np.array(
                [(decision[yes != y, value] < d).sum() + 0.5 * (decision[yes != y, value] == d).sum()
                 for d, y in zip(decision[:, value], yes, strict=True)]
            )  # fmt: skip
            # The share of the others that each row is on the right side of.
            placed = np.where(yes, beaten / (~yes).sum(), 1 - beaten / yes.sum())
            area = roc_auc_score(yes, decision[:, value])
            assert placed[yes].mean() == pytest.approx(area)
            each.append(area)
            drawings.append([np.clip(mean_of(placed[r], yes[r]) + mean_of(placed[r], ~yes[r]) - area, 0, 1)
                             for r in drawn(len(truth))])  # fmt: skip
        areas.append(np.mean(each))
        again.append(np.mean(drawings, axis=0))
    score = m.explicitness(
        codes, factors, kinds=KINDS[:3], sizes=SIZES[:3], names=NAMES[:3], **HOW, **SOME, convention=convention
    )
    slope, offset = (2, -1) if convention == "normalised" else (1, 0)
    assert score.value == pytest.approx(slope * np.mean(areas) + offset, abs=1e-6)
    assert score.details["auc"] == pytest.approx(np.mean(areas), abs=1e-6)
    expected = by_name(slope * np.array(areas) + offset, NAMES[:3])
    assert score.details["per_factor"] == pytest.approx(expected, abs=1e-6)
    assert (score.details["seed"], score.details["convention"]) == (SEED, convention)
    several = slope * np.mean(again, axis=0) + offset
    assert score.interval == pytest.approx(around(score.value, several, offset, 1), abs=1e-6)


def accuracy_interval(right: Array, known: Array) -> Array:
    rows = drawn(len(right))
    return np.array([np.mean(right[r].mean(0) / known[r].mean(0)) for r in rows])


def test_linear_probes_name_the_likeliest_value() -> None:
    codes, factors = mixed()
    codes, factors = codes[:, :3], factors[:, :3]
    fit, held = split(90, **SOME)
    labels = groups(factors, KINDS[:3])
    truth = np.stack([label[held] for label in labels], axis=1)
    guess = np.stack([decisions_of(codes[:, [1, 0]], label, fit, held).argmax(1) for label in labels], axis=1)
    right, known = (guess == truth) * (truth >= 0.0), (truth >= 0) * 1.0
    about: dict[str, Any] = {"kinds": KINDS[:3], "sizes": SIZES[:3], "names": NAMES[:3]}
    score = m.downstream(codes, factors, **about, **HOW, **SOME, probe="linear", latents=[1, 0])
    each = right.sum(0) / known.sum(0)
    assert score.details["per_factor"] == pytest.approx(by_name(each, NAMES[:3]))
    assert score.value == pytest.approx(each.mean())
    assert score.interval == pytest.approx(around(score.value, accuracy_interval(right, known), 0, 1))
    kept = {"probe": "linear", "latents": ["z2", "z1"], "seed": SEED, "train": 60, "test": 30}
    assert {name: score.details[name] for name in kept} == kept


def test_attribute_vectors() -> None:
    codes, factors = mixed()
    other = (factors[:, 1] > 0).astype(float)
    other[3::5] = np.nan
    fit, held = split(90, **SOME)
    columns = np.stack([factors[:, 0], factors[:, 1], other], axis=1)
    right, known = np.zeros((30, 2)), np.zeros((30, 2))
    for i, label in enumerate((columns[:, 0], columns[:, 2])):
        yes, no = (codes[fit[label[fit] == v]] for v in (1, 0))
        w = yes.mean(0) - no.mean(0)
        w = 2 * w / (w @ w)
        losses = {b: np.maximum(0, 1 - yes @ w - b).sum() + np.maximum(0, 1 + no @ w + b).sum()
                  for b in [*(1 - yes @ w), *(-1 - no @ w)]}  # fmt: skip
        bias = hinge_bias(yes @ w, no @ w)
        assert np.maximum(0, 1 - yes @ w - bias).sum() + np.maximum(0, 1 + no @ w + bias).sum() == pytest.approx(
            min(losses.values())
        )
        known[:, i] = ~np.isnan(label[held])
        right[:, i] = known[:, i] * ((codes[held] @ w + bias > 0) == (label[held] == 1))
    score = m.attribute_classification(
        codes, columns, names=("coin", "shape", "round"), kinds=("ordinal", "ordinal", "categorical"), **HOW, **SOME
    )
    each = right.sum(0) / known.sum(0)
    assert score.details["per_factor"] == pytest.approx({"coin": each[0], "round": each[1]})
    assert score.value == pytest.approx(each.mean())
    assert score.interval == pytest.approx(around(score.value, accuracy_interval(right, known), 0, 1))
    assert score.details["seed"] == SEED


def test_attribute_vectors_are_as_long_as_puts_the_means_two_apart() -> None:
    """The hinge loss has a margin of 1, so that its bias depends on it: searched finely here, on skewed codes."""
    draws = np.random.default_rng(1)
    truth = (draws.random(120) < 0.3).astype(float)
    codes = (2 * truth + 1.5 * draws.exponential(size=120))[:, None]
    fit, held = split(120, 60, 60)
    x, y = codes[:, 0], truth
    w = 2 / (x[fit][y[fit] == 1].mean() - x[fit][y[fit] == 0].mean())
    sign = np.where(y[fit] == 1, 1.0, -1.0)
    ends = np.array([1 - x[i] * w if y[i] == 1 else -1 - x[i] * w for i in fit])
    loss = np.array([np.maximum(0, 1 - sign * (x[fit] * w + b)).sum() for b in ends])
    best = ends[loss < loss.min() + 1e-9]  # one bend, or the two ends of a flat stretch
    right = (x[held] * w + (best.min() + best.max()) / 2 > 0) == (y[held] == 1)
    score = m.attribute_classification(codes, truth, train=60, test=60, seed=SEED, replicates=0)
    assert score.value == pytest.approx(right.mean())
    half = w / 2
    ends = np.array([1 - x[i] * half if y[i] == 1 else -1 - x[i] * half for i in fit])
    loss = np.array([np.maximum(0, 1 - sign * (x[fit] * half + b)).sum() for b in ends])
    other = (x[held] * half + ends[loss.argmin()] > 0) == (y[held] == 1)
    assert other.mean() != right.mean()


def losses_of(x: Array, label: Rows, fit: Rows, held: Rows, balanced: bool, penalty: float) -> tuple[Array, Array]:
    """−log p of the true labels of test rows, by a multinomial regression, and by the shares of the labels alone."""
    fit, held = fit[label[fit] >= 0], held[label[held] >= 0]
    values = sorted(set(label[fit]))
    held = held[np.isin(label[held], values)]
    weight = "balanced" if balanced else None
    probe = LogisticRegression(C=penalty, class_weight=weight, solver="newton-cg", tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        odds = probe.fit(x[fit], label[fit]).predict_log_proba(x[held])
    place = np.array([values.index(v) for v in label[held]])
    alone = np.array([np.log(len(values)) if balanced else -np.log((label[fit] == v).mean()) for v in label[held]])
    return -odds[np.arange(len(held)), place], alone


def standard(x: Array) -> Array:
    return np.stack([(c - c.mean()) / c.std() if np.ptp(c) > 0 else 0 * c for c in x.T], axis=1)


def test_leakage() -> None:
    codes, factors = mixed()
    codes, factors = codes + 0.0, factors[:, :3]
    fit, held = split(90, **SOME)
    z = standard(codes[:, [3, 1]])
    x = np.column_stack([z, standard(np.stack([z[:, 0] ** 2, z[:, 0] * z[:, 1], z[:, 1] ** 2], axis=1))])
    each, nats, again = [], [], []
    for label in groups(factors, KINDS[:3]):
        loss, alone = losses_of(x, label, fit, held, balanced=False, penalty=1.0)
        each.append(1 - loss.mean() / alone.mean())
        nats.append(alone.mean() - loss.mean())
        again.append([1 - loss[r].mean() / alone[r].mean() for r in drawn(len(loss))])
    about: dict[str, Any] = {"kinds": KINDS[:3], "sizes": SIZES[:3], "names": NAMES[:3]}
    score = m.leakage(codes, factors, **about, **HOW, **SOME, latents=["z4", 1])
    assert score.value == pytest.approx(np.mean(each), abs=1e-9)
    assert score.details["per_factor"] == pytest.approx(by_name(each, NAMES[:3]), abs=1e-9)
    assert score.details["nats"] == pytest.approx(by_name(nats, NAMES[:3]), abs=1e-9)
    assert score.interval == pytest.approx(around(score.value, np.mean(again, axis=0), high=1), abs=1e-9)
    kept = {"latents": ["z4", "z2"], "seed": SEED, "train": 60, "test": 30}
    assert {name: score.details[name] for name in kept} == kept


def test_explicitness_of_infomec() -> None:
    codes, factors = mixed(300)
    about: dict[str, Any] = {"kinds": KINDS[:3], "sizes": SIZES[:3], "names": NAMES[:3]}
    fit, held = split(300, 200, 100)
    each, again = [], []
    for label in groups(factors[:, :3], KINDS[:3]):
        loss, alone = losses_of(standard(codes), label, fit, held, balanced=True, penalty=np.inf)
        each.append(1 - loss.mean() / alone.mean())
        again.append([1 - loss[r].mean() / alone.mean() for r in drawn(len(loss))])
    score = m.infomec(codes, factors[:, :3], **about, **HOW, train=200, test=100)["explicitness"]
    assert score.value == pytest.approx(np.mean(each), abs=1e-9)
    assert score.details["per_factor"] == pytest.approx(by_name(each, NAMES[:3]), abs=1e-9)
    assert score.interval == pytest.approx(around(score.value, np.mean(again, axis=0), high=1), abs=1e-9)
    assert (score.details["seed"], score.details["train"], score.details["test"]) == (SEED, 200, 100)


def test_irs_and_its_interval() -> None:
    """A value's deviations and the reach are order statistics, whose resamples are rows at Beta-distributed ranks."""
    codes, factors = mixed()
    labels, q = groups(factors), 0.9
    away = np.sort(np.abs(codes - codes.mean(0)), axis=0)
    reach = away[-1]
    draws = np.random.default_rng([SEED, zlib.crc32(b"irs")])
    robust, again = np.zeros((4, 4)), np.zeros((REPLICATES, 4, 4))
    for k, label in enumerate(labels):
        values = sorted(set(label) - {-1})
        for value in values:
            z = codes[label == value]
            far = np.sort(np.abs(z - z.mean(0)), axis=0)
            robust[:, k] += np.quantile(far, q, axis=0) / len(values)
            low = int(q * (len(z) - 1))
            rank = (draws.beta(low + 1, len(z) - low, (REPLICATES, 4)) * len(z)).astype(int)
            again[:, :, k] += np.stack([far[rank[:, j], j] for j in range(4)], axis=1) / len(values)
    varying = [0, 1, 3]
    robust = np.array([1 - robust[j] / reach[j] if j in varying else np.zeros(4) for j in range(4)])
    value = sum(reach[j] * robust[j].max() for j in varying) / sum(reach[varying])
    score = m.irs(codes, factors, **ABOUT, **HOW, quantile=q)
    assert score.value == pytest.approx(value, abs=1e-9)
    assert score.details["scores"] == pytest.approx(robust, abs=1e-9)
    assert score.details["per_latent"] == pytest.approx(robust.max(1), abs=1e-9)
    assert score.details["factor"] == {f"z{j + 1}": NAMES[robust[j].argmax()] for j in varying}
    assert (score.details["quantile"], score.details["active"], score.details["seed"]) == (q, 3, SEED)
    rank = (draws.beta(90, 1, (REPLICATES, 4)) * 90).astype(int)
    far = np.stack([away[rank[:, j], j] for j in range(4)], axis=1)
    several = [
        sum(far[r, j] * (1 - again[r, j] / far[r, j]).max() for j in varying) / sum(far[r, varying])
        for r in range(REPLICATES)
    ]
    assert score.interval == pytest.approx(around(value, np.array(several), 0, 1), abs=1e-9)
    nothing = m.irs(0 * codes, factors, **ABOUT, **HOW)
    assert (nothing.value, nothing.interval) == (0.0, (0.0, 0.0))
    assert m.irs(0 * codes, factors, **ABOUT, replicates=0).interval is None
