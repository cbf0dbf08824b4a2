"""What rests on posteriors: information under q(z | n), the terms of the ELBO, mixtures and their weights."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from unbraid import metrics as m
from unbraid.metrics._shared import aggregate, mixture
from unbraid.metrics._shared.aggregate import Alike, Marginal, factor_information, footprints, grid_of

from .hand import REPLICATES, SEED, Array, Rows, around, drawn, surprise

HOW: dict[str, Any] = {"seed": SEED, "replicates": REPLICATES}
LOG_2PI = np.log(2 * np.pi)


def posteriors(n: int = 24, d: int = 2) -> tuple[Array, Array]:
    draws = np.random.default_rng(4)
    return draws.normal(size=(n, d)) @ draws.normal(size=(d, d)), draws.uniform(-3, 0.5, size=(n, d))


def density(z: Array, mean: Array, log_var: Array) -> Array:
    return np.exp(-0.5 * ((z - mean) ** 2 / np.exp(log_var) + log_var + LOG_2PI))


def fine(mean: Array, log_var: Array) -> Array:
    deviation = np.exp(0.5 * log_var)
    return np.linspace((mean - 9 * deviation).min(), (mean + 9 * deviation).max(), 20_001)


def informed(mean: Array, log_var: Array, labels: Rows) -> Array:
    """E over q(z | n) of log q(z | v)/q(z) for each row n with a label, by a fine sum; NaN for the others."""
    known = labels >= 0
    z = fine(mean, log_var)
    each = np.array([density(z, a, b) for a, b in zip(mean, log_var, strict=True)])
    whole = each[known].mean(0)
    out = np.full(len(mean), np.nan)
    for i in np.flatnonzero(known):
        own = each[labels == labels[i]].mean(0)
        out[i] = np.trapezoid(each[i] * np.log(np.maximum(own, 1e-300) / np.maximum(whole, 1e-300)), z)
    return out


def labelled(n: int = 24) -> Array:
    draws = np.random.default_rng(5)
    factors = draws.integers([2, 3], size=(n, 2)).astype(float)
    factors[::5, 1] = np.nan
    return factors


def test_the_mig_of_posteriors() -> None:
    mean, log_var = posteriors()
    factors = labelled()
    labels = [np.where(np.isnan(c), -1, c).astype(int) for c in factors.T]
    each = np.array([[informed(mean[:, j], log_var[:, j], label) for label in labels] for j in range(2)])
    own = np.array([surprise(label) for label in labels])

    def value_of(rows: Array) -> float:
        share = np.nanmean(each[:, :, rows], axis=2) / np.nanmean(own[:, rows], axis=1)
        return float(np.abs(share[0] - share[1]).mean())

    score = m.mig(mean, factors, log_vars=log_var, convention="chen", **HOW)
    assert score.details["information"] == pytest.approx(np.nanmean(each, axis=2), abs=1e-6)
    assert score.details["entropy"] == pytest.approx(np.nanmean(own, axis=1))
    assert score.value == pytest.approx(value_of(np.arange(24)), abs=1e-6)
    again = np.array([value_of(rows) for rows in drawn(24)])
    assert score.interval == pytest.approx(around(score.value, again, 0, 1), abs=1e-6)
    assert (score.details["convention"], score.details["rows"], score.details["seed"]) == ("chen", 24, SEED)
    assert "bins" not in score.details


def test_rows_of_information_one_by_one_and_taken_together(monkeypatch: pytest.MonkeyPatch) -> None:
    mean, log_var = posteriors(60)
    mean, log_var = np.rint(10 * mean) / 10, np.rint(log_var)  # so that many rows are alike
    factors = labelled(60)
    labels = [(np.where(np.isnan(c), -1, c).astype(int), k) for c, k in zip(factors.T, (2, 3), strict=True)]
    matrix, rows = factor_information(mean, log_var, labels)
    assert rows is not None
    for j in range(2):
        for k, (label, _) in enumerate(labels):
            expected = informed(mean[:, j], log_var[:, j], label)
            assert rows[label >= 0, j, k] == pytest.approx(expected[label >= 0], abs=1e-6)
            assert matrix[j, k] == pytest.approx(np.nanmean(expected), abs=1e-6)
            assert (rows[label < 0, j, k] == 0).all()
    alone, none = factor_information(mean, log_var, labels, rows=False)
    assert none is None
    assert alone == pytest.approx(matrix)
    monkeypatch.setattr(aggregate, "_BLOCK", 64)  # blocks that are made again for each factor
    again, one_by_one = factor_information(mean, log_var, labels)
    assert again == pytest.approx(matrix, abs=1e-9)
    assert one_by_one == pytest.approx(rows, abs=1e-9)
    monkeypatch.setattr(aggregate, "_EXACT_ROWS", 10)
    monkeypatch.setattr(aggregate, "_LIKE_MEAN", 1e-3)
    monkeypatch.setattr(aggregate, "_LIKE_WIDTH", 1e-3)  # only what is equal
    few = np.tile(np.arange(20), 3)
    equal = factor_information(mean[few], log_var[few], labels)
    assert len(Alike.of(mean[few, 0], np.exp(0.5 * log_var[few, 0])).means) == len(
        np.unique(np.stack([mean[:20, 0], log_var[:20, 0]]), axis=1).T
    )
    monkeypatch.setattr(aggregate, "_EXACT_ROWS", 1000)
    plain = factor_information(mean[few], log_var[few], labels)
    assert equal[0] == pytest.approx(plain[0], abs=1e-6)
    assert equal[1] == pytest.approx(plain[1], abs=1e-6)


def test_rows_that_are_alike_keep_their_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Widths within a tenth of a logarithm, means within an eighth of the width; their mixture's mean and variance."""
    monkeypatch.setattr(aggregate, "_EXACT_ROWS", 4)
    deviations = np.array([1.0, 1.01, 1.0, 0.99, 1.0, 3.0, 3.0, 3.0])
    means = np.array([0.01, 0.05, 0.12, 0.13, 0.2, 0.01, 0.2, 0.5])
    found = Alike.of(means, deviations)
    assert found.member.tolist() == [0, 0, 0, 1, 1, 2, 2, 3]
    assert found.count.tolist() == [3, 2, 2, 1]
    for i in range(4):
        rows = found.member == i
        centre = means[rows].mean()
        assert found.means[i] == pytest.approx(centre)
        spread = (deviations[rows] ** 2 + (means[rows] - centre) ** 2).mean()
        assert found.deviations[i] == pytest.approx(np.sqrt(spread))
    different = np.arange(8.0)  # hardly any are alike: each stays alone
    assert Alike.of(different, deviations).member.tolist() == list(range(8))
    monkeypatch.setattr(aggregate, "_EXACT_ROWS", 8)
    assert Alike.of(means, deviations).member.tolist() == list(range(8))


