from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from unbraid.data import cache
from unbraid.errors import InputError


def ones(rows: int = 4):
    return lambda: (np.full((1, 3), k, np.uint8) for k in range(rows))


def test_arrays_are_made_once_and_mapped():
    first = cache.cached_array("a/b.npy", (4, 3), np.uint8, ones(), "ones")
    again = cache.cached_array("a/b.npy", (4, 3), np.uint8, lambda: pytest.fail("made again"), "ones")
    np.testing.assert_array_equal(first, again)
    again[0] = 9  # copy-on-write: the file stays as it is
    assert cache.cached_array("a/b.npy", (4, 3), np.uint8, ones(), "ones")[0, 0] == 0


def test_a_failing_maker_leaves_nothing_behind(cache_folder):
    def broken():
        yield np.zeros((1, 3), np.uint8)
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        cache.cached_array("a/b.npy", (4, 3), np.uint8, broken, "broken")
    assert list((cache_folder / "a").iterdir()) == []


def test_what_a_killed_process_left_is_cleared_after_a_day(cache_folder):
    cache_folder.mkdir()
    old, new = cache_folder / ".b.npy.old.partial", cache_folder / ".b.npy.new.partial"
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (0, 0))
    cache.cached_array("b.npy", (4, 3), np.uint8, ones(), "ones")
    assert sorted(file.name for file in cache_folder.iterdir()) == [new.name, "b.npy"]


def test_a_damaged_file_is_made_again(cache_folder):
    cache.cached_array("b.npy", (4, 3), np.uint8, ones(), "ones")
    (cache_folder / "b.npy").write_bytes(b"\x93NUMPY truncated")
    assert cache.cached_array("b.npy", (4, 3), np.uint8, ones(), "ones")[3, 0] == 3


def test_a_full_disk_is_said_and_small_data_stays_in_memory(cache_folder, monkeypatch):
    class Full:
        free = 5

    monkeypatch.setattr("shutil.disk_usage", lambda path: Full)
    with pytest.warns(UserWarning, match="kept in memory"):
        assert cache.cached_array("c.npy", (4, 3), np.uint8, ones(), "ones").shape == (4, 3)
    monkeypatch.setattr(cache, "IN_MEMORY_LIMIT", 0)
    with pytest.raises(InputError, match="UNBRAID_DATA") as caught:
        cache.cached_array("c.npy", (4, 3), np.uint8, ones(), "ones")
    assert str(cache_folder) in str(caught.value)
    assert list(cache_folder.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(cache, "IN_MEMORY_LIMIT", 0)
    with pytest.raises(InputError, match="UNBRAID_DATA"):
        cache.cached_array("c.npy", (4, 3), np.uint8, ones(), "ones")


def test_a_data_folder_that_nobody_may_write_is_read_and_what_is_made_goes_to_the_users_own(tmp_path, monkeypatch):
    shared, own = tmp_path / "shared", tmp_path / "home"
    shared.mkdir()
    np.save(shared / "there.npy", np.zeros((4, 3), np.uint8))
    shared.chmod(0o555)  # root may write it all the same, and must not
    monkeypatch.setenv("UNBRAID_DATA", str(shared))
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    try:
        found = cache.cached_array("there.npy", (4, 3), np.uint8, lambda: pytest.fail("made again"), "ones")
        made = cache.cached_array("below/made.npy", (4, 3), np.uint8, ones(), "ones")
        again = cache.cached_array("below/made.npy", (4, 3), np.uint8, lambda: pytest.fail("made again"), "ones")
        assert [file.name for file in shared.iterdir()] == ["there.npy"]
    finally:
        shared.chmod(0o755)
    assert found.sum() == 0
    np.testing.assert_array_equal(made, again)
    assert (own / "unbraid" / "below" / "made.npy").is_file()
    assert cache.place("below/other.npy") == shared / "below" / "other.npy"  # it may be written again


def test_the_folder_follows_the_environment(monkeypatch):
    monkeypatch.setenv("UNBRAID_DATA", "~/somewhere")
    assert cache.folder() == Path.home() / "somewhere"
    monkeypatch.delenv("UNBRAID_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", os.sep + "xdg")
    assert cache.folder() == Path(os.sep + "xdg") / "unbraid"


def test_released_arrays_read_the_same():
    array = cache.cached_array("a.npy", (4, 3), np.uint8, ones(), "ones")
    before = array.copy()
    cache.release(array[1:])
    cache.release(before)  # not mapped: nothing to do
    np.testing.assert_array_equal(array, before)
