"""Tables, checks, places of scores, calibration and the suite: what each part does, one by one."""

from __future__ import annotations

import dataclasses
import importlib
import math
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from unbraid import metrics as m
from unbraid.errors import InputError
from unbraid.metrics import sparse
from unbraid.metrics._shared import calibration, numbers
from unbraid.metrics._shared.bootstrap import stream
from unbraid.metrics._shared.calibration import random_order
from unbraid.metrics._shared.checks import unlabelled_table
from unbraid.metrics._shared.table import Table, matrix
from unbraid.metrics.score import Chance, Score, verdict
from unbraid.metrics.standing import markdown
from unbraid.metrics.usage import in_use

from .conftest import random_table
from .hand import KINDS, NAMES, SIZES, groups, levels, mixed


def kind_of(values: Any) -> str:
    column = np.asarray(values, dtype=float)[:, None]
    return m.as_table(np.zeros((len(column), 1)), column).kinds[0]


def test_whole_numbers_that_recur_are_values_and_others_are_measured() -> None:
    assert kind_of(np.arange(10)) == "ordinal"  # up to ten, whatever they are
    assert kind_of(np.arange(11)) == "continuous"
    assert kind_of(np.r_[np.arange(15), np.arange(15)]) == "ordinal"  # each twice
    assert kind_of(np.r_[np.arange(16), np.arange(14)]) == "continuous"
    half = np.arange(40) % 4 + 0.5
    assert kind_of(half) == "ordinal"  # one in ten
    assert kind_of(np.r_[half[:-1], 9.5]) == "continuous"
    assert kind_of([0.5, 1.5, 0.5]) == "ordinal"  # two
    assert kind_of([0.5, 1.5, 2.5]) == "continuous"
    assert kind_of(np.tile(np.arange(256) + 0.5, 10)) == "ordinal"
    assert kind_of(np.tile(np.arange(257) + 0.5, 10)) == "continuous"
    assert kind_of([0.0, np.nan, 1.0, 3.0]) == "ordinal"


def test_labels_of_every_kind() -> None:
    codes, factors = mixed()
    table = m.as_table(codes, factors, kinds=KINDS, sizes=SIZES, names=NAMES)
    assert table.discrete == (True, True, True, False)
    assert table.periods == (0.0, 0.0, 5.0, 0.0)
    for k in range(4):
        for found, expected in ((table.levels(k), levels(factors)[k]), (table.groups(k), groups(factors)[k])):
            assert (found[0] == expected).all()
            assert found[1] == expected.max() + 1
        assert (table.known(k) == ~np.isnan(factors[:, k])).all()
    angle = 2 * np.pi * factors[:, 2] / 5
    assert table.coordinates(2) == pytest.approx(np.stack([np.cos(angle), np.sin(angle)], axis=1))
    np.testing.assert_array_equal(table.coordinates(1), factors[:, 1:2])
    assert table.by_factor(np.array([1.0, 2.0, 3.0, 4.0])) == dict(zip(NAMES, [1, 2, 3, 4], strict=True))
    some = table.with_factors([3, 0])
    assert (some.names, some.kinds, some.sizes) == (("weight", "coin"), ("continuous", "ordinal"), (0.0, 2.0))
    np.testing.assert_array_equal(some.factors, factors[:, [3, 0]])
    assert some.memo == {}
    assert len(table) == 90


def test_a_cyclic_factor_is_discrete_if_its_values_recur() -> None:
    turns = np.tile([0.0, 90.0, 180.0, 270.0], 10)[:, None]
    assert m.as_table(turns, turns, kinds=["cyclic"]).discrete == (True,)
    assert m.as_table(turns, turns, kinds=["cyclic"]).periods == (360.0,)
    any_angle = np.random.default_rng(0).uniform(0, 6, size=(40, 1))
    assert m.as_table(any_angle, any_angle, kinds=["cyclic"]).discrete == (False,)


def test_rows_are_divided_and_drawn_by_the_seed() -> None:
    table = m.as_table(*mixed(60))
    order = stream(2, "split").permutation(60)
    fit, held = table.split(20, 10, 2)
    assert fit.tolist() == order[:20].tolist()
    assert held.tolist() == order[20:30].tolist()
    fit, held = table.split(100, 20, 2)  # in proportion
    assert (len(fit), len(held)) == (50, 10)
    fit, held = table.split(1, 10_000, 2)
    assert (len(fit), len(held)) == (1, 59)
    fit, held = table.split(10_000, 1, 2)
    assert (len(fit), len(held)) == (59, 1)
    assert table.sample(None, 2).tolist() == list(range(60))
    assert table.sample(60, 2).tolist() == list(range(60))
    assert table.sample(59, 2).tolist() == sorted(stream(2, "sample").choice(60, 59, replace=False))