def test_a_marginal_is_its_mixture() -> None:
    mean, log_var = posteriors(50)
    for j in range(2):
        marginal = Marginal(mean[:, j], log_var[:, j])
        z = fine(mean[:, j], log_var[:, j])
        p = np.array([density(z, a, b) for a, b in zip(mean[:, j], log_var[:, j], strict=True)]).mean(0)
        assert marginal.mean_log_density == pytest.approx(np.trapezoid(p * np.log(np.maximum(p, 1e-300)), z), abs=1e-5)
        at = z[(p > 1e-4 * p.max())][::97]
        expected = np.log([density(x, mean[:, j], log_var[:, j]).mean() for x in at])
        assert marginal(at) == pytest.approx(expected, abs=2e-3)


def test_the_grid_holds_every_posterior() -> None:
    mean, deviations = np.array([0.0, 5.0, -3.0]), np.array([1.0, 0.5, 2.0])
    grid, kept = grid_of(mean, deviations)
    assert grid.start == pytest.approx(-3 - 14)
    assert grid.step == pytest.approx(0.25)
    assert grid.start + (grid.size - 1) * grid.step >= 5 + 3.5
    assert kept.tolist() == deviations.tolist()
    seen = np.zeros(3)
    for block in footprints(mean, kept, grid):
        assert block.mass.sum(axis=1) == pytest.approx(np.ones(len(block.rows)))
        places = grid.start + grid.step * block.points
        centre = (block.mass * places).sum(axis=1)
        assert centre == pytest.approx(mean[block.rows], abs=1e-9)
        spread = (block.mass * (places - mean[block.rows, None]) ** 2).sum(axis=1)
        assert spread == pytest.approx(deviations[block.rows] ** 2, rel=1e-6)
        seen[block.rows] += 1
    assert seen.tolist() == [1, 1, 1]
    narrow, widened = grid_of(np.array([0.0, 1.0]), np.array([1e-9, 0.1]))
    assert widened[0] == pytest.approx((1.7 + 7e-9) / 16384)
    assert narrow.size < 16384 * 2 + 1000


