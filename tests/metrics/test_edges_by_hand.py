"""Metrics at their edges: nothing that varies, codes in another order, votes that all fall away, one direction only."""

from __future__ import annotations

import itertools
import zlib
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import LinearSVC

from unbraid import metrics as m
from unbraid.errors import InputError
from unbraid.metrics import Score, standing
from unbraid.metrics._shared.strata import one_factor_pairs
from unbraid.metrics.dci_es import _errors
from unbraid.metrics.omes import _from_moments, factor_scores
from unbraid.metrics.sap import correlated_groups
from unbraid.metrics.score import Chance
from unbraid.metrics.sparse import sparse_suite
from unbraid.metrics.udr import _relative_strength

from .hand import around


def grid(rows: int = 240) -> tuple[np.ndarray, np.ndarray]:
    """Three factors of 2, 3 and 4 values with noise, each read by a code; the codes in another order."""
    draws = np.random.default_rng(0)
    factors = draws.integers([2, 3, 4], size=(rows, 3)).astype(float)
    return factors[:, [2, 0, 1]] + 0.05 * draws.normal(size=(rows, 3)), factors


def test_what_leaks_is_looked_for_in_the_code_of_the_factor() -> None:
    """Factor a is in the second code, b in the third: «b in a» asks the second code for b."""
    codes, factors = grid()
    names = ["a", "b", "c"]
    found = m.factor_leakage(codes, factors, names=names, pairs=[("a", "b")], train=150, test=80, replicates=30)
    assert list(found) == ["b in a", "a in b"]
    for key, latent, factor in (("b in a", 1, 1), ("a in b", 2, 0)):
        alone = m.leakage(codes, factors[:, factor], latents=[latent], train=150, test=80, replicates=30)
        assert (found[key].value, found[key].interval) == (alone.value, alone.interval)
    plain = m.factor_leakage(codes, factors, names=names, pairs=[("a", "b")], train=150, test=80, replicates=0)
    assert plain["b in a"].interval is None


def test_probes_of_each_stage_are_those_of_its_codes_alone() -> None:
    codes, factors = grid(400)
    how: dict[str, Any] = {"probe": "linear", "seed": 3, "replicates": 20}
    found = m.downstream_by_stage(codes[:, :1], codes[:, 1:], factors, **how)
    for name, part in (("c", codes[:, :1]), ("z", codes[:, 1:]), ("c+z", codes)):
        alone = m.downstream(part, factors, **how)
        assert (found[name].value, found[name].interval) == (alone.value, alone.interval)
        assert found[name].details["seed"] == 3
    assert (
        m.downstream_by_stage(codes[:, :1], codes[:, 1:], factors, probe="linear", replicates=0)["c"].interval is None
    )


def test_a_constant_latent_has_no_vote_and_votes_that_all_fall_away_score_nothing() -> None:
    """By PartedVAE's rule the collapsed copy of the first factor takes all of its votes, and a constant one none."""
    factors = np.column_stack([np.repeat([0.0, 1.0], 60), np.tile([0.0, 1.0], 60)])
    noise = np.random.default_rng(0).normal(size=120)
    how: dict[str, Any] = {"convention": "parted", "batch": 20, "train": 30, "replicates": 10}
    still = m.factor_score(np.column_stack([factors[:, 0], np.full(120, 2.0), factors[:, 1]]), factors, **how)
    assert still.details["votes"][1].sum() == 0
    assert still.value == 1.0
    copies = np.column_stack([0.01 * factors, noise])
    nothing = m.factor_score(copies, factors, **how)
    assert nothing.details["votes"].sum() == 0
    assert (nothing.value, nothing.interval, nothing.details["active"]) == (0.0, (0.0, 0.0), 1)


def test_features_that_vary_in_one_direction_only_have_the_distance_and_interval_of_that_direction() -> None:
    draws = np.random.default_rng(1)
    a, b = draws.normal(size=(80, 1)), 1.5 * draws.normal(size=(60, 1)) + 1
    line = np.array([[0.6, 0.8, 0.0]])
    flat, turned = m.fid(a, b), m.fid(a @ line, b @ line)
    assert turned.value == pytest.approx(flat.value, abs=1e-7)
    assert turned.interval == pytest.approx(flat.interval, abs=1e-6)
    wide = m.fid(draws.normal(size=(80, 3)), b @ line)
    assert wide.interval is not None
    assert wide.interval[1] - wide.interval[0] < wide.value, "nor does a direction that only one side has blow it up"


