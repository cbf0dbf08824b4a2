"""What holds of every metric that is no function of one table: errors, distances, codes of several models."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.errors import InputError
from unbraid.metrics.suite import SUITE

from .test_properties import drawn

Values = NDArray[np.float64]


@st.composite
def arrays(draw: st.DrawFn, rows: int = 12, columns: int = 3, copies: int = 2) -> list[Values]:
    """Arrays of the same shape: of any scale, far from zero, constant in a column, or one like another."""
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    shape = (draw(st.integers(1, rows)), draw(st.integers(1, columns)))
    scale, shift = 10.0 ** draw(st.integers(-8, 8)), draw(st.sampled_from([0.0, 1e5]))
    found = [random.normal(size=shape) * scale + shift for _ in range(copies)]
    if draw(st.booleans()):
        found[-1] = found[0].copy()
    if draw(st.booleans()):
        found[0][:, 0] = shift
    return found


def labels(n: int, sizes: int = 3, seed: int = 0) -> Values:
    return np.random.default_rng(seed).integers(sizes, size=(n, 1)).astype(float)


# How to call what takes more than one table, with arrays of one shape.
CALLS: dict[str, Any] = {
    "udr": lambda a: metrics.udr(a, replicates=0),
    "leakage": lambda a: metrics.leakage(a[0], labels(len(a[0])), replicates=0),
    "factor_leakage": lambda a: metrics.factor_leakage(
        a[0], np.hstack([labels(len(a[0])), labels(len(a[0]), 4, 1)]), replicates=0
    ),
    "conditioning": lambda a: metrics.conditioning(*a, replicates=0),
    "downstream_by_stage": lambda a: metrics.downstream_by_stage(
        a[0], a[1], labels(len(a[0])), probe="linear", replicates=0
    ),
    "identity_change": lambda a: metrics.identity_change(np.stack(a, axis=1), replicates=0),
    "class_accuracy": lambda a: metrics.class_accuracy(
        labels(len(a[0]))[:, 0], labels(len(a[0]), 4, 1)[:, 0], replicates=0
    ),
    "l1": lambda a: metrics.l1(a[0], a[1], replicates=0),
    "l2": lambda a: metrics.l2(a[0], a[1], replicates=0),
    "lpips": lambda a: metrics.lpips(np.abs(a[0][:, 0]), replicates=0),
    "fid": lambda a: metrics.fid(a[0], a[1], replicates=0),
    "kid": lambda a: metrics.kid(a[0], a[1], replicates=0),
}


def test_every_metric_of_the_catalogue_is_tested() -> None:
    assert set(CALLS) | set(SUITE) == set(metrics.METRICS)


@pytest.mark.parametrize("name", CALLS)
@drawn
@given(data=arrays(copies=5))
def test_a_value_in_its_range_or_a_sentence(name: str, data: list[Values]) -> None:
    try:
        with np.errstate(all="ignore"):
            found = CALLS[name](data)
    except InputError:
        return
    for part, score in (found if isinstance(found, dict) else {"": found}).items():
        low, high = metrics.METRICS[name].display(part).range
        scale = 1e-9 * max(1.0, float(np.square(data[0]).max()))  # sums of squares far from zero lose as many digits
        assert score.details.get("seed", 0) == 0, part
        assert np.isfinite(score.value), part
        assert low is None or score.value >= low - scale, part
        assert high is None or score.value <= high + 1e-9, part


@pytest.mark.parametrize("name", ["l1", "l2", "fid", "kid"])
@drawn
@given(data=arrays(), seed=st.integers(0, 99))
def test_distances_are_symmetric_and_know_no_order_of_rows(name: str, data: list[Values], seed: int) -> None:
    a, b = (np.vstack([part - part.mean(0)] * 2) for part in data)
    rows = np.random.default_rng(seed).permutation(len(a))
    there, back, mixed = (CALLS[name](pair).value for pair in ([a, b], [b, a], [a[rows], b[rows]]))
    scale = 1e-7 * max(1e-12, float(np.abs(a).max()) ** (6 if name == "kid" else 2 if name in ("fid", "l2") else 1))
    assert back == pytest.approx(there, rel=1e-6, abs=scale)
    assert mixed == pytest.approx(there, rel=1e-6, abs=scale)


@pytest.mark.parametrize(("name", "power"), [("l1", 1), ("l2", 2), ("fid", 2)])
@drawn
@given(data=arrays(), factor=st.sampled_from([0.5, 2.0, 1024.0]))
def test_distances_grow_with_the_unit(name: str, power: int, data: list[Values], factor: float) -> None:
    a, b = (np.vstack([part - part.mean(0)] * 3) for part in data)
    before, after = CALLS[name]([a, b]).value, CALLS[name]([a * factor, b * factor]).value
    scale = 1e-7 * (factor * float(np.abs(a).max() + np.abs(b).max())) ** power
    assert after == pytest.approx(before * factor**power, rel=1e-6, abs=scale)


@drawn
@given(seed=st.integers(0, 999), models=st.integers(2, 4))
def test_udr_knows_no_order_nor_sign_of_latents_nor_order_of_models(seed: int, models: int) -> None:
    random = np.random.default_rng(seed)
    base = random.normal(size=(40, 3))
    codes = [base @ random.normal(size=(3, 3)) for _ in range(models)]
    changed = [part[:, random.permutation(3)] * random.choice([-1, 1], 3) for part in codes]
    before = metrics.udr(codes, replicates=0).value
    assert metrics.udr(changed, replicates=0).value == pytest.approx(before, abs=1e-9)
    assert metrics.udr(codes[::-1], replicates=0).value == pytest.approx(before, abs=1e-9)
    assert metrics.udr([part**3 for part in codes], replicates=0).value == pytest.approx(before, abs=1e-9), "ranks"


@drawn
@given(seed=st.integers(0, 999), stretch=st.sampled_from([1e-9, 0.1, 1e9]))
def test_conditioning_compares_latent_by_latent_whatever_their_units(seed: int, stretch: float) -> None:
    random = np.random.default_rng(seed)
    codes = [random.normal(size=(60, 3)) for _ in range(5)]
    codes[1] = codes[0] + 0.3 * codes[1]
    before = metrics.conditioning(*codes, replicates=0)
    after = metrics.conditioning(*(part[:, [2, 0, 1]] * stretch for part in codes), replicates=0)
    assert {k: v.value for k, v in after.items()} == pytest.approx({k: v.value for k, v in before.items()}, abs=1e-9)
    assert metrics.code_information(codes[0], codes[0], replicates=0).value == pytest.approx(1)


@drawn
@given(seed=st.integers(0, 999), classes=st.integers(2, 5))
def test_best_names_of_classes_know_no_numbers(seed: int, classes: int) -> None:
    random = np.random.default_rng(seed)
    true = np.concatenate([np.arange(classes), random.integers(classes, size=20)])
    guessed = np.where(random.random(len(true)) < 0.3, random.integers(classes, size=len(true)), true)
    renamed = random.permutation(classes)[guessed]
    before = metrics.class_accuracy(guessed, true, naming="best", replicates=0).value
    assert metrics.class_accuracy(renamed, true, naming="best", replicates=0).value == pytest.approx(before)
    assert before >= metrics.class_accuracy(guessed, true, replicates=0).value - 1e-12


def test_intervals_have_two_sides() -> None:
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 60, 3))
    identities = random.normal(size=(20, 1, 3)) + random.normal(size=(1, 6, 3)) + random.normal(size=(20, 6, 3))
    scores = {
        "l1": metrics.l1(a, b),
        "l2": metrics.l2(a, b),
        "lpips": metrics.lpips(np.abs(a[:, 0])),
        "fid": metrics.fid(a, b + 1),
        "kid": metrics.kid(a, b + 1),
        "identity_change": metrics.identity_change(identities),
        "class_accuracy": metrics.class_accuracy(a[:, 0] > 0, a[:, 0] + b[:, 0] > 0),
    }
    for name, score in scores.items():
        assert score.interval is not None, name
        assert score.interval[0] < score.value < score.interval[1], name
        assert score.interval[1] - score.interval[0] < 1.5 * score.value, name


def test_the_derivative_of_the_frechet_distance_is_of_centred_features() -> None:
    """Moved as a whole, far from zero, the interval is the same."""
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 80, 2))
    near, far = metrics.fid(a, 2 * b).interval, metrics.fid(a + 50, 2 * b + 50).interval
    assert near is not None
    assert far == pytest.approx(near, rel=1e-6)
