from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import unbraid.data as ud
from unbraid.errors import InputError


def test_info_counts_what_matters():
    images = np.zeros((6, 8, 8, 1), np.uint8)
    images[3:] = np.arange(3, dtype=np.uint8)[:, None, None, None] + 7
    data = ud.from_arrays(images, {"kind": ["a", "b", None, "a", "b", "b"]})
    seen = ud.info(data)
    assert (seen.n, seen.shape, seen.low, seen.high, seen.duplicates) == (6, (1, 8, 8), 0, 9, 2)
    assert (seen.factors[0].size, seen.factors[0].missing, seen.factors[0].values) == (2, 1, ("a", "b"))
    assert any("2 duplicates" in line for line in seen.lines())


def test_info_names_values_that_never_change():
    vectors = np.random.default_rng(0).normal(size=(20, 3))
    vectors[:, 1] = 4
    assert ud.info(ud.from_arrays(vectors)).constant == (1,)


def test_info_downloads_nothing():
    seen = ud.info("shapes3d")
    assert not seen.here
    assert seen.data is None
    assert seen.n == 480_000
    assert "unbraid data get shapes3d" in seen.lines()[-1]


def test_contact_sheets_of_images_and_of_curves(tmp_path):
    images = np.full((30, 10, 10, 1), 128, np.uint8)
    file = ud.contact_sheet(ud.from_arrays(images), tmp_path / "sheet.png", rows=2, columns=5, zoom=1)
    with Image.open(file) as sheet:
        assert sheet.size == (5 * 12 + 2, 2 * 12 + 2)
        assert set(np.unique(np.asarray(sheet))) == {128, 255}
    curves = ud.contact_sheet(ud.load("pendulum", n=9), tmp_path / "curves.png")
    with Image.open(curves) as sheet:
        assert len(np.unique(np.asarray(sheet))) > 2
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        ud.contact_sheet(ud.from_arrays(images), tmp_path / "file" / "sheet.png")
