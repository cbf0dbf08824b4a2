"""Where a score stands: what chance gives on its table, and what perfect codes get there."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from unbraid import metrics as m
from unbraid.errors import InputError
from unbraid.metrics.score import Chance, Score

from .conftest import grid, random_table


def test_a_score_is_placed_between_chance_and_ceiling() -> None:
    score = Score(0.4, chance=Chance((0.1, 0.2, 0.3)), ceiling=1.0)
    assert score.chance is not None
    assert score.chance.mean == pytest.approx(0.2)
    assert score.chance.spread == pytest.approx(0.1)
    assert score.relative == pytest.approx(0.25)
    # Three draws: Student's t with two degrees of freedom is 4.30, so that 0.2 + 4.30 · 0.1 · √(4/3) = 0.697.
    assert score.beyond_chance is False
    assert Score(0.70, chance=score.chance, ceiling=1.0).beyond_chance is True
    assert score.p_value == pytest.approx(1 / 4)
    assert Score(0.2, chance=score.chance, ceiling=1.0).p_value == pytest.approx(3 / 4)


def test_where_lower_is_better_ahead_is_below() -> None:
    score = Score(0.05, chance=Chance((0.3, 0.31, 0.29, 0.3)), ceiling=0.0)
    assert score.relative == pytest.approx(0.25 / 0.3)
    assert score.beyond_chance is True
    assert score.p_value == pytest.approx(1 / 5)
    assert Score(0.4, chance=score.chance, ceiling=0.0).beyond_chance is False


def test_json_holds_where_a_score_stands_and_old_entries_do_without() -> None:
    entry = Score(0.5, chance=Chance((0.1, 0.3), "with train 20"), ceiling=0.8).to_json()
    assert json.loads(json.dumps(entry, allow_nan=False)) == {
        "value": 0.5,
        "interval": None,
        "details": {},
        "chance": {"mean": 0.2, "spread": pytest.approx(math.sqrt(0.02)), "draws": [0.1, 0.3], "how": "with train 20"},
        "ceiling": 0.8,
        "relative": pytest.approx(0.5),
        "beyond_chance": False,
    }
    assert set(Score(0.5).to_json()) == {"value", "interval", "details"}


def test_chance_is_the_metric_of_permuted_factors() -> None:
    codes, factors = random_table(400)
    score = m.mig(codes, factors, calibrate=4, replicates=0)
    assert score.chance is not None
    assert len(score.chance.draws) == 4
    from unbraid.metrics._shared.bootstrap import stream

    for number, value in enumerate(score.chance.draws):
        order = stream(0, f"chance {number}").permutation(400)
        assert m.mig(codes, factors[order], replicates=0).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in m.SUITE if m.METRICS[name].needs == "codes, factors"])
def test_random_orders_find_nothing_of_what_the_table_remembers(name: str) -> None:
    """What copies share must not change a draw: the same from a table that knows much and from a fresh one."""
    codes, factors = random_table(300)
    factors = factors[:, [0, 1, 2]]
    function = m.METRICS[name].function
    used = m.as_table(codes, factors)
    function(used, replicates=0)
    m.mig(used, calibrate=True)
    warm, cold = (function(table, calibrate=2, replicates=0) for table in (used, m.as_table(codes, factors)))
    many = {"": warm} if isinstance(warm, Score) else warm
    for part, score in many.items():
        other = cold if isinstance(cold, Score) else cold[part]
        assert score.chance == other.chance
        assert score.ceiling == other.ceiling


def test_the_ceiling_is_what_perfect_codes_get() -> None:
    factors = grid(2, 3, 4, repeats=25)
    codes = np.random.default_rng(0).normal(size=(len(factors), 6))
    assert m.mig(codes, factors, calibrate=2).ceiling == pytest.approx(1.0)
    # 40 values in 20 bins: log 20/log 40 of the entropy is all that there is to have.
    fine = m.mig(codes[:200, :2], np.arange(200) % 40, calibrate=2)
    assert fine.ceiling == pytest.approx(np.log(20) / np.log(40), abs=1e-6)
    # As wide as the codes are: an SVM with a penalty sees the scale.
    wide, narrow = (m.sap(scale * codes, factors, calibrate=2).ceiling for scale in (10.0, 0.01))
    assert wide is not None
    assert narrow is not None
    assert wide > narrow + 0.1


def test_missing_labels_have_a_ceiling_and_a_chance_level() -> None:
    codes, factors = random_table(600)
    factors[::3, 1] = np.nan
    score = m.mig(codes, factors, calibrate=True)
    assert score.ceiling == pytest.approx(1.0, abs=0.05)
    assert score.beyond_chance


def test_noise_is_said_to_be_no_better_than_chance() -> None:
    draws = np.random.default_rng(5)
    factors = grid(3, 4, repeats=60)
    scores = m.suite(draws.normal(size=(len(factors), 4)), factors, seed=1, replicates=0)
    calibrated = {name: score for name, score in scores.items() if score.chance}
    assert {"mig", "sap", "dci", "modularity", "mcc", "irs", "factor_score", "downstream"} <= set(calibrated)
    # One of forty may be beyond by accident; with eighteen scores, two would be a surprise.
    assert sum(bool(score.beyond_chance) for score in calibrated.values()) <= 2
    assert calibrated["modularity"].value > 0.3, "noise has a high modularity, which only its chance level gives away"


def test_good_codes_are_beyond_chance_and_near_the_ceiling() -> None:
    codes, factors = random_table(600, noise=0.01)
    for name, score in m.suite(codes, factors, metrics=["mig", "sap_threshold", "mcc", "explicitness"]).items():
        assert score.beyond_chance, name
        assert score.relative is not None
        assert score.relative > 0.6, name


def test_a_single_function_calibrates_on_request_only() -> None:
    codes, factors = random_table(200)
    assert m.mcc(codes, factors).chance is None
    assert m.suite(codes, factors, metrics=["mcc"], calibrate=False)["mcc"].chance is None
    with pytest.raises(InputError, match="give 2 or more"):
        m.mcc(codes, factors, calibrate=-1)


def test_costly_draws_say_what_they_leave_out() -> None:
    codes, factors = random_table(3200)
    score = m.explicitness(codes, factors, train=2100, test=1000, calibrate=2)
    assert score.chance is not None
    assert score.chance.how == "with train 2,000"
    assert abs(score.chance.mean) < 0.1


def test_independent_codes_have_a_floor_in_m4() -> None:
    draws = np.random.default_rng(0)
    codes, others = draws.normal(size=(2, 10_000, 3))
    score = m.code_information(codes, others, replicates=0, calibrate=True)
    assert score.chance is not None
    assert score.chance.mean == pytest.approx(0.006, abs=0.002)  # about (20 − 1)²/2n nats of 2.5
    assert score.ceiling == pytest.approx(1.0)
    assert score.beyond_chance is False


def test_what_is_published_is_what_is_measured() -> None:
    from unbraid.metrics.keys import MetricKey
    from unbraid.metrics.standing import published

    known = published()
    reading_factors = {name for name in m.SUITE if "factors" in m.METRICS[name].needs}
    assert {MetricKey.parse(name).metric for name in known["scores"]} == reading_factors, "run benchmarks/standing.py"
    text = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    rows = text.partition("<!-- standing -->")[2].partition("<!-- /standing -->")[0].split("\n")
    shown = {row.split("`")[1]: float(row.split("|")[4].strip()) for row in rows if row.startswith("| `")}
    # The file has four digits, the page three: what is rounded twice may differ by one in the last.
    assert shown == pytest.approx({name: entry["ceiling"] for name, entry in known["scores"].items()}, abs=6e-4)
