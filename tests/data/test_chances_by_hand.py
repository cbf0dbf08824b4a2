"""Pairs, ties, weights and budgets by hand: the chance of every row, and the rows that a stream of numbers draws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from unbraid.data.factor_data import Factor, FactorData
from unbraid.data.held_out import choose_held_out
from unbraid.data.label_budget import LabelBudget, allocate, labelled_rows, shares
from unbraid.data.pairs import Pairs, Partners
from unbraid.data.reweight import configuration, row_weights
from unbraid.data.train_under import Tie, row_chances, rows_by_chance, ties
from unbraid.errors import InputError
from unbraid.util.seeds import stream

SIZES = (3, 2, 4)


def grid(*, keep: float = 1.0, sizes: tuple[int, ...] = SIZES) -> FactorData:
    """Combinations of three factors in a mixed order, all of them or some."""
    table = np.array(list(itertools.product(*map(range, sizes))), dtype=float)
    draws = np.random.default_rng(5)
    table = draws.permutation(table)[: round(keep * len(table))]
    info = tuple(Factor(name, size) for name, size in zip("abc", sizes, strict=True))
    return FactorData("grid", np.zeros((len(table), 1), np.float32), table, info)


def chances_of_changes(data: FactorData, row: int, numbers: list[int]) -> dict[int, float]:
    """A number of factors, then which, then a row that differs in just these: each as likely as the others."""
    out: dict[int, float] = {}
    possible = []
    for number in numbers:
        sets = []
        for chosen in itertools.combinations(range(3), number):
            members = [
                i
                for i in range(len(data))
                if {k for k in range(3) if data.factors[i, k] != data.factors[row, k]} == set(chosen)
            ]
            if members:
                sets.append(members)
        if sets:
            possible.append(sets)
    for sets in possible:
        for members in sets:
            for i in members:
                out[i] = out.get(i, 0.0) + 1 / len(possible) / len(sets) / len(members)
    return out


@pytest.mark.parametrize("keep", [1.0, 0.6])
@pytest.mark.parametrize("changed", [0, 1, 2])
def test_chances_of_partners_whose_factors_change(keep: float, changed: int) -> None:
    data = grid(keep=keep)
    partners = Partners(Pairs(changed=changed), data)
    assert partners.complete == (keep == 1)
    for row in range(len(data)):
        expected = chances_of_changes(data, row, [changed] if changed else [1, 2])
        if expected:
            assert partners.chances(row) == pytest.approx(expected)
        else:
            with pytest.raises(InputError, match=f"row {row} of grid has no partner"):
                partners.chances(row)


def test_chances_of_short_steps_among_the_rows_there_are() -> None:
    data = grid(keep=0.6)
    partners = Partners(Pairs(kind="steps", rate=0.4), data)
    for row in range(len(data)):
        weights = np.exp(-0.4 * np.abs(data.factors - data.factors[row]).sum(axis=1))
        assert partners.chances(row) == pytest.approx(dict(enumerate(weights / weights.sum())))


def test_on_a_whole_grid_partners_are_drawn_factor_by_factor() -> None:
    data = grid()
    rows = np.arange(len(data))
    where = {tuple(values): i for i, values in enumerate(data.factors.astype(int).tolist())}
    drawn = Partners(Pairs(), data).draw(rows, np.random.default_rng(2))
    random = np.random.default_rng(2)
    number = random.choice([1, 2], size=len(rows))
    order = random.random((len(rows), 3)).argsort(axis=1).argsort(axis=1)
    shift = random.integers(1, np.broadcast_to(SIZES, (len(rows), 3)))
    for i in rows:
        values = data.factors[i].astype(int).tolist()
        moved = [(v + s) % size if place < number[i] else v
                 for v, s, size, place in zip(values, shift[i], SIZES, order[i], strict=True)]  # fmt: skip
        assert drawn[i] == where[tuple(moved)]
        assert 1 <= sum(a != b for a, b in zip(values, moved, strict=True)) <= 2
    drawn = Partners(Pairs(kind="steps", rate=0.8), data).draw(rows, np.random.default_rng(2))
    random = np.random.default_rng(2)
    stepped = np.zeros((len(rows), 3), dtype=int)
    for k, size in enumerate(SIZES):
        for row, u in enumerate(random.random((len(rows), 1))[:, 0]):
            steps = np.exp(-0.8 * np.abs(np.arange(size) - data.factors[row, k]))
            stepped[row, k] = min(size - 1, int((u > np.cumsum(steps / steps.sum())).sum()))
    assert [where[tuple(values)] for values in stepped.tolist()] == drawn.tolist()


def test_partners_of_a_group_go_round_it() -> None:
    films = np.array([1.0, 0.0, 1.0, 0.0, 1.0])[:, None]
    data = FactorData("films", np.zeros((5, 1), np.float32), films, (Factor("film", 2),))
    same = Partners(Pairs(kind="same", by="film"), data)
    assert [same.chances(row) for row in range(5)] == [
        {2: 0.5, 4: 0.5}, {3: 1.0}, {0: 0.5, 4: 0.5}, {1: 1.0}, {0: 0.5, 2: 0.5},
    ]  # fmt: skip
    for row in range(5):
        drawn = same.draw(np.full(200, row), np.random.default_rng(0))
        assert set(drawn.tolist()) == set(same.chances(row))
    follow = Partners(Pairs(kind="next", by="film"), data)
    assert follow.draw(np.arange(5), np.random.default_rng(0)).tolist() == [2, 3, 4, 3, 4]
    assert follow.chances(1) == {3: 1.0}


def test_what_ties_say() -> None:
    names = ["a", "b", "c", "d", "e"]
    assert ties("2-pairs:0.1", names) == (Tie("a", "b", 0.1), Tie("c", "d", 0.1))
    assert ties("1-pair, d~b:0.4", names) == (Tie("a", "b", 0.2), Tie("d", "b", 0.4))
    assert ties("1-to-all", names[:3]) == (Tie("a", "b", 0.2), Tie("a", "c", 0.2))
    assert ties("3-pairs", [*names, "f"])[2] == Tie("e", "f", 0.2)


def test_tied_factors_are_measured_from_their_least_to_their_greatest() -> None:
    table = np.array([[3.0, -1.0], [5.0, 1.0], [7.0, 0.5], [4.0, 1.0]])
    info = (Factor("a", 0, "continuous"), Factor("b", 0, "continuous"))
    data = FactorData("some", np.zeros((4, 1), np.float32), table, info)
    u, v = (table[:, 0] - 3) / 4, (table[:, 1] + 1) / 2
    weights = np.exp(-((u - v) ** 2) / (2 * 0.3**2))
    assert row_chances(data, "a~b:0.3") == pytest.approx(weights / weights.sum())


def test_rows_stand_at_even_places_of_the_sum_of_chances() -> None:
    chances = np.array([0.05, 0.4, 0.0, 0.3, 0.25])
    start = stream(3, "train under").random()
    ends = np.cumsum(chances)
    expected = [next(i for i in range(5) if (k + start) / 5 < ends[i]) for k in range(5)]
    assert rows_by_chance(chances, 3).tolist() == expected
    exact = np.full(4, 0.25)
    assert rows_by_chance(exact).tolist() == [0, 1, 2, 3]


def test_the_four_joint_distributions() -> None:
    """Chen et al. 2018, §6.2.1, over u, v ∈ [−1, 1]: the likeliest is so many times as likely as the least likely."""
    u, v = np.meshgrid(np.linspace(-1, 1, 3), np.linspace(-1, 1, 5), indexing="ij")
    for ratio in (4.0, 9.0):
        options = {} if ratio == 4 else {"ratio": ratio}
        assert configuration("A", 3, 5, **options) == pytest.approx(np.ones((3, 5)))
        assert configuration("B", 3, 5, **options) == pytest.approx(ratio ** ((2 + u + v) / 4))
        assert configuration("C", 3, 5, **options) == pytest.approx(ratio ** np.abs(u * v))
        assert configuration("D", 3, 5, **options) == pytest.approx(ratio ** ((1 + u * v) / 2))


def test_weights_are_multiplied_and_made_chances() -> None:
    data = grid()
    one, two = np.array([1.0, 2.0, 0.0]), np.arange(8.0).reshape(2, 4)
    expected = [one[int(a)] * two[int(b), int(c)] for a, b, c in data.factors]
    assert row_weights(data, {"a": one, ("b", "c"): two}) == pytest.approx(np.array(expected) / sum(expected))


def test_quotas_are_shares_with_the_largest_remainders() -> None:
    random = np.random.default_rng(0)
    assert allocate(np.array([50, 30, 20]), 10, random).tolist() == [5, 3, 2]
    assert allocate(np.array([50, 34, 16]), 10, random).tolist() == [5, 3, 2]  # 5, 3.4, 1.6
    assert allocate(np.array([60, 33, 7]), 5, random).tolist() == [3, 1, 1]  # 3, 1.65, 0.35: no value is left out
    assert allocate(np.array([97, 1, 1, 1]), 4, random).tolist() == [1, 1, 1, 1]
    assert sorted(allocate(np.array([10, 10, 10, 10]), 2, random).tolist()) == [0, 0, 1, 1]
    assert allocate(np.array([70, 10, 10, 10]), 2, random).tolist() == [2, 0, 0, 0]  # 1.4 and 0.2 three times


def test_rows_that_are_labelled_and_shares_of_their_values() -> None:
    labels = np.array([[0.0, np.nan], [1.0, 2.0], [np.nan, np.nan], [0.0, 1.0]])
    assert labelled_rows(labels).tolist() == [1, 3]
    assert labelled_rows(labels, complete=False).tolist() == [0, 1, 3]
    assert labelled_rows(labels[:, :0]).tolist() == []
    assert shares(np.array([0.0, 2.0, 2.0, 0.0, 2.0]), Factor("a", 4)) == pytest.approx((0.4, 0.0, 0.6, 0.0))
    assert shares(np.array([]), Factor("a", 2)) == (0.5, 0.5)
    assert shares(np.array([0.3]), Factor("a", 0, "continuous")) == ()


@pytest.mark.parametrize(
    ("amount", "count"),
    [("50%", 12), ("0.1%", 1), ("0%", 0), ("1,000", 24), ("7", 7), ("all", 24), ("100%", 24), ("10%", 2)],
)
def test_budgets_are_counts_or_shares(amount: str, count: int) -> None:
    assert LabelBudget(amount).resolve(grid()).count == count


def test_a_part_or_whole_groups_are_held_out() -> None:
    data = grid()
    order = stream(4, "held out").permutation(24)
    assert choose_held_out(data, 0.25, "", 4).tolist() == sorted(order[:6])
    assert choose_held_out(data, 0.001, "", 4).tolist() == sorted(order[:1])
    sizes = np.bincount(data.factors[:, 2].astype(int))
    taken, count = [], 0
    for value in stream(4, "held out").permutation(4):
        if count + sizes[value] <= 12:
            taken.append(value)
            count += sizes[value]
    assert choose_held_out(data, 0.5, "c", 4).tolist() == np.flatnonzero(np.isin(data.factors[:, 2], taken)).tolist()
