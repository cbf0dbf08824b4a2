"""Metrics of 2020 to 2024 against values worked out by hand and against scikit-learn's estimates."""

from __future__ import annotations

import numpy as np
import pytest

from unbraid import metrics as m
from unbraid.errors import InputError
from unbraid.metrics._shared.neighbours import NeighbourColumn, kth_distance
from unbraid.metrics.dci_es import explicitness_of_curves

from .conftest import grid, random_table


def test_information_by_neighbours_is_scikit_learns() -> None:
    from sklearn.feature_selection import mutual_info_classif

    draws = np.random.default_rng(0)
    labels = draws.integers(5, size=700)
    labels[0] = 5  # a class with one row takes no part
    for x in (labels + draws.normal(size=700), draws.normal(size=700), np.round(labels + draws.normal(size=700), 1)):
        theirs = mutual_info_classif(x[:, None], labels, discrete_features=False, n_neighbors=10, random_state=0)[0]
        ours = NeighbourColumn(x, np.random.default_rng(1).standard_normal(700)).information(labels, 10)
        assert ours == pytest.approx(theirs, abs=0.01 if len(np.unique(x)) < 300 else 1e-6)


def test_distances_to_neighbours_are_those_of_all_pairs() -> None:
    x = np.sort(np.random.default_rng(0).normal(size=60))
    pairs = np.sort(np.abs(x[:, None] - x), axis=1)
    for k in (1, 4, 59):
        assert kth_distance(x, k) == pytest.approx(pairs[:, k])


def test_infomec_by_hand() -> None:
    """Latent 1 is factor a; latent 2 tells a and b apart in part: its shares are what its information is."""
    factors = grid(2, 2, repeats=300)
    draws = np.random.default_rng(0)
    a, b = factors.T
    codes = np.column_stack([a, b + 0.0 * a, np.full(len(a), 1e-3) * draws.normal(size=len(a))])
    scores = m.infomec(codes, factors, train=800, test=400, replicates=0)
    assert scores["modularity"].details["active"] == 2, "a latent of a thousandth of the range takes no part"
    assert scores["modularity"].value == pytest.approx(1.0, abs=0.02)
    assert scores["compactness"].value == pytest.approx(1.0, abs=0.02)
    assert scores["explicitness"].value > 0.95
    # One latent with four values: both factors share it alike, so that its modularity is (½ − ½)/(1 − ½) = 0.
    both = m.infomec(np.column_stack([a + 2 * b, a]), factors, train=800, test=400, replicates=0)
    assert both["modularity"].details["per_latent"][0] == pytest.approx(0.0, abs=0.05)
    # Factor b is in the first latent only, factor a in both: (1 − ½)/½ and (½ − ½)/½.
    assert both["compactness"].details["per_factor"]["factor 1"] == pytest.approx(1.0, abs=0.05)
    assert both["compactness"].details["per_factor"]["factor 0"] == pytest.approx(0.0, abs=0.05)


def test_infom_of_noise_is_high_and_its_chance_level_says_so() -> None:
    draws = np.random.default_rng(1)
    noise, factors = draws.normal(size=(1000, 10)), draws.integers([4, 6, 8, 10, 15], size=(1000, 5))
    score = m.infomec(noise, factors, calibrate=True, replicates=0)["modularity"]
    assert 0.3 < score.value < 0.7
    assert score.beyond_chance is False


def test_infoe_is_held_out() -> None:
    draws = np.random.default_rng(0)
    codes, label = draws.normal(size=(150, 40)), draws.integers(2, size=(150, 2))
    value = m.infomec(codes, label, replicates=0)["explicitness"].value
    assert value < -0.5, "fitted to its own rows, forty noisy codes would tell two values apart"


