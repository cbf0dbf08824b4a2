"""Which rows are held out: as many as asked, whole groups, the same for the same seed, and none where nobody asked."""

import numpy as np
import pytest

from unbraid.data import Factor, FactorData, HeldOut, load
from unbraid.data.held_out import HeldOutPlan, held_out_plan
from unbraid.data.label_budget import LabelBudget
from unbraid.errors import InputError


def table(n: int, **columns: np.ndarray) -> FactorData:
    """n vectors with factors of five values each."""
    factors = np.stack([*columns.values()], axis=1).astype(float) if columns else np.empty((n, 0))
    info = tuple(Factor(name, 5) for name in columns)
    return FactorData("table", np.arange(2 * n, dtype=np.float32).reshape(n, 2), factors, info)


def test_a_tenth_of_own_data_and_nothing_of_built_in_data_unless_asked() -> None:
    assert held_out_plan(table(100), None, 0) == HeldOutPlan(10, 0.1)
    assert held_out_plan(table(49), None, 0) is None, "too few"
    assert held_out_plan(table(50), None, 0) == HeldOutPlan(5, 0.1)
    assert held_out_plan(table(100), 0, 0) is None
    assert held_out_plan(table(10), 0.3, 0) == HeldOutPlan(3, 0.3), "asked for"
    drawn = load("pendulum", n=100)
    assert held_out_plan(drawn, None, 0) is None
    assert held_out_plan(drawn, 0.25, 0) == HeldOutPlan(25, 0.25)


def test_rows_follow_from_the_seed() -> None:
    one, two = (held_out_plan(table(200), 0.2, seed) for seed in (0, 1))
    assert one is not None
    assert two is not None
    rows = one.rows(table(200), 0)
    assert len(np.unique(rows)) == 40
    assert (np.diff(rows) > 0).all()
    assert np.array_equal(rows, one.rows(table(200), 0))
    assert not np.array_equal(rows, two.rows(table(200), 1))


@pytest.mark.parametrize("seed", range(5))
def test_groups_stay_whole_and_rows_without_one_stay_in_training(seed: int) -> None:
    patient = np.repeat(np.arange(5.0), [10, 20, 30, 5, 35])[np.random.default_rng(seed).permutation(100)]
    patient[:7] = np.nan
    data = table(100, patient=patient)
    plan = HeldOut(0.4, "patient").resolve(data, seed)
    assert plan is not None
    rows = plan.rows(data, seed)
    held = np.isin(np.arange(100), rows)
    assert 0 < len(rows) == plan.count <= 40
    assert not held[:7].any()
    for one in range(5):
        assert len(set(held[patient == one])) == 1, "a group on both sides"


def test_a_group_that_is_larger_than_asked_is_held_out_if_all_are() -> None:
    day = np.repeat([0.0, 1.0], [60, 40])
    plan = HeldOut(0.1, "day").resolve(table(100, day=day), 3)
    assert plan is not None
    assert plan.count == 40, "the smallest"


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (HeldOut(1.0), "--held-out must be a part of the data from 0 to below 1, such as 0.1, not 1.0."),
        (HeldOut(-0.1), "from 0 to below 1"),
        (HeldOut(0.99), "leaves too few of 100 observations"),
        (HeldOut(0.1, "pateint"), "did you mean 'patient'"),
        (HeldOut(0.0, "patient"), "leave --held-out-by patient out"),
        (HeldOut(0.1, "site"), "makes 1 group"),
    ],
)
def test_what_cannot_be_held_out_is_said(asked: HeldOut, sentence: str) -> None:
    data = table(100, patient=np.arange(100) % 5, site=np.zeros(100))
    with pytest.raises(InputError, match=sentence):
        asked.resolve(data, 0)


def test_a_label_budget_is_spent_on_rows_that_are_not_held_out() -> None:
    data = table(100, shape=np.arange(100) % 5, place=np.arange(100) // 20)
    rows = np.arange(0, 100, 3)
    for amount, count in (("all", 66), ("50%", 33), (20, 20), ("first 20", 20)):
        plan = LabelBudget(amount).resolve(data, held_out=rows)
        shown = plan.visible(data, 0, rows)
        assert plan.count == count
        assert (~np.isnan(shown)).all(axis=1).sum() == count
        assert np.isnan(shown[rows]).all()