def test_factors_that_do_not_vary_are_left_out_and_named() -> None:
    codes, factors = mixed()
    factors[:, 1], factors[:, 2] = np.nan, 4.0
    table = m.as_table(codes, factors, names=NAMES, allow_constant=True)
    kept = table.varying()
    assert kept.names == ("coin", "weight")
    assert kept.skipped == {"shape": "has no known label", "turn": "has one value only (4)"}
    assert kept.varying() is kept
    assert table.why_constant(0) == ""


def test_matrices_are_numbers_in_rows() -> None:
    assert matrix([1, 2, 3], "factors").shape == (3, 1)
    with pytest.raises(InputError, match=r"codes have shape \(3,\)"):
        matrix([1, 2, 3], "codes")
    with pytest.raises(InputError, match=r"factors have shape \(1, 1, 1\)"):
        matrix([[[1.0]]], "factors")
    table = unlabelled_table(np.arange(6.0).reshape(3, 2), columns=["a", "b"], log_vars=np.ones((3, 2)))
    assert (table.names, table.columns, table.factors.shape) == ((), ("a", "b"), (3, 0))
    np.testing.assert_array_equal(table.log_vars, np.ones((3, 2)))
    with pytest.raises(InputError, match=r"log_vars have shape \(2, 2\) and codes \(3, 2\)"):
        m.as_table(np.zeros((3, 2)), np.arange(3), log_vars=np.zeros((2, 2)))
    with pytest.raises(InputError, match=r"codes have shape \(3, 0\)"):
        m.as_table(np.zeros((3, 0)), np.arange(3))
    with pytest.raises(InputError, match="there are 1 sizes for 2 factors"):
        m.as_table(np.zeros((3, 1)), np.arange(6).reshape(3, 2), sizes=[2.0])
    for value, bad in ((1e150, False), (-1e150, False), (1.1e150, True), (-1.1e150, True)):
        codes = np.array([[0.0], [value], [1.0]])
        if bad:
            with pytest.raises(InputError, match="whose squares are too large"):
                numbers.numbers(codes, "codes")
        else:
            assert numbers.numbers(codes, "codes")[1, 0] == value
    assert np.isnan(numbers.numbers([[np.nan], [1.0]], "factors", missing=True)[0, 0])
    assert numbers.numbers(np.zeros((0, 2)), "codes").shape == (0, 2)


def test_ratios_have_a_value_where_there_is_nothing_to_divide_by() -> None:
    top, bottom = np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.0, 0.1])
    assert numbers.ratio(top, bottom, 7.0).tolist() == pytest.approx([0.5, 7.0, 30.0])
    assert numbers.ratio(top, bottom, 7.0, least=0.1).tolist() == [0.5, 7.0, 7.0]
    assert numbers.ratio(np.ones(1), bottom, 0.0).tolist() == pytest.approx([0.5, 0.0, 10.0])


def test_a_latent_is_in_use_if_it_moves_and_says_something() -> None:
    codes = np.array([[0.0, 0.0, 0.0], [0.2, 0.199, 5.0]])
    table = Table.of(codes, np.zeros((2, 0)))
    assert in_use(table).tolist() == [True, False, True]  # variances of 0.01, less, and more
    said = Table.from_arrays({"codes": codes, "information": np.array([0.05, 1.0, 0.049])})
    assert in_use(said).tolist() == [True, False, False]


