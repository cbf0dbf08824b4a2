"""Rank correlations over settings, models and seeds."""

import numpy as np
import pytest

from unbraid.papers.measures.rank_agreement import between_groups, over_all, rank_correlation, within_groups

UDR = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]
MIG = [[0.3, 0.2, 0.1], [0.9, 0.8, 0.7]]  # the better setting is known, the better seed is not


def test_settings_and_seeds_are_told_apart() -> None:
    assert between_groups(UDR, MIG)[0] == pytest.approx(1.0)
    assert within_groups(UDR, MIG) == pytest.approx((-1.0, -1.0, -1.0))
    # Ranks 1 2 3 4 5 6 and 3 2 1 6 5 4: ρ = 1 − 6 · 16 / (6 · 35).
    assert over_all(UDR, MIG)[0] == pytest.approx(1 - 96 / 210)


def test_intervals_contain_what_was_found_and_are_the_same_each_time() -> None:
    value, low, high = over_all(UDR, MIG)
    assert low < value < high
    assert over_all(UDR, MIG) == (value, low, high)


def test_what_does_not_vary_has_no_rank() -> None:
    assert np.isnan(rank_correlation([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]))
    assert np.isnan(within_groups([[1.0, 1.0]], [[1.0, 2.0]])[0])


def test_the_value_is_of_all_seeds_and_only_the_interval_of_drawn_ones() -> None:
    # Means 3, 4, 5, 6 and 4, 3, 6, 5 of groups that overlap: ρ = 1 − 6 · 4 / (4 · 15). Drawn seeds give other orders.
    a = [[mean - 3.0, mean + 1.0, mean + 2.0] for mean in (3.0, 4.0, 5.0, 6.0)]
    b = [[mean + 4.0, mean - 5.0, mean + 1.0] for mean in (4.0, 3.0, 6.0, 5.0)]
    for _ in range(3):
        value, low, high = between_groups(a, b)
        assert value == pytest.approx(1 - 24 / 60)
        assert low < 0 < value < high
