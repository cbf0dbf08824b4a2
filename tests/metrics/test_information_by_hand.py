"""Scores that rest on mutual information, with their details and intervals, on a table with gaps and all kinds."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from unbraid import metrics as m

from .hand import (
    KINDS,
    NAMES,
    REPLICATES,
    SEED,
    SIZES,
    Array,
    around,
    bins_of,
    drawn,
    gap,
    levels,
    mixed,
    pointwise,
    surprise,
)

ABOUT: dict[str, Any] = {"kinds": KINDS, "sizes": SIZES, "names": NAMES}
HOW: dict[str, Any] = {"seed": SEED, "replicates": REPLICATES}


def tables(codes: Array, factors: Array, bins: int) -> tuple[Array, Array, Array, Array]:
    """Information [latent, factor], entropies [factor], and both for each bootstrap sample."""
    labels = levels(factors)
    each = np.stack(
        [[pointwise(bins_of(z, bins), label) for label in labels] for z in codes.T]
    )  # [latent, factor, row]
    own = np.stack([surprise(label) for label in labels])  # [factor, row]
    rows = drawn(len(codes))
    again = np.stack([np.nanmean(each[:, :, r], axis=2) for r in rows])
    return np.nanmean(each, axis=2), np.nanmean(own, axis=1), again, np.stack([np.nanmean(own[:, r], 1) for r in rows])


def check(score: m.Score, value: float, again: list[float]) -> None:
    assert score.value == pytest.approx(value, abs=1e-9)
    assert score.interval == pytest.approx(around(value, np.array(again), 0, 1), abs=1e-9)


def by_name(values: Any) -> dict[str, float]:
    return dict(zip(NAMES, np.asarray(values).tolist(), strict=True))


def test_mig() -> None:
    codes, factors = mixed()
    matrix, entropy, drawn_matrix, drawn_entropy = tables(codes, factors, 20)

    def gaps(information: Array, of_factors: Array) -> list[float]:
        return [gap(information[:, k] / of_factors[k]) for k in range(4)]

    score = m.mig(codes, factors, **ABOUT, **HOW)
    again = [float(np.mean(gaps(a, h))) for a, h in zip(drawn_matrix, drawn_entropy, strict=True)]
    check(score, float(np.mean(gaps(matrix, entropy))), again)
    assert score.details["per_factor"] == pytest.approx(by_name(gaps(matrix, entropy)), abs=1e-9)
    assert score.details["information"] == pytest.approx(matrix, abs=1e-9)
    assert score.details["entropy"] == pytest.approx(entropy, abs=1e-9)
    assert score.details["latent"] == {name: f"z{j + 1}" for name, j in zip(NAMES, matrix.argmax(0), strict=True)}
    assert {name: score.details[name] for name in ("convention", "seed", "bins", "rows")} == {
        "convention": "locatello", "seed": SEED, "bins": 20, "rows": 90,
    }  # fmt: skip
    assert m.mig(codes, factors, **ABOUT, bins=7).value == pytest.approx(
        np.mean(gaps(*tables(codes, factors, 7)[:2])), abs=1e-9
    )
    normal = m.mutual_information_matrix(codes, factors, **ABOUT, normalise=True)
    assert normal == pytest.approx(matrix / entropy, abs=1e-9)


def test_mig_sup() -> None:
    codes, factors = mixed()
    matrix, entropy, drawn_matrix, drawn_entropy = tables(codes, factors, 20)

    def gaps(information: Array, of_factors: Array) -> list[float]:
        return [gap(row / of_factors) for row in information]

    score = m.mig_sup(codes, factors, **ABOUT, **HOW)
    again = [float(np.mean(gaps(a, h))) for a, h in zip(drawn_matrix, drawn_entropy, strict=True)]
    check(score, float(np.mean(gaps(matrix, entropy))), again)
    assert score.details["per_latent"] == pytest.approx(gaps(matrix, entropy), abs=1e-9)
    assert (score.details["bins"], score.details["seed"], score.details["rows"]) == (20, SEED, 90)


def modularities(information: Array) -> list[float]:
    out = []
    for row in information:
        best = max(row)
        rest = sum(v**2 for v in row) - best**2
        out.append(1 - rest / (best**2 * (len(row) - 1)) if best > 1e-9 else 0.0)
    return out


def test_modularity() -> None:
    codes, factors = mixed()
    matrix, _, drawn_matrix, _ = tables(codes, factors, 20)
    score = m.modularity(codes, factors, **ABOUT, **HOW)
    check(score, float(np.mean(modularities(matrix))), [float(np.mean(modularities(a))) for a in drawn_matrix])
    assert score.details["per_latent"] == pytest.approx(modularities(matrix), abs=1e-9)
    assert (score.details["bins"], score.details["seed"], score.details["rows"]) == (20, SEED, 90)


def test_minimality() -> None:
    codes, factors = mixed()
    matrix, _, drawn_matrix, _ = tables(codes, factors, 15)
    own = np.array([surprise(bins_of(z, 15)).mean() for z in codes.T])

    def shares(information: Array) -> Array:
        return np.array([max(information[j]) / own[j] for j in (0, 1, 3)])

    score = m.minimality(codes, factors, **ABOUT, **HOW)
    check(score, shares(matrix).mean(), [float(shares(a).mean()) for a in drawn_matrix])
    assert score.details["per_latent"] == pytest.approx(np.insert(shares(matrix), 2, 0.0), abs=1e-9)
    kept = {"bins": 15, "seed": SEED, "rows": 90, "varying": 3}
    assert {name: score.details[name] for name in kept} == kept
    nothing = m.minimality(0 * codes, factors, **ABOUT, **HOW)
    assert (nothing.value, nothing.interval, nothing.details["varying"]) == (0.0, (0.0, 0.0), 0)
    assert m.minimality(0 * codes, factors, **ABOUT, replicates=0).interval is None


def test_sufficiency() -> None:
    codes, factors = mixed()
    matrix, entropy, drawn_matrix, drawn_entropy = tables(codes, factors, 15)
    score = m.sufficiency(codes, factors, **ABOUT, **HOW)
    again = [float((a.max(0) / h).mean()) for a, h in zip(drawn_matrix, drawn_entropy, strict=True)]
    check(score, float((matrix.max(0) / entropy).mean()), again)
    assert score.details["per_factor"] == pytest.approx(by_name(matrix.max(0) / entropy), abs=1e-9)
    assert (score.details["bins"], score.details["seed"], score.details["rows"]) == (15, SEED, 90)


def test_information_of_codes_on_codes() -> None:
    codes, _ = mixed()
    other = codes[:, [0, 3, 1, 1]] + 0.2 * codes[:, ::-1]
    bins = 6
    rows = drawn(len(codes))
    each, own = np.zeros((4, 90)), np.zeros((4, 90))
    for j in range(4):
        left = bins_of(codes[:, j], bins)
        each[j], own[j] = pointwise(bins_of(other[:, j], bins), left), surprise(left)

    def shares(some: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(each[:, some].mean(1) / own[:, some].mean(1))

    score = m.code_information(codes, other, bins=bins, **HOW, calibrate=True)
    check(score, shares(np.arange(90)).mean(), [float(shares(some).mean()) for some in rows])
    assert score.details["per_latent"] == pytest.approx(shares(np.arange(90)), abs=1e-9)
    assert (score.details["bins"], score.details["seed"], score.details["rows"]) == (bins, SEED, 90)
    assert score.ceiling == pytest.approx(0.75)  # itself, but for the constant latent
    assert score.chance is not None
    chance = np.random.default_rng([SEED, zlib.crc32(b"chance")])
    orders = [chance.permutation(90) for _ in range(5)]
    expected = [m.code_information(codes, other[order], bins=bins, replicates=0).value for order in orders]
    assert score.chance.draws == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["mig", "mig_sup", "modularity", "minimality", "sufficiency"])
def test_of_many_rows_some_are_read_and_no_label_of_others(name: str) -> None:
    codes, factors = mixed(gaps=False)
    metric: Callable[..., m.Score] = getattr(m, name)
    score = metric(codes, factors, **ABOUT, points=50, seed=SEED, replicates=0)
    rows = np.sort(np.random.default_rng([SEED, zlib.crc32(b"sample")]).choice(90, 50, replace=False))
    assert score.details["rows"] == 50
    assert metric(codes, factors, **ABOUT, points=90, replicates=0).details["rows"] == 90
    # Values of the continuous factor are cut over all rows, which a smaller table would not know.
    some = m.Table.of(codes[rows], np.delete(factors, 3, 1)[rows], kinds=KINDS[:3], sizes=SIZES[:3])
    whole = metric(
        codes, np.delete(factors, 3, 1), kinds=KINDS[:3], sizes=SIZES[:3], points=50, seed=SEED, replicates=0
    )
    assert whole.value == pytest.approx(metric(some, replicates=0).value, abs=1e-12)
