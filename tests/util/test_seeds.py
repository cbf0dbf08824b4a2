"""Derived seeds are part of every finished run: these numbers must never change."""

import numpy as np

from unbraid.util import seeds


def test_seeds_are_what_they_were_in_the_first_runs() -> None:
    assert seeds.mix(0, "weights") == 53746376186389587
    assert seeds.mix(3, "vae", 7, 0) == 1429381647598520
    assert [int(seeds.label_stream(seed).integers(1000)) for seed in (0, 1)] == [456, 827]
    assert int(seeds.stream(5, "rows").integers(1000)) == 436


def test_a_stream_is_numpy_seeded_by_mix() -> None:
    expected = np.random.default_rng(seeds.mix(5, "rows")).random(3)
    np.testing.assert_array_equal(seeds.stream(5, "rows").random(3), expected)
    assert not np.array_equal(seeds.stream(5, "pictures").random(3), expected)