@pytest.mark.parametrize("method", ["exact", "stratified"])
def test_the_terms_of_the_elbo(method: str) -> None:
    """E log q(z) is read off a regression on log q(z | n) and log ∏ q(zⱼ), at their known means."""
    mean, log_var = posteriors(24)
    n, points = 24, 10
    kl = 0.5 * (mean**2 + np.exp(log_var) - log_var - 1)
    rng = np.random.default_rng([SEED, zlib.crc32(b"elbo")])
    if method == "exact":
        rows = np.repeat(np.arange(n), 3)
    else:
        edges = np.linspace(0, n, points + 1)
        place = [int(edges[i] + u * (edges[i + 1] - edges[i])) for i, u in enumerate(rng.random(points))]
        rows = np.argsort(kl.sum(1), kind="stable")[place]
        rows = np.repeat(rows, 3)
    centred = mean - mean.mean(0)
    z = centred[rows] + np.exp(0.5 * log_var[rows]) * rng.standard_normal((len(rows), 2))
    pairs = np.log(density(z[:, None], centred, log_var))
    whole = np.log(np.exp(pairs.sum(2)).mean(1))
    marginals = [Marginal(centred[:, j], log_var[:, j]) for j in range(2)]
    product = sum(marginal(z[:, j]) for j, marginal in enumerate(marginals))
    own = np.log(density(z, centred[rows], log_var[rows])).sum(1)
    mean_own = float(-0.5 * (log_var + 1 + LOG_2PI).sum(1).mean())
    mean_product = sum(marginal.mean_log_density for marginal in marginals)
    design = np.column_stack([np.ones(len(z)), own - mean_own, product - mean_product])
    beta = np.linalg.lstsq(design, whole, rcond=None)[0]
    prior = float(-0.5 * (mean**2 + np.exp(log_var) + LOG_2PI).sum(1).mean())
    expected = {
        "index_code_mi": mean_own - beta[0],
        "total_correlation": beta[0] - mean_product,
        "dimension_kl": mean_product - prior,
        "kl": kl.sum(1).mean(),
    }
    loss = np.linspace(5, 9, n)
    terms = m.elbo_terms(mean, log_var, method=method, points=points, samples=3, reconstruction=loss, **HOW)
    for name, value in expected.items():
        assert terms[name].value == pytest.approx(value, abs=1e-9), name
    left = whole - design @ beta
    moved = np.array([left[r].mean() for r in drawn(len(left))])
    for name, sign in (("index_code_mi", -1), ("total_correlation", 1)):
        value = expected[name]
        assert terms[name].interval == pytest.approx(around(value, value + sign * moved), abs=1e-9)
    assert terms["kl"].interval == pytest.approx((expected["kl"],) * 2)
    assert terms["dimension_kl"].interval == pytest.approx((expected["dimension_kl"],) * 2)
    assert terms["kl"].details["per_latent"] == pytest.approx(kl.mean(0))
    for name, each in (("reconstruction", loss), ("elbo", -loss - kl.sum(1))):
        assert terms[name].value == pytest.approx(each.mean())
        again = np.array([each[r].mean() for r in drawn(n)])
        assert terms[name].interval == pytest.approx(around(each.mean(), again))
    kept = {"method": method, "rows": n, "latents": 2, "seed": SEED, "unit": "nats", "evaluation_points": len(rows)}
    assert {key: terms["kl"].details[key] for key in kept} == kept
    plain = m.elbo_terms(mean, log_var, method=method, points=points, samples=3, replicates=0)
    assert {score.interval for score in plain.values()} == {None}
    assert set(plain) == set(expected)
    assert m.elbo_terms(mean, log_var, **HOW)["kl"].details["method"] == "exact"
    assert m.elbo_terms(mean, log_var, **HOW)["kl"].details["evaluation_points"] == n * (8192 // n)


def test_the_terms_of_minibatches() -> None:
    """S6 and S7: a row's own component weighs 1/N, the next one (N − M)/NM, the others 1/M, with M = batch − 1."""
    mean, log_var = posteriors(24)
    n, batch, others = 24, 7, 6
    rng = np.random.default_rng([SEED, zlib.crc32(b"elbo")])
    order = rng.permutation(n)
    weights = np.full((batch, batch), 1 / others)
    for i in range(batch):
        weights[i, i] = 1 / n
        weights[i, (i + 1) % batch] = (n - others) / (n * others)
    assert weights.sum(1) == pytest.approx(np.ones(batch))
    parts = []
    for first in (0, 7, 14):
        rows = order[first : first + batch]
        a, b = mean[rows], log_var[rows]
        z = a + np.exp(0.5 * b) * rng.standard_normal(a.shape)
        pairs = np.log(density(z[:, None], a, b))
        own = np.array([pairs[i, i].sum() for i in range(batch)])
        whole = logsumexp(np.log(weights) + pairs.sum(2), axis=1)
        product = logsumexp(np.log(weights)[:, :, None] + pairs, axis=1).sum(1)
        prior = -0.5 * (z**2 + LOG_2PI).sum(1)
        parts.append([(own - whole).mean(), (whole - product).mean(), (product - prior).mean()])
    each = np.array(parts)
    terms = m.elbo_terms(mean, log_var, method="minibatch", batch=batch, **HOW)
    names = ("index_code_mi", "total_correlation", "dimension_kl")
    for name, values in [*zip(names, each.T, strict=True), ("kl", each.sum(1))]:
        assert terms[name].value == pytest.approx(values.mean())
        again = np.array([values[r].mean() for r in drawn(3)])
        assert terms[name].interval == pytest.approx(around(values.mean(), again))
    kl = 0.5 * (mean**2 + np.exp(log_var) - log_var - 1).sum(1).mean()
    kept = {"batch": 7, "batches": 3, "method": "minibatch"}
    assert {key: terms["kl"].details[key] for key in kept} == kept
    assert terms["kl"].details["analytic_kl"] == pytest.approx(kl)
    assert m.elbo_terms(mean, log_var, method="minibatch", replicates=0)["kl"].details["batch"] == 24


def test_mixtures_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    mean, log_var = posteriors(50)
    z = np.random.default_rng(6).normal(size=(23, 2)) * 3
    expected = np.log(density(z[:, None], mean, log_var).prod(2).mean(1))
    assert mixture.log_aggregate_posterior(z, mean, log_var) == pytest.approx(expected)
    monkeypatch.setattr(mixture, "_BLOCK", 3)
    assert mixture.log_aggregate_posterior(z, mean, log_var) == pytest.approx(expected)
    far = mixture.log_aggregate_posterior(z + 100, mean, log_var)  # where sums of exponentials would vanish
    pairs = -0.5 * ((z[:, None] + 100 - mean) ** 2 / np.exp(log_var) + log_var + LOG_2PI)
    assert far == pytest.approx(logsumexp(pairs.sum(2), axis=1) - np.log(50), rel=1e-9)