def test_identities_that_differ_in_nothing_are_changed_by_every_pose() -> None:
    for value in np.linspace(0.01, 3, 60):  # of some, rounding leaves a variance of 1e-17
        assert m.identity_change(np.full((3, 4, 5), value)).value == 1.0


def test_robustness_has_no_units() -> None:
    codes, factors = grid()
    codes = codes + 0.4 * np.random.default_rng(2).normal(size=codes.shape)
    score, small = m.irs(codes, factors), m.irs(0.01 * codes, factors)
    assert small.value == pytest.approx(score.value)
    assert small.interval == pytest.approx(score.interval)


@pytest.mark.parametrize("wrong", [[], [[0.1, 0.2]], [0.1, np.nan], [np.inf, np.inf]])
def test_distances_that_are_none_are_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match="distances must be finite numbers"):
        m.lpips(wrong)
    assert m.lpips([0.25]).value == 0.25


def omes_association(codes: np.ndarray, pairs: np.ndarray, weight: np.ndarray) -> list[float]:
    """1 − |r| of each code between both rows of pairs, each pair as often as it weighs."""
    out = []
    for column in codes.T:
        x, y = column[pairs[:, 0]], column[pairs[:, 1]]
        mean_x, mean_y = np.average(x, weights=weight), np.average(y, weights=weight)
        covariance = np.average((x - mean_x) * (y - mean_y), weights=weight)
        spread = np.average((x - mean_x) ** 2, weights=weight) * np.average((y - mean_y) ** 2, weights=weight)
        out.append(1 - abs(covariance / np.sqrt(spread)))
    return out


def test_bootstrap_samples_of_omes_are_of_rows_and_not_of_pairs() -> None:
    """A pair counts as often as its first row and its second were drawn, one times the other."""
    factors = np.array(list(itertools.product(range(3), range(4), range(2))), dtype=float)
    factors = np.tile(factors, (4, 1))
    codes = factors @ np.array([[1.0, 0.3, 0.2, 0.0], [0.0, 2.0, 0.5, 1.0], [0.4, 0.0, 1.0, 0.3]]) + 3
    codes += 0.2 * np.random.default_rng(4).normal(size=codes.shape)
    score = m.omes(codes, factors, points=300, seed=5, replicates=12)
    table = m.as_table(codes, factors)
    pairs = [one_factor_pairs(table, k, 300, 5) for k in range(3)]
    times = np.random.default_rng([5, zlib.crc32(b"rows of pairs")]).poisson(1.0, size=(len(codes), 12))
    found = []
    for drawn in (np.ones((1, len(codes))), times.T):
        matrices = [
            np.stack([omes_association(codes, pair, t[pair[:, 0]] * t[pair[:, 1]]) for pair in pairs], axis=1)
            for t in drawn
        ]
        found.append([float(factor_scores(matrix, 0.5, "average").mean()) for matrix in matrices])
    assert score.value == pytest.approx(found[0][0])
    assert score.interval == pytest.approx(around(found[0][0], np.array(found[1]), 0, 1), abs=1e-4)


def test_codes_that_hardly_move_take_no_part_in_omes() -> None:
    """Sixty rows of ±s have a sample's deviation of s·√(60/59): 0.0497 is 0.0501 and counts, 0.0494 does not."""
    side = np.tile([1.0, -1.0], 30)
    factors = np.column_stack([np.repeat([0.0, 1.0], 30), np.tile([0.0, 0.0, 1.0, 1.0], 15)])
    codes = np.array([1.0, 0.0497, 0.0494]) * side[:, None]
    assert m.omes(codes, factors, replicates=0).details["active_latents"] == ["z1", "z2"]
    assert (m.omes(0 * codes, factors).value, m.omes(0 * codes, factors).interval) == (0.0, (0.0, 0.0))


def test_correlations_in_their_units() -> None:
    """Pairs (0, 3), (2, 3) and (4, 9) of one code."""
    x, y = np.array([0.0, 2.0, 4.0]), np.array([3.0, 3.0, 9.0])
    moments = np.array([x.mean(), y.mean(), (x * x).mean(), (y * y).mean(), (x * y).mean()])
    assert _from_moments(moments) == pytest.approx(1 - np.corrcoef(x, y)[0, 1])