def test_minimality_and_sufficiency_by_hand() -> None:
    factors = grid(2, 4, repeats=50)
    a, b = factors.T
    # z1 = a (log 2 of log 2); z2 = a + 2b has log 8 nats, of which log 4 are b's: 2/3.
    codes = np.column_stack([a, a + 2 * b])
    minimal = m.minimality(codes, factors, replicates=0)
    assert minimal.details["per_latent"] == pytest.approx([1.0, 2 / 3])
    assert minimal.value == pytest.approx(5 / 6)
    assert m.sufficiency(codes, factors, replicates=0).value == pytest.approx(1.0)
    # Half of b's four values are told apart by z = b // 2: log 2 of log 4.
    half = m.sufficiency(np.column_stack([a, b // 2]), factors, replicates=0)
    assert half.details["per_factor"] == pytest.approx({"factor 0": 1.0, "factor 1": 0.5})
    assert m.minimality(np.zeros((400, 2)), factors).value == 0.0
    assert m.minimality(np.column_stack([a, 0 * a]), factors, replicates=0).value == pytest.approx(1.0)


def test_minimality_of_a_noisy_perfect_code_is_low_whatever_it_knows() -> None:
    draws = np.random.default_rng(0)
    value = draws.integers(5, size=(10_000, 1)).astype(float)
    code = value + 0.25 * draws.normal(size=value.shape)
    assert 0.4 < m.minimality(code, value, replicates=0).value < 0.75
    assert m.sufficiency(code, value, replicates=0).value > 0.85


def test_mig_sup_by_hand() -> None:
    factors = grid(2, 4, repeats=50)
    a, b = factors.T
    score = m.mig_sup(np.column_stack([a, b // 2, a + 2 * b]), factors, replicates=0)
    assert score.details["per_latent"] == pytest.approx([1.0, 0.5, 0.0])
    assert score.value == pytest.approx(0.5)
    with pytest.raises(InputError, match="only one"):
        m.mig_sup(np.column_stack([a, b]), a)


def test_sap_cuts_collapsed_latents() -> None:
    draws = np.random.default_rng(0)
    x = draws.integers(32, size=(3000, 1)).astype(float)
    code = x + draws.normal(scale=0.3 * x.std(), size=x.shape)
    codes = np.column_stack([code / code.std(), 1e-3 * x, draws.normal(size=x.shape)])
    clean = float(np.corrcoef(code[:, 0], x[:, 0])[0, 1] ** 2)
    for mode in ("dip", "regression"):
        assert m.sap(codes, x, mode=mode, replicates=0).value == pytest.approx(clean, abs=0.02)
    kept = m.sap(codes, x, mode="regression", inactive=1e-12, replicates=0)
    assert kept.value < 0.1, "the collapsed copy wins, and leaves no gap"
    narrow = m.sap(1e-3 * codes, x, mode="regression", replicates=0)
    assert narrow.value == pytest.approx(clean, abs=0.02), "codes that are all narrow are not collapsed"
    named = m.sap(codes, np.column_stack([x, x % 3]), kinds=["ordinal", "categorical"], mode="dip")
    assert named.details["mode"] == {"factor 0": "regression", "factor 1": "threshold"}


def test_latents_that_move_together_count_as_one() -> None:
    draws = np.random.default_rng(0)
    x = draws.normal(size=(2000, 1))
    twice = np.column_stack([x, -x + 0.05 * draws.normal(size=x.shape), draws.normal(size=x.shape)])
    assert m.sap(twice, x, mode="dip").value < 0.05
    grouped = m.sap(twice, x, mode="dip", group_above=0.9)
    assert grouped.details["groups"] == [["z1", "z2"], ["z3"]]
    assert grouped.value > 0.95


def test_explicitness_of_loss_capacity_curves_by_hand() -> None:
    # Areas above the least loss: ½·(1 + ½) + ½·½ of a triangle of ½·1·2, then none, then ½·(¾ + ¾) + ½·¾ of ½·¾·2.
    curves = np.array([[1.0, 0.5, 0.0], [0.3, 0.3, 0.3], [1.0, 1.0, 0.25], [2.0, 1.5, 0.995]])
    assert explicitness_of_curves(curves) == pytest.approx([0.0, 1.0, -0.5, -1.0])
    assert explicitness_of_curves(np.array([[0.2, 0.9, 0.2]])) == pytest.approx([1.0]), "the best so far counts"


def test_codes_that_need_larger_probes_are_less_explicit() -> None:
    draws = np.random.default_rng(0)
    factors = draws.uniform(-1, 1, size=(3000, 2))
    angle = 4 * np.hypot(*factors.T)  # a swirl: everything is there, but rolled up
    swirl = np.column_stack([np.cos(angle), -np.sin(angle)]) * factors[:, :1]
    swirl += np.column_stack([np.sin(angle), np.cos(angle)]) * factors[:, 1:]
    plain, rolled = (m.dci_es(codes, factors, replicates=0) for codes in (factors, swirl))
    assert plain.value > rolled.value + 0.3
    assert m.dci_es(np.column_stack([factors, swirl]), factors, replicates=0).details["size"] == 0.5


def test_leakage_sees_what_single_codes_do_not_tell() -> None:
    draws = np.random.default_rng(0)
    signs = draws.choice([-1.0, 1.0], size=(3000, 2))
    label = (signs[:, 0] * signs[:, 1] > 0).astype(float)  # either sign alone says nothing of it
    codes = np.column_stack([signs + 0.1 * draws.normal(size=signs.shape), draws.normal(size=3000)])
    table = m.as_table(codes, label, columns=["u1", "u2", "c1"])
    assert m.leakage(table, latents=["u1", "u2"]).value > 0.95
    alone = m.leakage(table, latents=["u1"], calibrate=True)
    assert abs(alone.value) < 0.02
    assert alone.ceiling is None, "chance is the best that there is"
    assert alone.beyond_chance is False
    assert m.leakage(table, latents=["u1", "u2"], calibrate=True).beyond_chance, "what leaks is above chance"
    half = m.leakage(m.as_table(codes, signs[:, 0]), latents=[0], replicates=0).details["nats"]["factor 0"]
    assert half == pytest.approx(np.log(2), abs=0.03)
    with pytest.raises(InputError, match="choose from u1, u2, c1"):
        m.leakage(table, latents=["u9"])


def test_the_suite_holds_all_parts_of_infomec() -> None:
    codes, factors = random_table(300)
    scores = m.suite(codes, factors, metrics=["infomec", "dci_es"], replicates=0)
    assert set(scores) == {"infomec/modularity", "infomec/compactness", "infomec/explicitness", "dci_es"}
    assert all(score.chance is not None for score in scores.values())


def test_fixed_arrays_score_what_the_authors_programs_score() -> None:
    """Figures of the programs of Hsu et al. (mended for today's scikit-learn) and Almudévar & Ortega."""
    draws = np.random.default_rng(7)
    factors = draws.integers([2, 3, 5], size=(800, 3))
    mixing = np.array([[1, 0.4, 0, 0.2], [0, 1, 0.3, 0], [0.2, 0, 0.6, 0.1]])
    codes = factors @ mixing + 0.3 * draws.normal(size=(800, 4))
    assert m.minimality(codes, factors, replicates=0).value == pytest.approx(0.2165250639)
    assert m.sufficiency(codes, factors, replicates=0).value == pytest.approx(0.6143020449)
    ours = m.infomec(codes, factors, replicates=0)
    assert ours["modularity"].value == pytest.approx(0.7100693977, abs=1e-6)
    assert ours["compactness"].value == pytest.approx(0.7529164425, abs=1e-6)
    # Theirs is of the rows that the regression was fitted to.
    assert 0.7 < ours["explicitness"].value < 0.7767


def test_a_factor_leaks_into_the_code_of_another() -> None:
    """A code of a that also says b, wrong in one row of ten: 1 − H(0.1)/log 2 = 0.531 of b."""
    draws = np.random.default_rng(0)
    a, b, c = draws.integers([4, 2, 3], size=(8000, 3)).astype(float).T
    wrong = draws.random(8000) < 0.1
    codes = np.column_stack([a + 12 * np.where(wrong, 1 - b, b), 3 * b, c]) + 0.01 * draws.normal(size=(8000, 3))
    table = m.as_table(codes, np.column_stack([a, b, c]), names=["a", "b", "c"])
    found = m.factor_leakage(table, pairs=[("a", "b"), ("c", "a")], calibrate=True)
    assert list(found) == ["b in a", "a in b", "a in c", "c in a"]
    assert found["b in a"].value == pytest.approx(0.531, abs=0.05)
    assert found["b in a"].beyond_chance
    for way, latent in (("a in b", "z2"), ("a in c", "z3"), ("c in a", "z1")):
        assert found[way].details["latents"] == [latent]
        assert abs(found[way].value) < 0.02
    assert len(m.factor_leakage(table, replicates=0)) == 6, "all pairs, both ways"
    with pytest.raises(InputError, match="hue"):
        m.factor_leakage(table, pairs=[("a", "hue")])
    with pytest.raises(InputError, match="only one"):
        m.factor_leakage(codes, a)
