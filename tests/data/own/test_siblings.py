import numpy as np
import pytest

import unbraid.data as ud
from unbraid.errors import InputError

FREQ, AMP = np.array([0.5, 1.5, 2.5, 0.5]), np.array([3, 1, 2, 3])


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "s.npz"
    np.savez(
        path, signals=np.random.default_rng(0).normal(size=(4, 6)), freq=FREQ, amp=AMP[:, None], dt=np.float64(0.1)
    )
    return path


def test_arrays_beside_the_observations_are_labels_by_name(archive):
    data = ud.load(archive, factors="freq,amp")
    assert data.factor_names == ("freq", "amp")
    np.testing.assert_array_equal(data.column("freq"), FREQ)
    np.testing.assert_array_equal(data.column("amp"), [2, 0, 1, 2])
    assert data.notes == ()
    np.testing.assert_array_equal(ud.load(data.name, **(data.arguments or {})).factors, data.factors)


def test_arrays_that_nobody_asked_for_are_mentioned_in_one_line(archive):
    assert ud.load(archive).notes == ("not used: freq, amp; --factors freq,amp makes labels of them",)
    assert ud.load(archive, factors=["freq"]).notes == ("not used: amp; --factors amp makes labels of it",)
    with pytest.raises(InputError, match="did you mean 'freq'"):
        ud.load(archive, factors="frec")
    with pytest.raises(InputError, match=r"'dt' has the shape \(\)"):
        ud.load(archive, factors="dt")


def test_hdf5_takes_several_label_arrays_too(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "s.h5", "w") as file:
        file["x"], file["freq"], file["amp"] = np.zeros((4, 6)), FREQ, AMP
    assert ud.load(tmp_path / "s.h5", factors="amp,freq").factor_names == ("amp", "freq")
    assert ud.load(tmp_path / "s.h5").notes == ("not used: amp, freq; --factors amp,freq makes labels of them",)


def test_labels_beside_an_array_are_hinted_at_and_read(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((4, 6)))
    np.save(tmp_path / "labels.npy", AMP)
    assert "labels.npy beside it" in ud.load(tmp_path / "x.npy").notes[0]
    data = ud.load(tmp_path / "x.npy", labels="labels.npy")
    assert (data.factor_names, data.notes) == (("labels",), ())
    np.testing.assert_array_equal(ud.load(data.name, **(data.arguments or {})).factors, data.factors)
    (tmp_path / "t.csv").write_text("pose,mood\n1,calm\n2,wild\n3,calm\n1,\n")
    assert ud.load(tmp_path / "x.npy", labels=tmp_path / "t.csv").factor_names == ("pose", "mood")
    (tmp_path / "t.csv").write_text("pose\n1\n2\n")
    with pytest.raises(InputError, match="2 rows of labels for 4 observations"):
        ud.load(tmp_path / "x.npy", labels=tmp_path / "t.csv")


def test_an_array_called_target_is_a_factor_of_that_name(tmp_path):
    np.savez(tmp_path / "digits.npz", images=np.zeros((6, 8, 8), np.uint8) + 9, target=np.arange(6) % 3)
    data = ud.load(tmp_path / "digits.npz")
    assert [(factor.name, factor.size) for factor in data.factor_info] == [("target", 3)]