def test_collapsed_latents_tie_nothing_together() -> None:
    x = np.random.default_rng(0).normal(size=(200, 1))
    codes = np.column_stack([x, 0.01 * x, -x])
    active = np.array([True, False, True])
    assert [rows.tolist() for rows in correlated_groups(codes, active, 0.9)] == [[0, 2], [1]]
    assert [rows.tolist() for rows in correlated_groups(codes, active, None)] == [[0], [1], [2]]


def test_a_value_that_is_one_of_the_draws_but_for_rounding_is_as_good() -> None:
    score = Score(0.1 + 0.2, chance=Chance((0.3, 0.1, 0.2)))
    assert score.p_value == (1 + 1) / (1 + 3)
    assert Score(0.25, details={"count": np.int64(3), "off": np.float32(np.inf)}).to_json()["details"] == {
        "count": 3,
        "off": None,
    }


def test_missing_factors_are_filled_with_their_own_mean_for_the_ceiling() -> None:
    """With the mean of all factors, a thousand times larger, all values of the first would be in one bin."""
    factors = np.random.default_rng(0).integers([4, 5], size=(400, 2)) * [1.0, 1000.0]
    factors[::7, 0] = np.nan
    wide = csr_array(np.nan_to_num(factors))
    ceiling = sparse_suite(wide, factors, metrics=["mig", "sufficiency"])
    assert ceiling["mig"].ceiling == pytest.approx(0.95, abs=0.06)
    assert ceiling["sufficiency"].ceiling == pytest.approx(1.0)


def test_where_metrics_stand_is_asked_of_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def suite(*given: Any, **options: Any) -> dict[str, Score]:
        asked.append((given, options))
        return {}

    monkeypatch.setattr(standing, "suite", suite)
    standing.standings()
    ((codes, factors), options) = asked[0]
    assert (codes.shape, factors.shape) == ((1000, 10), (1000, 5))
    assert factors.max(axis=0).tolist() == [1, 3, 5, 9, 14]
    assert (options.pop("log_vars") == -3.0).all()
    assert options == {"seed": 0, "replicates": 0, "progress": None}


def test_total_correlation_asks_for_a_table_of_two_rows() -> None:
    for wrong in (np.zeros(5), np.zeros((1, 3))):
        with pytest.raises(InputError, match="give at least two rows"):
            m.total_correlation(wrong)


def test_udr_of_some_rows_or_all() -> None:
    draws = np.random.default_rng(0)
    base = draws.normal(size=(200, 3))
    models = [base + k * draws.normal(size=base.shape) for k in (0.1, 0.5, 1.0)]
    whole, same, some = (m.udr(models, points=points, replicates=0).value for points in (None, 200, 30))
    assert whole == same != some
    # Best² over the sum, of each column and each row: ½ of the first, nothing where all are 0.
    assert _relative_strength(np.array([[0.5, 0.0], [0.0, 0.0]])) == pytest.approx((0.5 + 0.5) / 4)


def test_classifiers_of_pairs_are_those_of_the_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    """One-vs-rest linear SVMs on the hinge loss with C = 0.01, fitted so closely that no order of visits matters."""
    asked: list[dict[str, Any]] = []

    class Recorded(LinearSVC):  # type: ignore[misc]
        def __init__(self, **options: Any) -> None:
            asked.append(options)
            super().__init__(**options)

    monkeypatch.setattr("sklearn.svm.LinearSVC", Recorded)
    codes, factors = grid()
    m.z_diff(codes, factors, train=40, test=20, replicates=0)
    assert asked == [{"C": 0.01, "loss": "hinge", "tol": 1e-6, "max_iter": 20_000, "random_state": 0}]


def test_two_rows_of_two_values_can_be_fitted() -> None:
    table = m.as_table(np.array([[0.0], [1.0], [0.5], [2.0]]), np.array([[0.0], [1.0], [0.0], [1.0]]))
    errors = _errors(table, 0, np.array([0, 1]), np.array([2, 3]), 0)
    assert np.isfinite(errors).all()
    with pytest.raises(InputError, match="fewer than two values"):
        _errors(table, 0, np.array([0]), np.array([2, 3]), 0)
