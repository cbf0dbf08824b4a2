"""Figures of searches by hand: stability, effects, rungs, steps, ranks and intervals over seeds."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import f_oneway, spearmanr, t

from unbraid.metrics import udr
from unbraid.papers.measures import rank_agreement
from unbraid.search.agreement import STABILITY_ROWS, agreement
from unbraid.search.budget import steps_for
from unbraid.search.effects import effect, levels
from unbraid.search.figures import CODES
from unbraid.search.halving import promoted, rungs
from unbraid.search.ranking import interval, sign
from unbraid.util.files import write_arrays
from unbraid.util.intervals import mean_and_interval, median_and_interval
from unbraid.util.seeds import stream


def test_stability_is_the_mean_correlation_of_partners(tmp_path: Path) -> None:
    draws = np.random.default_rng(0)
    base = draws.normal(size=(STABILITY_ROWS + 50, 3))
    base[STABILITY_ROWS:] = 0  # rows that are not read
    models = [base, -base[:, [2, 0, 1]] + 0.8 * draws.normal(size=base.shape), draws.normal(size=(len(base), 2))]
    models[0] = np.column_stack([models[0], np.full(len(base), 3.0)])  # a code that never moves
    information = [[1.0, 0.2, 0.02, 1.0], [1.0, 0.01, 0.011], [0.5, 0.5]]
    used = [[0, 1, 2], [0, 2], [0, 1]]
    folders = []
    for number, (codes, known) in enumerate(zip(models, information, strict=True)):
        folders.append(tmp_path / str(number))
        rows = np.arange(len(codes))
        write_arrays(folders[-1] / CODES, {"codes": codes, "information": np.array(known), "rows": rows})
    pairwise = np.full((3, 3), np.nan)
    for a in range(3):
        for b in range(3):
            if a == b:
                continue
            similar = np.array(
                [[abs(spearmanr(models[a][:STABILITY_ROWS, i], models[b][:STABILITY_ROWS, j])[0]) for j in used[b]]
                 for i in used[a]]
            )  # fmt: skip
            if len(similar) < similar.shape[1]:
                similar = similar.T
            best = max(
                similar[i, 0] + similar[j, 1] for i in range(len(similar)) for j in range(len(similar)) if i != j
            )
            pairwise[a, b] = best / len(similar)  # codes without a partner count 0
    found = agreement(folders)
    assert found["stability"].per_model == pytest.approx(np.nanmean(pairwise, axis=1))
    assert found["stability"].value == pytest.approx(np.nanmean(pairwise))
    assert found["stability"].interval is None
    for name, method in (("udr", "spearman"), ("udr_lasso", "lasso")):
        expected = udr(models, information=information, method=method)
        assert found[name].value == expected.value
        assert found[name].interval == expected.interval
        assert found[name].per_model == pytest.approx(expected.details["per_model"])
    for folder, codes in zip(folders, models, strict=True):
        write_arrays(folder / CODES, {"codes": codes, "rows": np.arange(len(codes))})
    assert agreement(folders)["udr"].value == udr(models).value


def test_shares_of_variance_and_their_chance() -> None:
    groups = {"a": [1.0, 2.0, 4.0], "b": [3.0, 5.0], "c": [9.0, 8.0, 8.5, 7.0]}
    pairs = [(name, value) for name, values in groups.items() for value in values]
    values = np.concatenate(list(groups.values()))
    between = sum(len(group) * (np.mean(group) - values.mean()) ** 2 for group in groups.values())
    found = effect("width", pairs)
    assert found is not None
    assert found.share == pytest.approx(between / ((values - values.mean()) ** 2).sum())
    assert found.p == pytest.approx(f_oneway(*groups.values()).pvalue)
    assert (found.option, found.levels, found.trials) == ("width", 3, 9)
    assert effect("width", [("a", 1.0), ("a", 2.0)]) is None
    assert effect("width", [("a", 1.0), ("b", 1.0)]) is None
    apart = effect("width", [("a", 1.0), ("a", 1.0), ("b", 2.0), ("b", 2.0)])
    assert apart is not None
    assert (apart.share, apart.p) == (1.0, 0.0)
    single = effect("width", [("a", 1.0), ("b", 2.0)])
    assert single is not None
    assert math.isnan(single.p)


def test_options_of_many_values_are_cut_into_quarters() -> None:
    assert levels([3, 1, 2, 1]) == [3, 1, 2, 1]
    assert levels(list(range(8))) == list(range(8))
    assert levels(list(range(9))) == [0, 0, 0, 1, 1, 2, 2, 3, 3]
    assert levels([*range(9), "x"]) == [*range(9), "x"]


def test_a_third_goes_on_at_each_rung_with_three_times_the_steps() -> None:
    assert [promoted(count) for count in (3, 6, 7, 9, 10, 27, 28)] == [2, 2, 3, 3, 4, 9, 10]
    assert rungs(900, 27) == [33, 100, 300]  # 27, 9, 3 and then 2 settings
    assert rungs(900, 9) == [100, 300]
    assert rungs(900, 4) == [300]
    assert rungs(900, 2) == []
    assert rungs(2, 100) == []
    assert rungs(9, 1000) == [1, 3]


def test_steps_are_rounded_down_to_two_digits() -> None:
    assert steps_for(1, [0.1], 1) == 420
    assert steps_for(1, [0.1], 2) == 840
    assert steps_for(1, [0.034], 1) == 1200  # 1,235
    assert steps_for(1, [1.5], 1) == 28
    assert steps_for(1, [4.2], 1) == 10


def test_intervals_over_seeds_are_students() -> None:
    values = [0.2, 0.5, 0.3, 0.9]
    half = t.ppf(0.975, 3) * np.std(values, ddof=1) / 2
    expected = (np.mean(values), np.mean(values) - half, np.mean(values) + half)
    assert mean_and_interval(values) == pytest.approx(expected)
    assert interval(values) == pytest.approx(expected)
    assert mean_and_interval([0.4]) == (0.4, 0.4, 0.4)
    assert interval([0.4])[0] == 0.4
    assert all(math.isnan(end) for end in interval([0.4])[1:])


@pytest.mark.parametrize(("n", "rank"), [(5, 0), (6, 1), (8, 1), (9, 2), (10, 2), (20, 6)])
def test_the_interval_of_a_median_leaves_out_as_many_values_as_it_may(n: int, rank: int) -> None:
    """Rank k is below the median unless fewer than k of n values are: P(fewer than k of n heads), by counting."""
    values = np.random.default_rng(0).permutation(np.arange(1.0, n + 1) ** 3)
    median, low, high = median_and_interval(values.tolist())
    assert median == np.median(values)
    if rank == 0:
        assert (low, high) == (-np.inf, np.inf)
        assert 2 / 2**n > 0.05, "even the least and the largest leave the median out too often"
        return
    assert (low, high) == (rank**3, (n + 1 - rank) ** 3)
    fewer = [sum(math.comb(n, heads) for heads in range(k)) / 2**n for k in (rank, rank + 1)]
    assert 2 * fewer[0] <= 0.05 < 2 * fewer[1]


def test_which_way_is_better() -> None:
    assert [sign(name) for name in ("udr", "mig", "elbo", "l2", "reconstruction", "fid", "codes_used")] == [
        1, 1, 1, -1, -1, -1, 0,
    ]  # fmt: skip


def quantiles(drawn: list[float]) -> tuple[float, float]:
    finite = np.array(drawn)[np.isfinite(drawn)]
    return float(np.quantile(finite, 0.025)), float(np.quantile(finite, 0.975))


def test_intervals_of_rank_correlations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_agreement, "REPEATS", 50)
    draws = np.random.default_rng(1)
    a = [list(draws.normal(size=4) + k) for k in range(5)]
    b = [list(np.exp(np.array(group)) + 2 * draws.normal(size=4)) for group in a]

    def rho(x: np.ndarray, y: np.ndarray) -> float:
        return float(spearmanr(x, y)[0]) if np.ptp(x) and np.ptp(y) else math.nan

    chance = stream(0, "between groups")
    again = []
    for _ in range(50):
        rows = [chance.integers(4, size=4) for _ in range(5)]
        means = [[np.mean(np.array(g)[r]) for g, r in zip(groups, rows, strict=True)] for groups in (a, b)]
        again.append(rho(*map(np.array, means)))
    plain = rho(np.mean(a, axis=1), np.mean(b, axis=1))
    assert rank_agreement.between_groups(a, b) == pytest.approx((plain, *quantiles(again)))

    chance, x, y = stream(0, "over all"), np.ravel(a), np.ravel(b)
    again = [rho(x[rows], y[rows]) for rows in (chance.integers(20, size=20) for _ in range(50))]
    assert rank_agreement.over_all(a, b) == pytest.approx((rho(x, y), *quantiles(again)))

    chance, each = stream(0, "within groups"), np.array([rho(*map(np.array, pair)) for pair in zip(a, b, strict=True)])
    again = [float(each[chance.integers(5, size=5)].mean()) for _ in range(50)]
    assert rank_agreement.within_groups(a, b) == pytest.approx((each.mean(), *quantiles(again)))


def test_groups_of_different_sizes_count_by_their_means(monkeypatch: pytest.MonkeyPatch) -> None:
    """The larger group has the smaller mean, and resampled means change places."""
    monkeypatch.setattr(rank_agreement, "REPEATS", 40)
    a, b = (
        [[0.0, 0.4, 0.1, 0.2, 0.3], [0.5, 0.3], [0.2, 0.8, 0.9]],
        [[1.0, 0.0, 2.0, 3.0, 1.5], [2.0, 2.5], [1.0, 5.0, 4.0]],
    )
    chance, again = stream(0, "between groups"), []
    for _ in range(40):
        rows = [chance.integers(len(one), size=len(one)) for one in a]
        means = [[np.mean(np.array(g)[r]) for g, r in zip(groups, rows, strict=True)] for groups in (a, b)]
        again.append(float(spearmanr(*means)[0]) if np.ptp(means[0]) and np.ptp(means[1]) else math.nan)
    assert len(set(again)) > 2
    plain = float(spearmanr([np.mean(one) for one in a], [np.mean(one) for one in b])[0])
    assert plain == 1.0
    assert rank_agreement.between_groups(a, b) == pytest.approx((plain, *quantiles(again)))
    nothing = rank_agreement.within_groups([[1.0, 1.0]], [[2.0, 3.0]])
    assert len(nothing) == 3
    assert all(math.isnan(end) for end in nothing)
