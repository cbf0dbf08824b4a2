"""The numbers behind verdicts: courses of losses, errors on held-out data, what PCA leaves, and where chance ends."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA

from unbraid.evaluation import verdict
from unbraid.evaluation.generalisation import (
    explained_by_pca,
    is_overfitted,
    lagging,
    overfitting,
    row_errors,
    times_worse,
)
from unbraid.evaluation.held_out_course import has_lost, turning_point
from unbraid.evaluation.loss_course import NOT_SLOWING, logged_loss, spread, steps_to_rest
from unbraid.evaluation.verdict import (
    against_chance,
    pca_error,
    reconstruction,
    remedies,
    rounded,
)

Array = Any


def clearly_worse(held_out: Array, training: Array) -> bool:
    a, b = np.log(held_out), np.log(training)
    noise = np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    return bool(a.mean() - b.mean() > 3 * noise and a.mean() - b.mean() > np.log(1.2))


def test_overfitting_is_a_clear_and_certain_difference_of_logarithms() -> None:
    draws = np.random.default_rng(0)
    seen = set()
    for scale in (0.6, 1.0, 1.1, 1.25, 1.4, 2.0, 4.0):
        for width in (0.05, 0.3, 1.0):
            held_out = scale * np.exp(width * draws.normal(size=12))
            training = np.exp(width * draws.normal(size=40))
            expected = clearly_worse(held_out, training)
            assert is_overfitted(held_out, training) is expected
            seen.add((expected, width))
            ratio = np.exp(np.log(held_out).mean() - np.log(training).mean())
            assert times_worse(held_out, training) == pytest.approx(ratio)
            assert (1 in lagging({1: (held_out, training)})) == (ratio > 1.2)
    assert {True, False} == {one for one, width in seen if width == 0.3}
    alike = np.ones(50)
    assert not is_overfitted(1.19 * alike, alike)  # certain, and too little
    assert is_overfitted(1.21 * alike, alike)
    assert not is_overfitted(9 * alike[:4], alike)  # too few to tell
    assert is_overfitted(9 * alike[:5], alike)
    assert times_worse(0 * alike, alike) == pytest.approx(1e-12)


def test_errors_are_means_over_values_of_each_row() -> None:
    x = np.arange(12.0).reshape(3, 4)
    made = x.reshape(3, 2, 2) + np.arange(3.0)[:, None, None]
    assert row_errors(x, made).tolist() == [0.0, 1.0, 4.0]


def test_what_pca_leaves_of_other_rows() -> None:
    draws = np.random.default_rng(0)
    known, new = draws.normal(size=(40, 6)) @ draws.normal(size=(6, 6)), 2 + draws.normal(size=(10, 6))
    for codes in (1, 3):
        model = PCA(codes).fit(known)
        expected = ((new - model.inverse_transform(model.transform(new))) ** 2).mean()
        assert explained_by_pca(new, known, codes) == pytest.approx(expected)
        own = ((known - model.inverse_transform(model.transform(known))) ** 2).mean()
        assert pca_error(known, codes) == pytest.approx(own)
        few = known[:4]
        model = PCA(codes).fit(few)
        assert pca_error(few, codes) == pytest.approx(
            ((few - model.inverse_transform(model.transform(few))) ** 2).mean()
        )


def test_a_course_turns_where_the_average_of_five_is_lowest() -> None:
    steps = np.arange(1.0, 31.0) * 100

    def course(low: int, rise: float, wave: float = 0.1) -> Array:
        fall = np.concatenate([np.linspace(10, 0, low + 1)[:-1], np.linspace(0, rise, 30 - low)])
        return fall + wave * (np.arange(30) % 2)

    smooth = np.convolve(course(10, 5.0), np.ones(5) / 5, mode="valid")
    assert turning_point(steps, course(10, 5.0)) == steps[smooth.argmin() + 2]
    assert turning_point(steps, course(10, 0.3)) is None  # as much as chance would do: 8 times the noise of an average
    noise = np.median(np.abs(np.diff(course(10, 0.45)))) / np.sqrt(5)
    smooth = np.convolve(course(10, 0.45), np.ones(5) / 5, mode="valid")
    expected = smooth[-1] - smooth.min() > 8 * noise
    assert (turning_point(steps, course(10, 0.45)) is not None) == expected
    assert turning_point(steps, course(24, 5.0)) is None  # later than at 0.7 of the training: little was lost
    assert turning_point(steps[:19], course(10, 5.0)[:19]) is None
    assert turning_point(steps[:20], course(5, 5.0)[:20]) is not None


def test_a_quarter_of_its_fall_is_harm() -> None:
    assert has_lost(np.array([10.0, 2.0, 4.01]))
    assert not has_lost(np.array([10.0, 2.0, 3.99]))
    assert has_lost(np.array([2.0, 2.0, 2.1]))  # it never fell


def test_how_many_steps_are_missing_of_an_exact_exponential() -> None:
    """Quarters fall by the same ratio each: how many more until one brings less than a hundredth of all?"""
    steps = np.arange(1.0, 401.0)
    for ratio in (0.5, 0.8):
        level = 3 + 100 * ratio ** (steps / 100)
        quarters = [level[100 * k : 100 * (k + 1)].mean() for k in range(4)]
        fall = quarters[2] - quarters[3]
        assert fall / (quarters[1] - quarters[2]) == pytest.approx(ratio)
        least = 0.01 * (level[:8].mean() - quarters[3])
        noise = np.sqrt(sum(np.diff(level[100 * k : 100 * (k + 1)]).std() ** 2 / 2 / 100 for k in (2, 3)))
        assert fall > 3 * noise
        expected = int(np.ceil(np.log(least / fall) / np.log(ratio) * 100))
        assert steps_to_rest(steps, level) == expected
    assert steps_to_rest(steps, 3 + 100 * 0.96 ** (steps / 100)) == NOT_SLOWING
    assert steps_to_rest(steps, 3 + 100 * 0.94 ** (steps / 100)) not in (NOT_SLOWING, 0, None)
    assert steps_to_rest(steps, 3 + 100 * 0.01 ** (steps / 100)) == 0
    assert steps_to_rest(steps[:39], steps[:39]) is None
    sparse = np.concatenate([np.arange(1.0, 39.0), [390.0, 400.0]])  # the later quarters hold too few points
    assert steps_to_rest(sparse, 100 - sparse / 10) is None
    noisy = 5 + np.random.default_rng(0).normal(size=400) - 0.001 * steps
    assert steps_to_rest(steps, 90 * 0.01 ** (steps / 50) + noisy) == 0


def test_spread_is_that_of_the_noise_and_not_of_the_trend() -> None:
    noise = np.random.default_rng(0).normal(scale=0.3, size=20_000)
    assert spread(noise + np.arange(20_000)) == pytest.approx(0.3, rel=0.03)
    assert [rounded(count) for count in (7, 14, 15, 26, 4321, 96_000)] == [7, 10, 20, 30, 4000, 100_000]


@pytest.mark.parametrize(
    ("left", "baseline", "level", "part"),
    [
        (0.3, 0.3, "good", "lose 30 % of the variance; PCA with as many codes (2) loses 30 %."),
        (0.32, 0.3, "good", "lose 32 % of the variance"),
        (0.34, 0.3, "bad", "loses 30 %: try this."),
        (0.995, 0.3, "bad", "no better than the mean of the data: try this."),
        (0.994, None, "note", "the mean of the data loses all of it."),
        (0.49, None, "good", "lose 49 % of the variance; the mean of the data loses all of it."),
        (0.5, None, "note", "lose 50 %"),
    ],
)
def test_what_is_said_of_reconstructions(left: float, baseline: float | None, level: str, part: str) -> None:
    said = reconstruction(left, baseline, 2, " of stage 1", "try this")
    assert said.level == level
    assert part in said.text
    assert said.text.startswith("Reconstructions of stage 1")


def test_remedies() -> None:
    assert remedies(adjustable=True, at_rest=False) == "lower β or train longer"
    assert remedies(adjustable=False, at_rest=False) == "train longer"
    assert remedies(adjustable=True, at_rest=True) == "lower β"
    assert remedies(adjustable=False, at_rest=True) == "try another method or seed"


@pytest.mark.parametrize(
    ("interval", "beyond", "level"),
    [((0.2, 0.4), True, "good"), ((0.09, 0.4), True, "bad"), ((0.1, 0.4), True, "bad"), ((0.2, 0.4), False, "bad")],
)
def test_where_chance_ends(interval: tuple[float, float], beyond: bool, level: str) -> None:
    entry = {"value": 0.3, "interval": interval, "chance": {"mean": 0.1}, "ceiling": 0.9, "beyond_chance": beyond}
    nothing: Any = None
    (said,) = against_chance(nothing, nothing, {"mig": entry})
    assert said.level == level
    assert said.text.startswith(f"MIG is 0.30 ({interval[0]:.2f} to {interval[1]:.2f})")
    assert list(against_chance(nothing, nothing, {"mig": entry | {"interval": None}})) == []
    assert list(against_chance(nothing, nothing, {})) == []
    (other,) = against_chance(nothing, nothing, {"mig": entry, "without-labels/mig": entry | {"value": 0.25}})
    assert other.text.startswith("MIG is 0.25")


def test_errors_are_shares_of_the_variance_around_the_mean_of_training_data(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.random.default_rng(0)
    x = draws.normal(size=(60, 5)) @ draws.normal(size=(5, 5)) + 3
    made = {1: x + 0.5 * draws.normal(size=x.shape), 2: x + 0.1 * draws.normal(size=x.shape)}
    held, seen = np.arange(20), np.arange(20, 60)
    made[2][held] += draws.normal(size=(20, 5))  # it knows its training data by heart
    parts: Any = {"held-out": held, "training": seen, "all": np.arange(60)}
    said: list[tuple[Any, ...]] = []
    table = SimpleNamespace(codes=np.tile([[0.0, 0.0], [9.0, 1.0]], (5, 1)), information=None)
    run: Any = SimpleNamespace(
        plan=SimpleNamespace(data={"n": 60}, stages=[1, 2]),
        data=SimpleNamespace(observations=x),
        codes=lambda **_: SimpleNamespace(table=lambda number: table),
        preprocessing=SimpleNamespace(counts=False),
    )
    monkeypatch.setattr(verdict, "reconstructing", lambda run: [1, 2])
    monkeypatch.setattr(verdict, "some_rows", lambda run, part: parts[part])
    monkeypatch.setattr(verdict, "outputs", lambda run, rows, show, labels: [made[1][rows], made[2][rows]])
    monkeypatch.setattr(verdict, "comparable", lambda run, rows: rows)
    monkeypatch.setattr(verdict, "reconstruction", lambda *given: said.append(given))
    for several in (True, False):
        monkeypatch.setattr(verdict, "parts_of", lambda run, m, s=several: ("held-out", "training") if s else ("all",))
        said.clear()
        _, errors = verdict.against_pca(run, False, "mend it")
        rows, known = (held, seen) if several else (np.arange(60), np.arange(60))
        variance = ((x[rows] - x[known].mean(0)) ** 2).mean()
        for number, (left, baseline, codes, where, cure) in enumerate(said, 1):
            assert left == pytest.approx(((x[rows] - made[number][rows]) ** 2).mean() / variance)
            assert codes == 2 * number
            model = PCA(codes).fit(x[known])
            expected = ((x[rows] - model.inverse_transform(model.transform(x[rows]))) ** 2).mean() / variance
            assert baseline == pytest.approx(expected)
            assert where == f" of stage {number}" + (" of held-out data" if several else "")
            pair = [((x[part] - made[number][part]) ** 2).mean(1) for part in (held, seen)]
            by_heart = several and is_overfitted(*pair)
            assert by_heart == (several and number == 2)
            plain = "mend it" if number == 1 else "train it longer"
            assert cure == ("it has learned its training data by heart, see below" if by_heart
                            else f"{plain}, or widen the network")  # fmt: skip
        assert set(errors) == ({1, 2} if several else set())
        for number, (of_held, of_seen) in errors.items():
            total = ((x[held] - x[seen].mean(0)) ** 2).mean()
            assert of_held == pytest.approx(((x[held] - made[number][held]) ** 2).mean(1) / total)
            assert of_seen == pytest.approx(((x[seen] - made[number][seen]) ** 2).mean(1) / total)


def test_a_log_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"step": 20, "vae/total": 3}\n{"step": 10, "vae/total": 5}\n{"step": 30, "vae/total": NaN}\n{"st')
    steps, loss = logged_loss(path)
    assert (steps.tolist(), loss.tolist()) == ([10.0, 20.0], [5.0, 3.0])
    assert logged_loss(tmp_path / "none")[0].tolist() == []


def test_what_is_lost_beside_a_hundredth_of_the_variance_is_no_fault() -> None:
    """A table of five sources in twenty columns: 0.4 % lost, PCA 0.3 %, and 1.4 times the error of training data."""
    said = verdict.reconstruction(0.004, 0.003, 5, "", "train longer")
    assert said.level == "good"
    assert said.text == "Reconstructions lose 0.4 % of the variance; PCA with as many codes (5) loses 0.3 %."
    assert verdict.reconstruction(0.031, 0.02, 5, "", "train longer").level == "bad", "1.1 % more"
    assert verdict.reconstruction(0.029, 0.02, 5, "", "train longer").level == "good", "0.9 % more"
    training = np.tile([0.002, 0.004], 50)
    (small,) = overfitting({1: (1.4 * training, training)})
    assert small.level == "good"
    assert "1.4 times the error of training data, 0.4 % of the variance" in small.text
    (large,) = overfitting({1: (14 * training, 10 * training)})
    assert large.level == "bad"
