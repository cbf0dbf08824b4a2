"""Label budgets: stratified, chosen once, the same for the whole run."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import unbraid as ub
from unbraid.data.factor_data import Factor, FactorData
from unbraid.data.label_budget import LabelBudget, LabelPlan, allocate
from unbraid.training.batches import BatchSource, TrainingData
from unbraid.util.files import read_json
from unbraid.util.schema import to_json


def table(columns: dict[str, np.ndarray], sizes: dict[str, int]) -> FactorData:
    factors = np.stack(list(columns.values()), axis=1).astype(float)
    info = tuple(Factor(name, sizes[name], "categorical" if sizes[name] else "continuous") for name in columns)
    return FactorData("table", np.zeros((len(factors), 2), np.float32), factors, info)


def unbalanced(n: int = 1000) -> FactorData:
    random = np.random.default_rng(0)
    shape = random.choice(3, n, p=[0.9, 0.09, 0.01])
    return table({"shape": shape, "place": random.integers(50, size=n)}, {"shape": 3, "place": 50})


@pytest.mark.parametrize(
    ("amount", "count"), [("0.5%", 5), ("100%", 1000), (256, 256), ("1,000", 1000), ("all", 1000), (0, 0)]
)
def test_a_budget_is_a_share_or_a_count(amount: str | int, count: int) -> None:
    assert LabelBudget(amount).resolve(unbalanced()).count == count


@pytest.mark.parametrize("amount", ["some", "-3", "120%", "1.5", "0,5%", "1,00", "", "first", "first some"])
def test_an_impossible_budget_is_refused_in_a_sentence(amount: str) -> None:
    with pytest.raises(ub.InputError, match="--labels must"):
        LabelBudget(amount).resolve(unbalanced())


@pytest.mark.parametrize("amount", ["first 3", "first 0.3%"])
def test_the_first_are_those_of_the_data_s_order_whatever_the_seed(amount: str) -> None:
    data = unbalanced()
    data.factors[1, 0] = np.nan  # no label, so the budget goes to the one after
    plan = LabelBudget(amount, ("shape",)).resolve(data)
    for seed in (0, 1):
        assert np.flatnonzero(~np.isnan(plan.visible(data, seed)[:, 0])).tolist() == [0, 2, 3]


def test_a_budget_of_the_first_is_another_run_and_others_keep_their_key() -> None:
    assert to_json(LabelPlan(3, ("shape",))) == {"count": 3, "factors": ["shape"]}
    assert to_json(LabelPlan(3, ("shape",), first=True)) == {"count": 3, "factors": ["shape"], "first": True}


def test_a_misspelt_factor_is_named() -> None:
    with pytest.raises(ub.InputError, match="there is no factor 'shap'; did you mean 'shape'"):
        LabelBudget(factors=("shap",)).resolve(unbalanced())


@pytest.mark.parametrize(
    ("names", "message"), [(("shape,place",), "with blanks between them"), (("shape", "shape"), "names 'shape' twice")]
)
def test_names_with_commas_or_twice_are_refused(names: tuple[str, ...], message: str) -> None:
    with pytest.raises(ub.InputError, match=message):
        LabelBudget(factors=names).resolve(unbalanced())


def test_shares_are_those_of_the_data_and_no_value_is_left_out() -> None:
    data = unbalanced()
    labels = LabelPlan(100, ("shape",)).visible(data, seed=0)
    counts = np.bincount(labels[~np.isnan(labels)].astype(int), minlength=3)
    exact = 100 * np.bincount(data.column("shape").astype(int)) / len(data)
    assert counts.sum() == 100
    assert (np.abs(counts - exact) <= 1).all()
    assert counts.min() >= 1


def test_strata_are_combinations_as_far_as_the_budget_goes() -> None:
    random = np.random.default_rng(1)
    data = table({"a": random.integers(4, size=900), "b": random.integers(5, size=900)}, {"a": 4, "b": 5})
    labels = LabelPlan(40, ("a", "b")).visible(data, seed=3)
    known = labels[~np.isnan(labels).any(axis=1)]
    assert len(known) == 40
    assert len(np.unique(known, axis=0)) == 20


def test_only_the_named_factors_are_shown_and_only_as_many_rows() -> None:
    data = unbalanced()
    labels = LabelPlan(30, ("place",)).visible(data, seed=0)
    assert labels.shape == (1000, 1)
    rows = np.flatnonzero(~np.isnan(labels[:, 0]))
    assert len(rows) == 30
    np.testing.assert_array_equal(labels[rows, 0], data.column("place")[rows])


def test_gaps_in_the_data_are_never_chosen() -> None:
    data = unbalanced()
    data.factors[::2] = np.nan
    plan = LabelBudget("all").resolve(data)
    assert plan.count == 500
    labels = LabelPlan(60, ("shape", "place")).visible(data, seed=0)
    assert not np.isin(np.flatnonzero(~np.isnan(labels).any(axis=1)), np.arange(0, 1000, 2)).any()


@pytest.mark.parametrize("amount", [12, "first 12"])
def test_a_budget_is_spent_on_complete_rows_where_others_are_of_no_use(amount: str | int) -> None:
    data = unbalanced()
    data.factors[::2, 0] = np.nan
    data.factors[1::3, 1] = np.nan
    plan = LabelBudget(amount).resolve(data, required=("shape", "place"))
    labels = plan.visible(data, seed=0)
    assert (~np.isnan(labels)).all(axis=1).sum() == (~np.isnan(labels)).any(axis=1).sum() == 12
    any_label = LabelBudget(amount).resolve(data).visible(data, seed=0)
    assert (~np.isnan(any_label)).any(axis=1).sum() == 12
    assert (~np.isnan(any_label)).all(axis=1).sum() < 12


def test_a_budget_asks_for_the_labels_that_are_needed_and_no_others() -> None:
    data = unbalanced(100)
    data.factors[:40, 0] = np.nan
    data.factors[40:, 1] = np.nan
    labels = LabelBudget(12).resolve(data, required=("shape",)).visible(data, seed=0)
    assert (~np.isnan(labels[:, 0])).sum() == 12
    none = LabelBudget(12).resolve(data, required=("shape", "place"))  # no row has both: it is for the method to say so
    assert none == LabelBudget(12).resolve(data)


def test_without_gaps_or_without_a_budget_complete_rows_are_no_other_plan() -> None:
    data = unbalanced()
    assert LabelBudget(12).resolve(data, required=("shape", "place")) == LabelBudget(12).resolve(data)
    data.factors[::2, 0] = np.nan
    assert LabelBudget().resolve(data, required=("shape", "place")) == LabelBudget().resolve(data)


def test_nothing_that_a_method_knows_of_labels_depends_on_withheld_ones() -> None:
    random = np.random.default_rng(2)
    columns = {"shape": random.integers(3, size=200), "mass": random.normal(size=200)}
    data, sizes = table(columns, {"shape": 3, "mass": 0}), {"shape": 3, "mass": 0}
    shown = LabelPlan(12, ("shape", "mass")).visible(data, seed=0)
    withheld = np.isnan(shown).all(axis=1)
    other = table(
        {"shape": np.where(withheld, 2, columns["shape"]), "mass": np.where(withheld, 99, columns["mass"])}, sizes
    )
    assert TrainingData(other, shown).spec == TrainingData(data, shown).spec
    mass = columns["mass"][~withheld]
    assert TrainingData(data, shown).spec.ranges[1] == (mass.min(), mass.max())


def test_numbers_that_single_precision_cannot_tell_apart_are_refused() -> None:
    dates = 2_460_000 + np.linspace(0, 1, 100)
    with pytest.raises(ub.InputError, match=r"single precision tells 5 of their 100 values apart: subtract a constant"):
        LabelBudget(12).resolve(table({"date": dates}, {"date": 0}))
    assert LabelBudget(0).resolve(table({"date": dates}, {"date": 0})).count == 0  # which no one reads
    years = np.linspace(2020, 2020.1, 48)
    assert LabelBudget(12).resolve(table({"year": years}, {"year": 0})).count == 12
    assert LabelBudget(12).resolve(table({"date": dates - 2_460_000}, {"date": 0})).count == 12


def test_infinite_labels_are_refused() -> None:
    with pytest.raises(ub.InputError, match="1 labels of 'mass' are infinite"):
        table({"mass": np.array([0.5, np.inf, np.nan])}, {"mass": 0})


def test_a_batch_that_is_smaller_than_the_group_is_refused() -> None:
    data = unbalanced()
    source = TrainingData(data, LabelPlan(1, ("shape",)).visible(data, seed=0), factors=data.factor_info[:1])
    for rank in range(2):  # on every process, or one would wait for the other
        batches = BatchSource(source, seed=0, device=torch.device("cpu"), rank=rank, world=2)
        with pytest.raises(ub.InputError, match="a batch of 1 of update 'vae' cannot be shared by 2 processes"):
            batches.batch("vae", "labelled", 64, 0)


def test_the_labelled_set_is_a_function_of_the_seed_alone() -> None:
    data, plan = unbalanced(), LabelPlan(50, ("shape",))
    np.testing.assert_array_equal(plan.visible(data, seed=4), plan.visible(data, seed=4))
    assert not np.array_equal(np.isnan(plan.visible(data, seed=4)), np.isnan(plan.visible(data, seed=5)))


def test_the_labelled_stream_never_leaves_the_labelled_set() -> None:
    data = unbalanced()
    labels = LabelPlan(20, ("shape",)).visible(data, seed=0)
    source = BatchSource(TrainingData(data, labels, factors=data.factor_info[:1]), seed=0, device=torch.device("cpu"))
    allowed = set(np.flatnonzero(~np.isnan(labels[:, 0])))
    seen: set[int] = set()
    for draw in range(40):
        batch = source.batch("labelled", "labelled", 8, draw)
        assert not batch.factors.isnan().any()
        seen |= set(batch.index.tolist())
    assert seen == allowed


def test_a_half_labelled_batch_is_one_half_of_each() -> None:
    data = unbalanced()
    labels = LabelPlan(20, ("shape",)).visible(data, seed=0)
    source = BatchSource(TrainingData(data, labels, factors=data.factor_info[:1]), seed=0, device=torch.device("cpu"))
    known = ~source.batch("image", "half-labelled", 16, 3).factors.isnan().any(1)
    assert known.tolist() == [True] * 8 + [False] * 8


def test_when_everything_is_labelled_there_is_no_other_half() -> None:
    data = unbalanced()
    source = BatchSource(TrainingData(data, data.factors), seed=0, device=torch.device("cpu"))
    batch = source.batch("image", "half-labelled", 16, 3)
    assert len(batch.x) == 16
    assert not batch.factors.isnan().any()


def test_rows_with_some_labels_are_in_the_partly_labelled_stream_only() -> None:
    data = unbalanced()
    labels = data.factors.copy()
    labels[:, 0], labels[5, 0] = np.nan, 1.0
    labels[10:, 1] = np.nan
    source = BatchSource(TrainingData(data, labels), seed=0, device=torch.device("cpu"))
    assert source.rows["labelled"].tolist() == [5]
    assert source.rows["partly-labelled"].tolist() == list(range(10))


def test_methods_without_labels_refuse_a_budget_and_are_shown_none(squares: FactorData) -> None:
    with pytest.raises(ub.InputError, match="vae learns without labels"):
        ub.fit(squares, ub.methods.VAE(), steps=1, labels="10%", show=False)


IVAE = ub.methods.IVAE(width=0.1, likelihood="gaussian")


def gapped() -> FactorData:
    """Every row lacks one of its two labels but three rows that have both and ten that have none."""
    data = unbalanced()
    labels = data.factors.copy()
    labels[::2, 0], labels[1::2, 1], labels[-10:] = np.nan, np.nan, np.nan
    labels[:3] = data.factors[:3]
    return dataclasses.replace(data, factors=labels)


@pytest.mark.parametrize("name", ["full-vae", "ss-ivae", "ss-idvae", "parted-vae"])
def test_labels_with_gaps_are_all_used(name: str, tmp_path: Path) -> None:
    data = gapped()
    method: Any = ub.methods.by_name(name)
    config = method(width=0.1, likelihood="gaussian")
    run = ub.fit(data, config, steps=1, held_out=0, out=tmp_path / "run", show=False)
    assert read_json(tmp_path / "run" / "stage-1" / "stage.json")["labels"]["count"] == len(data) - 10
    source = BatchSource(run.training_data(1), seed=0, device=torch.device("cpu"))
    batch = source.batch("image", "half-labelled", 8, 0)
    assert (~batch.factors.isnan()).any(1).tolist() == [True] * 4 + [False] * 4


def test_labels_of_which_no_row_is_complete_are_scored(tmp_path: Path) -> None:
    data = gapped()
    data.factors[:3, 0] = np.nan
    config = ub.methods.SSIVAE(width=0.1, likelihood="gaussian")
    run = ub.fit(data, config, steps=1, out=tmp_path / "run", show=False)
    found = run.evaluate(["mig"], show=False)["identifiability"]
    assert found["details"]["points"] == 0


def test_methods_that_need_every_label_count_and_read_the_rows_that_have_them(tmp_path: Path) -> None:
    data = gapped()
    ub.fit(data, IVAE, steps=1, out=tmp_path / "run", show=False)
    assert read_json(tmp_path / "run" / "stage-1" / "stage.json")["labels"]["count"] == 3
    labels = data.factors.copy()
    labels[:3, 0] = np.nan
    with pytest.raises(ub.InputError, match=r"all labels are known \(.*\), and there are none: name fewer"):
        ub.fit(dataclasses.replace(data, factors=labels), IVAE, steps=1, out=tmp_path / "none")


def test_few_labelled_rows_do_not_make_the_batch_smaller() -> None:
    data = unbalanced()
    labels = LabelPlan(5, ("shape",)).visible(data, seed=0)
    source = BatchSource(TrainingData(data, labels, factors=data.factor_info[:1]), seed=0, device=torch.device("cpu"))
    known = ~source.batch("image", "half-labelled", 16, 3).factors.isnan().any(1)
    assert known.tolist() == [True] * 5 + [False] * 11
    with pytest.raises(ub.InputError, match="pass a --batch-size of at least 2"):
        source.batch("image", "half-labelled", 1, 0)


@pytest.mark.parametrize("amount", [0.005, "inf%", "many"])
def test_a_budget_that_is_no_number_is_refused_in_a_sentence(amount, squares: FactorData, tmp_path: Path) -> None:
    with pytest.raises(ub.InputError, match=r"--labels must be a count, a share like 0\.5% or all"):
        ub.fit(squares, ub.methods.FullVAE(), steps=1, labels=amount, out=tmp_path / "run", show=False)


def test_strata_that_give_back_are_drawn_among_equals() -> None:
    """Two of fifty and three of one: five of six at least one each, and one of the two large ones gives its second."""
    gave = {tuple(allocate(np.array([50, 50, 1, 1, 1]), 6, np.random.default_rng(seed)).tolist()) for seed in range(20)}
    assert gave == {(1, 2, 1, 1, 1), (2, 1, 1, 1, 1)}