def test_how_far_chance_reaches() -> None:
    """Student's t at 97.5 % for few draws, near the normal's for many, of one more draw."""
    from scipy.stats import t

    for count in (2, 3, 5, 10, 11, 30, 100):
        draws = tuple(np.random.default_rng(count).normal(size=count))
        chance = Chance(draws)
        assert chance.mean == pytest.approx(np.mean(draws))
        assert chance.spread == pytest.approx(np.std(draws, ddof=1))
        exact = t.ppf(0.975, count - 1) * chance.spread * math.sqrt(1 + 1 / count)
        assert chance.reach == pytest.approx(exact, rel=0.01)
    assert math.isnan(Chance((0.3,)).spread)
    known = Chance((0.1, 0.2, 0.3))
    for value in (known.mean + known.reach - 1e-6, known.mean + known.reach + 1e-6):
        assert Score(value, chance=known, ceiling=1.0).beyond_chance is (value > known.mean + known.reach)
    assert Score(0.5).beyond_chance is None
    assert Score(0.5).p_value is None
    assert Score(0.5).relative is None
    assert Score(0.5, chance=known).relative is None
    assert Score(0.5, chance=known, ceiling=known.mean).relative is None
    assert Score(math.nan, chance=known).beyond_chance is None
    assert Score(math.nan, chance=known).p_value is None
    assert Score(0.9, chance=Chance((0.3,))).beyond_chance is None
    assert Score(0.3, chance=known).p_value == pytest.approx(2 / 4)
    assert float(Score(0.25)) == 0.25


def test_scores_become_plain() -> None:
    details: Any = {1: np.float32(0.5), "a": np.arange(2), "b": (np.nan, math.inf, 1), "c": {"d": [True, None, "word"]}}
    about = m.Display("Title", "what", "lower", (0.0, None))
    entry = Score(math.inf, (0.0, math.nan), details, about).to_json()
    assert entry == {
        "value": None,
        "interval": [0.0, None],
        "details": {"1": 0.5, "a": [0, 1], "b": [None, None, 1], "c": {"d": [True, None, "word"]}},
        "about": {"title": "Title", "description": "what", "better": "lower", "range": [0.0, None]},
    }
    assert verdict({"error": "no rows"}) == "not computed: no rows"
    assert verdict({}) == ""
    assert verdict({"holds": True, "rank": 4, "needed": 4}) == "L has rank 4 of 4: holds"
    assert verdict({"holds": False, "rank": 3, "needed": 4}) == "L has rank 3 of 4: does not hold"


def test_chance_levels_are_shown_in_a_table() -> None:
    scores = {
        "mig": Score(0.1234, chance=Chance((0.1, 0.2)), ceiling=0.98765),
        "leakage": Score(-0.0001, chance=Chance((-0.0001, 0.0001))),
        "kl": Score(3.0),
    }
    assert markdown(scores).split("\n")[2:] == [
        "| `mig` | 0.123 | 0.150 ± 0.071 | 0.988 |",
        "| `leakage` | 0.000 | 0.000 ± 0.000 | – |",
    ]


def test_a_random_order_moves_labels_and_leaves_codes_and_rows() -> None:
    table = m.as_table(*mixed(), kinds=KINDS, sizes=SIZES)
    m.mig(table, points=40, replicates=0)
    m.explicitness(table.with_factors([0, 1]), replicates=0)
    table.split(30, 20, 1)
    moved = random_order(table, 4, 2)
    order = stream(4, "chance 2").permutation(90)
    np.testing.assert_array_equal(moved.factors, table.factors[order])
    assert moved.codes is table.codes
    for k in range(4):
        fresh = m.as_table(table.codes, table.factors[order], kinds=KINDS, sizes=SIZES)
        for mine, own in ((moved.levels(k), fresh.levels(k)), (moved.groups(k), fresh.groups(k))):
            assert (mine[0] == own[0]).all()
            assert mine[1] == own[1]
    assert moved.split(30, 20, 1)[0].tolist() == table.split(30, 20, 1)[0].tolist()
    assert not any(key[0] == "information" for key in moved.memo if isinstance(key, tuple))
    assert random_order(table, 4, 2) is moved
    assert random_order(table, 4, 3) is not moved


def test_tables_of_many_rows_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "_KEPT_ROWS", 89)
    table = m.as_table(*mixed())
    assert random_order(table, 4, 2) is not random_order(table, 4, 2)
    monkeypatch.setattr(calibration, "_KEPT_ROWS", 90)
    assert random_order(table, 4, 2) is random_order(table, 4, 2)


def draws_of(score: Score) -> tuple[float, ...]:
    assert score.chance is not None
    return score.chance.draws


