"""Which observations are partners, and how often."""

from itertools import product

import numpy as np
import pytest

from unbraid.data.factor_data import Factor, FactorData
from unbraid.data.pairs import Pairs, Partners
from unbraid.errors import InputError

SIZES = (2, 3, 4)


def grid(drop: int = 0) -> FactorData:
    """Every combination of three factors once, but for the last `drop`, in a mixed order."""
    table = np.array(list(product(*(range(size) for size in SIZES))), dtype=float)
    table = np.random.default_rng(0).permutation(table)[: len(table) - drop]
    info = tuple(Factor(name, size) for name, size in zip("abc", SIZES, strict=True))
    return FactorData("grid", np.zeros((len(table), 1), np.float32), table, info)


def drawn_shares(partners: Partners, row: int, n: int = 20_000) -> dict[int, float]:
    drawn = partners.draw(np.full(n, row), np.random.default_rng(1))
    rows, counts = np.unique(drawn, return_counts=True)
    return {int(one): count / n for one, count in zip(rows, counts, strict=True)}


@pytest.mark.parametrize("drop", [0, 5])
@pytest.mark.parametrize("pairs", [Pairs(), Pairs(changed=1), Pairs(changed=2), Pairs(kind="steps", rate=0.7)])
def test_partners_are_drawn_as_often_as_their_chances_say(pairs: Pairs, drop: int) -> None:
    partners = Partners(pairs, grid(drop))
    row, n = 7, 2_000 if drop else 20_000
    chances, shares = partners.chances(row), drawn_shares(partners, row, n)
    assert sum(chances.values()) == pytest.approx(1)
    assert set(shares) <= set(chances)
    for other, chance in chances.items():
        assert shares.get(other, 0.0) == pytest.approx(chance, abs=5 * np.sqrt(chance / n))


def test_chances_of_changed_factors_by_hand() -> None:
    data = grid()
    chances = Partners(Pairs(changed=1), data).chances(0)
    # One of three factors, then one of its other values: 1/3·1/1, 1/3·1/2 and 1/3·1/3.
    expected = {0: 1 / 3, 1: 1 / 6, 2: 1 / 9}
    for other, chance in chances.items():
        (changed,) = np.flatnonzero(data.factors[other] != data.factors[0])
        assert chance == pytest.approx(expected[int(changed)])
    assert len(chances) == 1 + 2 + 3


def test_any_number_of_factors_changes_but_never_all() -> None:
    data = grid()
    chances = Partners(Pairs(), data).chances(3)
    numbers = {other: int((data.factors[other] != data.factors[3]).sum()) for other in chances}
    assert set(numbers.values()) == {1, 2}
    for number in (1, 2):  # each number is as likely
        assert sum(chances[other] for other in chances if numbers[other] == number) == pytest.approx(1 / 2)


def test_steps_are_likelier_the_shorter_they_are() -> None:
    data, rate = grid(), 0.7
    chances = Partners(Pairs(kind="steps", rate=rate), data).chances(5)
    mine = data.factors[5]
    for other in (0, 9, 17):
        expected = 1.0
        for value, own, size in zip(data.factors[other], mine, SIZES, strict=True):
            steps = np.exp(-rate * np.abs(np.arange(size) - own))
            expected *= steps[int(value)] / steps.sum()
        assert chances[other] == pytest.approx(expected)


def test_rows_that_are_not_trained_on_are_no_partners() -> None:
    data = grid()
    rows = np.arange(0, len(data), 2)
    for pairs in (Pairs(), Pairs(kind="next"), Pairs(kind="same", by="b")):
        partners = Partners(pairs, data, rows)
        assert set(partners.draw(np.repeat(rows, 20), np.random.default_rng(0)).tolist()) <= set(rows.tolist())


def test_partners_of_frames_and_of_objects() -> None:
    info = (Factor("film", 3, "categorical"),)
    films = np.array([[0.0], [0.0], [1.0], [1.0], [1.0], [2.0]])
    data = FactorData("films", np.zeros((6, 1), np.float32), films, info)
    random = np.random.default_rng(0)
    follow = Partners(Pairs(kind="next", by="film"), data)
    assert follow.draw(np.arange(6), random).tolist() == [1, 1, 3, 4, 4, 5]  # the last of a film is its own partner
    assert Partners(Pairs(kind="next"), data).draw(np.arange(6), random).tolist() == [1, 2, 3, 4, 5, 5]
    same = Partners(Pairs(kind="same", by="film"), data)
    assert same.chances(2) == {3: 0.5, 4: 0.5}
    assert same.chances(5) == {5: 1.0}
    shares = drawn_shares(same, 3)
    assert set(shares) == {2, 4}
    assert shares[2] == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        (Pairs(changed=3), "--pairs.changed 3"),
        (Pairs(kind="same"), "--pairs.by"),
        (Pairs(kind="same", by="d"), "'d'"),
    ],
)
def test_pairs_that_cannot_be(pairs: Pairs, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Partners(pairs, grid())


def test_continuous_factors_are_named() -> None:
    angles, info = np.random.default_rng(0).random((4, 1)), (Factor("angle", 0, "continuous"),)
    data = FactorData("x", np.zeros((4, 1), np.float32), angles, info)
    with pytest.raises(InputError, match="angle is continuous"):
        Partners(Pairs(), data)
