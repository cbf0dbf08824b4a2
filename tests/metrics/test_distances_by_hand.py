"""Distances, correlations and agreement of models, with details and intervals, in a few lines of NumPy."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np
import pytest
from scipy.linalg import sqrtm
from sklearn.linear_model import Lasso

from unbraid import metrics as m
from unbraid.errors import InputError

from .hand import REPLICATES, SEED, Array, around, drawn

HOW: dict[str, Any] = {"seed": SEED, "replicates": REPLICATES}


def two_sets() -> tuple[Array, Array]:
    draws = np.random.default_rng(0)
    return draws.normal(size=(30, 3)) @ draws.normal(size=(3, 3)), 0.4 + 1.3 * draws.normal(size=(20, 3))


def test_the_frechet_distance() -> None:
    """|μ − ν|² + tr(A + B − 2(AB)^½), and how it moves with a row: by 1 − T on one side, 1 − T⁻¹ on the other."""
    a, b = two_sets()
    first, second = np.cov(a.T), np.cov(b.T)
    root = np.real(sqrtm(first @ second))
    value = ((a.mean(0) - b.mean(0)) ** 2).sum() + np.trace(first + second - 2 * root)
    push = np.linalg.inv(first) @ root  # T = A^-½ (A^½ B A^½)^½ A^-½
    assert push @ first @ push == pytest.approx(second, abs=1e-6)  # it takes one covariance to the other
    score = m.fid(a, b, **HOW)
    assert score.value == pytest.approx(value, abs=1e-6)
    away = np.zeros(REPLICATES)
    for rows, other, way, name in ((a, b, push, "a"), (b, a, np.linalg.inv(push), "b")):
        centred = rows - rows.mean(0)
        gain = 2 * centred @ (rows.mean(0) - other.mean(0)) + np.array([c @ (np.eye(3) - way) @ c for c in centred])
        away += np.array([gain[r].mean() for r in drawn(len(rows), purpose=f"fid {name}")]) - gain.mean()
    assert score.interval == pytest.approx(around(value, value + away, 0.0), abs=1e-6)
    assert score.details == {"seed": SEED, "features": 3, "rows": [30, 20]}
    known = m.GaussianStatistics.of(a)
    assert known.mean == pytest.approx(a.mean(0))
    assert known.covariance == pytest.approx(first)
    assert known.count == 30
    half = m.fid(known, b, **HOW)  # only rows that are given can be resampled
    centred = b - b.mean(0)
    gain = 2 * centred @ (b.mean(0) - a.mean(0)) + np.array(
        [c @ (np.eye(3) - np.linalg.inv(push)) @ c for c in centred]
    )
    again = value + np.array([gain[r].mean() for r in drawn(20, purpose="fid b")]) - gain.mean()
    assert half.interval == pytest.approx(around(value, again, 0.0), abs=1e-6)
    assert m.fid(known, known, **HOW).interval is None
    assert m.fid(a, a, replicates=0).value == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(InputError, match="3 features and the other 2"):
        m.fid(a, b[:, :2])


def test_features_without_spread_have_a_distance() -> None:
    """One direction in which nothing varies: no inverse, and no harm."""
    a, b = two_sets()
    flat = a * [1.0, 1.0, 0.0]
    score = m.fid(flat, b, **HOW)
    roots = np.sqrt(np.maximum(np.linalg.eigvals(np.cov(flat.T) @ np.cov(b.T)).real, 0))
    expected = ((flat.mean(0) - b.mean(0)) ** 2).sum() + np.trace(np.cov(flat.T) + np.cov(b.T)) - 2 * roots.sum()
    assert score.value == pytest.approx(expected, abs=1e-5)
    assert score.interval is not None
    assert np.isfinite(score.interval).all()


def test_the_kernel_distance() -> None:
    a, b = two_sets()

    def kernel(x: Array, y: Array) -> float:
        return float((x @ y / 3 + 1) ** 3)

    within = [np.array([np.mean([kernel(x, y) for j, y in enumerate(s) if j != i]) for i, x in enumerate(s)])
              for s in (a, b)]  # fmt: skip
    across = [np.array([np.mean([kernel(x, y) for y in t]) for x in s]) for s, t in ((a, b), (b, a))]
    value = within[0].mean() + within[1].mean() - 2 * across[0].mean()
    score = m.kid(a, b, **HOW)
    assert score.value == pytest.approx(value)
    sides = [
        np.array([2 * (w - c)[r].mean() for r in drawn(len(w), purpose=f"kid {name}")])
        for w, c, name in zip(within, across, "ab", strict=True)
    ]
    assert score.interval == pytest.approx(around(value, sides[0] + sides[1]))
    assert score.details == {"seed": SEED, "features": 3, "rows": [30, 20]}
    with pytest.raises(InputError, match="3 features and the other 2"):
        m.kid(a, b[:, :2])


def test_kernels_are_summed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = two_sets()
    whole = m.kid(a, b, **HOW)
    monkeypatch.setattr(importlib.import_module("unbraid.metrics.kid"), "_BLOCK", 7)
    parts = m.kid(a, b, **HOW)
    assert parts.value == pytest.approx(whole.value)
    assert parts.interval == pytest.approx(whole.interval)


def test_errors_and_distances() -> None:
    a, b = two_sets()
    a = a[:20]
    for score, each in (
        (m.l1(a, b, **HOW), np.abs(a - b).mean(1)),
        (m.l2(a, b, **HOW), ((a - b) ** 2).mean(1)),
        (m.lpips(np.abs(a[:, 0]), **HOW), np.abs(a[:, 0])),
    ):
        assert score.value == pytest.approx(each.mean())
        several = np.array([each[r].mean() for r in drawn(20)])
        assert score.interval == pytest.approx(around(each.mean(), several, 0.0))
        assert score.details == {"observations": 20, "seed": SEED}
    bytes_ = np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)
    assert m.l1(bytes_, 0 * bytes_).value == pytest.approx(np.arange(24).mean() / 255)
    assert m.l2(bytes_, np.zeros(bytes_.shape)).value == pytest.approx((np.arange(24.0) ** 2).mean() / 255**2)


def test_errors_are_taken_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = two_sets()
    whole = m.l2(a[:20], b, **HOW)
    monkeypatch.setattr("unbraid.metrics._shared.errors._BLOCK", 7)
    parts = m.l2(a[:20], b, **HOW)
    assert (parts.value, parts.interval) == (whole.value, whole.interval)


def test_class_accuracy() -> None:
    guessed, true = np.array([0, 2, 1, 1, 0, 2, 2, 1]), np.array([1, 0, 2, 2, np.nan, 0, 1, 0])
    known = ~np.isnan(true)
    best = max(itertools.permutations(range(3)), key=lambda p: (np.array(p)[guessed] == true).sum())
    for naming, right in (("given", guessed == true), ("best", np.array(best)[guessed] == true)):
        score = m.class_accuracy(guessed, true, naming=naming, **HOW)  # type: ignore[arg-type]
        each = right[known].astype(float)
        assert score.value == pytest.approx(each.mean())
        again = np.array([each[r].mean() for r in drawn(7)])
        assert score.interval == pytest.approx(around(each.mean(), again, 0, 1))
        assert score.details == {"observations": 7, "naming": naming, "seed": SEED}


def test_identity_change() -> None:
    features = np.random.default_rng(0).normal(size=(6, 4, 2, 3)) + 2 * np.arange(6.0)[:, None, None, None]

    def share(rows: Array) -> float:
        flat = features[rows].reshape(-1, 6)
        within = np.mean([features[i].reshape(4, 6).var(axis=0).sum() for i in rows])
        return min(1.0, within / flat.var(axis=0).sum())

    score = m.identity_change(features, **HOW)
    assert score.value == pytest.approx(share(np.arange(6)))
    again = np.array([share(rows) for rows in drawn(6)])
    assert score.interval == pytest.approx(around(score.value, again, 0, 1))
    assert score.details == {"identities": 6, "poses": 4, "seed": SEED}
    assert m.identity_change(np.ones((2, 2, 1)), replicates=0).value == 1.0  # nothing differs at all
    for shape in ((1, 2, 3), (2, 1, 3), (4, 3)):
        with pytest.raises(InputError, match=r"\[identity, pose, feature\]"):
            m.identity_change(np.zeros(shape))


def test_total_correlation_and_its_interval() -> None:
    """Rows in groups, of which each sample draws as many; here every row is a group, in a random order."""
    draws = np.random.default_rng(1)
    z = draws.normal(size=(60, 3)) @ draws.normal(size=(3, 3))
    codes = np.column_stack([z, np.full(60, 4.0)])
    score = m.total_correlation(codes, **HOW)
    value = -0.5 * np.log(np.linalg.det(np.corrcoef(z.T)))
    assert score.value == pytest.approx(value)
    assert score.details == {"seed": SEED, "latents": 3, "constant": 1}
    order = np.random.default_rng([SEED, 3]).permutation(60)
    again = np.array([-0.5 * np.log(np.linalg.det(np.corrcoef(z[order[rows]].T))) for rows in drawn(60)])
    assert score.interval == pytest.approx(around(value, again, 0.0))
    assert m.total_correlation(codes[:, 2:], **HOW).value == 0.0
    assert m.total_correlation(codes[:, 2:], **HOW).interval == (0.0, 0.0)
    assert m.total_correlation(codes[:, 2:], replicates=0).interval is None
    double = m.total_correlation(np.column_stack([z, z[:, 0]]), **HOW)
    assert double.value == np.inf
    assert double.interval is None


def ranks(values: Array) -> Array:
    return np.array([(values < v).sum() + ((values == v).sum() + 1) / 2 for v in values])


def strength(similarity: Array) -> float:
    both = 0.0
    for matrix in (similarity, similarity.T):
        for column in matrix.T:
            both += column.max() ** 2 / column.sum() if column.sum() > 0 else 0.0
    return both / sum(similarity.shape)


@pytest.mark.parametrize("method", ["spearman", "lasso"])
def test_how_models_agree(method: str) -> None:
    draws = np.random.default_rng(2)
    truth = draws.normal(size=(50, 3))
    models = [truth, truth[:, [2, 0, 1]] ** 3, truth @ draws.normal(size=(3, 2)), draws.normal(size=(50, 3))]
    models[3][:, 1] = 0.2 * draws.normal(size=50)  # a variance of less than 0.05
    used = [one[:, one.var(axis=0) >= 0.05] for one in models]
    assert [one.shape[1] for one in used] == [3, 3, 2, 2]
    pairwise = np.full((4, 4), np.nan)
    for i, j in itertools.combinations(range(4), 2):
        a, b = (np.apply_along_axis(ranks, 0, used[k]) if method == "spearman" else used[k] for k in (i, j))
        a, b = ((x - x.mean(0)) / x.std(0) for x in (a, b))
        if method == "spearman":
            pairwise[i, j] = strength(np.abs(np.corrcoef(a.T, b.T)[: a.shape[1], a.shape[1] :]))
        else:
            both = [np.abs([Lasso(alpha=0.1).fit(x, c).coef_ for c in y.T]).T for x, y in ((a, b), (b, a))]
            pairwise[i, j] = np.mean([strength(one) for one in both])
        pairwise[j, i] = pairwise[i, j]
    score = m.udr(models, method=method, **HOW)
    assert score.details["pairwise"] == pytest.approx(pairwise, nan_ok=True)
    per_model = [np.median(np.delete(pairwise[i], i)) for i in range(4)]
    assert score.details["per_model"] == pytest.approx(per_model)
    assert score.value == pytest.approx(np.mean(per_model))
    kept = {"method": method, "seed": SEED, "best": int(np.argmax(per_model)), "informative": [3, 3, 2, 2]}
    assert {name: score.details[name] for name in kept} == kept
    again = []
    for rows in drawn(4, purpose="udr models"):
        among = pairwise[np.ix_(rows, rows)]
        again.append(np.nanmedian(among, axis=1).mean() if len(set(rows)) > 1 else score.value)
    assert score.interval == pytest.approx(around(score.value, np.array(again), 0, 1))
    assert m.udr(models[:2], method=method, **HOW).interval is None


def test_latents_that_say_too_little_do_not_agree() -> None:
    truth = np.random.default_rng(3).normal(size=(40, 2))
    models = [truth, -truth]
    assert m.udr(models, information=[[1.0, 1.0], [1.0, 0.02]], threshold=0.02).details["informative"] == [2, 1]
    assert m.udr(models, information=[[1.0, 1.0], [1.0, 0.021]], threshold=0.02).details["informative"] == [2, 2]
    still = [truth, truth * [1.0, 0.0]]
    assert m.udr(still, information=[[1.0, 1.0]] * 2).details["informative"] == [2, 1]
    assert m.udr([truth, 0 * truth]).value == 0.0
    some = m.udr([np.tile(truth, (3, 1))] * 2, points=50, replicates=0)
    assert some.value == pytest.approx(m.udr([truth] * 2, replicates=0).value, abs=0.2)
    with pytest.raises(InputError, match="2 models and information for 1"):
        m.udr(models, information=[[1.0, 1.0]])
    with pytest.raises(InputError, match="give one value a latent"):
        m.udr(models, information=[[1.0, 1.0], [1.0]])
    with pytest.raises(InputError, match="at least one more"):
        m.udr(models[:1])
    with pytest.raises(InputError, match="encode the same observations"):
        m.udr([truth, truth[:30]])