def test_each_metric_has_its_number_of_draws_and_its_lighter_options() -> None:
    codes, factors = random_table(120)
    table = m.as_table(codes, factors[:, :2])
    assert len(draws_of(m.mig(table, replicates=0, calibrate=True))) == 10
    assert len(draws_of(m.mcc(table, replicates=0, calibrate=True))) == 5
    assert len(draws_of(m.irs(table, replicates=0, calibrate=True))) == 3
    assert len(draws_of(m.irs(table, replicates=0, calibrate=2))) == 2
    with pytest.raises(InputError, match="give 2 or more"):
        m.irs(table, calibrate=-3)
    light = m.beta_score(table, train=1500, test=40, replicates=0, calibrate=2)
    assert light.chance is not None
    assert light.chance.how == "with train 1,000"  # the table's size does not matter to draws of pairs
    expected = [m.beta_score(random_order(table, 0, i), train=1000, test=40, replicates=0).value for i in range(2)]
    assert draws_of(light) == pytest.approx(expected)
    same = m.explicitness(table, train=5000, test=2500, replicates=0, calibrate=2)
    assert same.chance is not None
    assert same.chance.how == ""  # fewer rows than are asked for: nothing to leave out
    assert m.leakage(table, replicates=0, calibrate=2).ceiling is None  # chance is the best there is


def test_a_draw_that_cannot_be_made_does_not_cost_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, factors = random_table(60)
    table = m.as_table(codes, factors)
    calls: list[int] = []

    def fails(table: Table, *, seed: int = 0, replicates: int = 0) -> Score:
        calls.append(replicates)
        if len(calls) in (1, 3):
            raise InputError("not this one")
        return Score(float(len(calls)))

    placed = calibration.calibrated(fails, table, Score(9.0), {"seed": 3, "replicates": 5}, 4)
    assert placed.chance.draws == (2.0, 4.0)
    assert placed.ceiling == 5.0
    assert calls == [0] * 5
    calls.clear()
    few = calibration.calibrated(fails, table, Score(9.0), {"replicates": 5}, 3)
    assert few.chance is None  # one draw has no spread
    assert few.ceiling == 4.0
    nothing = calibration.calibrated(fails, table, Score(math.nan), {"replicates": 5}, 2)
    assert nothing.chance is None


def test_the_suite_asks_for_what_a_table_allows() -> None:
    codes, factors = random_table(60)
    every = set(m.SUITE)
    found = {m.MetricKey.parse(name).metric for name in m.suite(codes, factors, replicates=0, calibrate=False)}
    assert found == every - {"mig_chen", "elbo_terms"}
    without = m.suite(codes, factors[:, 1:], log_vars=0 * codes, replicates=0, calibrate=False)
    assert {m.MetricKey.parse(name).metric for name in without} == every - {"attribute_classification"}
    asked = m.suite(codes, metrics=["mig", "elbo_terms"], replicates=0)
    assert asked["mig"].details["error"] == "mig needs a factor with at least two known values; the table has none."
    assert "give log_vars" in asked["elbo_terms"].details["error"]
    assert math.isnan(asked["mig"].value)
    assert asked["mig"].details["seed"] == 0


def test_the_suite_passes_on_what_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, factors = random_table(60)
    told: list[dict[str, Any]] = []

    def metric(table: Table, **options: Any) -> Score:
        told.append(options)
        return Score(1.0)

    plain = metric
    for name in ("dci", "mig", "elbo_terms"):
        record = m.METRICS[name]
        monkeypatch.setitem(m.METRICS, name, dataclasses.replace(record, function=plain))
    m.suite(codes, factors, metrics=["dci", "mig"], dci_mode="lasso", seed=4, replicates=7)
    assert told == [{"seed": 4, "replicates": 7, "mode": "lasso"}, {"seed": 4, "replicates": 7}]
    metric.calibrates = True  # type: ignore[attr-defined]
    told.clear()
    m.suite(codes, factors, metrics=["mig"], calibrate=True)
    m.suite(codes, factors, metrics=["mig"], calibrate=False)
    assert [one.get("calibrate") for one in told] == [True, None]
    broken = dataclasses.replace(m.METRICS["mig"], function=lambda *_, **__: 1 / 0)
    monkeypatch.setitem(m.METRICS, "mig", broken)
    assert m.suite(codes, factors, metrics=["mig"])["mig"].details["error"] == "ZeroDivisionError: division by zero"


