"""An array [n, time] is a signal where that is said, and a wide one says what it was taken for."""

from pathlib import Path

import numpy as np
import pytest

import unbraid as ub
from unbraid.errors import InputError

WAVES = np.sin(np.linspace(0, 9, 300) + np.linspace(0, 6, 60)[:, None]) * 5 + 3


def test_a_flat_array_is_a_signal_by_its_layout(tmp_path: Path) -> None:
    np.save(tmp_path / "waves.npy", WAVES)
    flat = ub.data.load(tmp_path / "waves.npy", layout="nct")
    deep = ub.data.from_arrays(WAVES[:, None])
    np.testing.assert_array_equal(flat.observations, deep.observations)
    assert flat.preprocessing == deep.preprocessing
    assert flat.preprocessing.signal == (1, 300)
    assert not flat.notes


def test_wide_rows_say_that_they_are_taken_for_features() -> None:
    data = ub.data.from_arrays(WAVES)
    assert data.preprocessing.signal is None
    assert "features of another model" in data.notes[0]
    assert "layout=nct" in data.notes[0]
    assert not ub.data.from_arrays(WAVES[:, :255]).notes
    assert not ub.data.from_arrays(WAVES, standardize=True).notes


def test_a_run_on_flat_signals_takes_new_ones_as_they_come(tmp_path: Path) -> None:
    data = ub.data.from_arrays(WAVES, layout="nct")
    run = ub.fit(data, ub.methods.VAE(width=0.1, likelihood="gaussian"), steps=2, out=tmp_path / "run", show=False)
    np.save(tmp_path / "more.npy", WAVES[:5])
    codes = run.encode(tmp_path / "more.npy").codes
    np.testing.assert_allclose(codes, run.encode(WAVES[:5]).codes, atol=1e-5)
    np.testing.assert_allclose(codes, run.encode(show=False).codes[:5], atol=1e-5)
    assert run.decode(codes)[-1].shape == (5, 1, 300)


def test_channels_last_needs_three_axes() -> None:
    with pytest.raises(InputError, match=r"three axes.*nct for \[n, time\] too"):
        ub.data.from_arrays(WAVES, layout="ntc")