def test_the_elbo_in_the_suite_is_of_2048_points(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, factors = random_table(60)
    suite = importlib.import_module("unbraid.metrics.suite")
    assert suite._ELBO_POINTS == 2048
    monkeypatch.setattr(suite, "_ELBO_POINTS", 20)
    score = m.suite(codes, factors, metrics=["elbo_terms"], log_vars=0 * codes, seed=2)["elbo_terms/kl"]
    assert (score.details["method"], score.details["evaluation_points"], score.details["seed"]) == ("stratified", 20, 2)


def test_many_latents_score_like_few_with_their_chance_and_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.random.default_rng(0)
    factors = draws.integers([3, 4], size=(80, 2)).astype(float)
    factors[::9, 0] = np.nan
    wide = np.round(draws.normal(size=(80, 7)) * (draws.random((80, 7)) < 0.4), 1)
    wide[:, 2] = np.nan_to_num(factors[:, 0])
    wide[:, 5] = 0.0
    monkeypatch.setattr(sparse, "_AT_ONCE", 3)
    found = sparse.sparse_suite(csr_array(wide), factors, seed=5)
    assert list(found) == list(sparse.METRICS_OF_MANY)
    for name, score in found.items():
        metric = m.METRICS[name].function
        assert score.value == pytest.approx(metric(wide, factors, replicates=0).value)
        expected = [
            metric(wide, factors[stream(5, f"chance {i}").permutation(80)], replicates=0).value for i in range(3)
        ]
        assert draws_of(score) == pytest.approx(expected)
        filled = np.where(np.isnan(factors), np.nanmean(factors, axis=0), factors)
        assert score.ceiling == pytest.approx(metric(filled, factors, replicates=0).value)
        assert score.details == {"rows": 80, "latents": 7, "seed": 5}
        assert score.interval is None
    some = sparse.sparse_suite(csc_array(wide), factors, metrics=["mcc"], points=30, seed=5, calibrate=False)
    rows = np.sort(stream(5, "sample").choice(80, 30, replace=False))
    assert list(some) == ["mcc"]
    assert some["mcc"].value == pytest.approx(m.mcc(wide[rows], factors[rows], replicates=0).value)
    assert some["mcc"].chance is None
    with pytest.raises(InputError, match="no factor has two known values"):
        sparse.sparse_suite(csr_array(wide), np.zeros(80))


def test_what_is_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "LARGEST_DENSE", 20)
    assert sparse.too_many(csr_array(np.zeros((7, 3))))
    assert not sparse.too_many(csr_array(np.zeros((5, 4))))
    assert not sparse.too_many(np.zeros((100, 100)))
    monkeypatch.setattr(numbers, "LARGEST_DENSE", 20)
    assert numbers.as_float(csr_array(np.ones((5, 4))), "codes").sum() == 20
    with pytest.raises(InputError, match="too many to be made plain numbers"):
        numbers.as_float(csr_array(np.ones((7, 3))), "codes")


def test_pairs_of_latents_are_grouped_by_their_correlation() -> None:
    from unbraid.metrics.sap import correlated_groups

    draws = np.random.default_rng(0)
    base = draws.normal(size=(500, 3))
    codes = np.column_stack([base[:, 0], base[:, 1], -base[:, 0] + 0.2 * base[:, 2], base[:, 2], 0 * base[:, 0]])
    active = np.array([True, True, True, True, False])
    tied = correlated_groups(codes, active, 0.9)
    assert [rows.tolist() for rows in tied] == [[0, 2], [1], [3], [4]]
    chained = correlated_groups(codes, active, 0.15)  # the third goes with the first, and with the fourth
    assert [rows.tolist() for rows in chained] == [[0, 2, 3], [1], [4]]
    assert [rows.tolist() for rows in correlated_groups(codes, active, None)] == [[0], [1], [2], [3], [4]]
    factor = (base[:, 0] > 0).astype(float)
    alone = m.sap(codes, factor, train=300, test=200, replicates=0)
    grouped = m.sap(codes, factor, train=300, test=200, replicates=0, group_above=0.9)
    scores = alone.details["scores"][:, 0]
    assert alone.value == pytest.approx(np.sort(scores)[-1] - np.sort(scores)[-2])
    rest = max(scores[[1, 3, 4]])
    assert grouped.value == pytest.approx(max(scores[[0, 2]]) - rest)
    assert grouped.details["groups"] == [["z1", "z3"], ["z2"], ["z4"], ["z5"]]
    assert "groups" not in alone.details
