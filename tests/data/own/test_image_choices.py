import numpy as np
import pytest
from PIL import Image

import unbraid as ub
import unbraid.data as ud
from unbraid.errors import InputError
from unbraid.methods import BetaVAE


def folder_of(folder, **pictures):
    folder.mkdir()
    for name, picture in pictures.items():
        made = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
        made.save(folder / f"{name}.png")
    return folder


def test_deeper_images_are_stretched_between_the_ends_of_all_of_them(tmp_path):
    low, high = np.full((64, 64), 1000, np.uint16), np.full((64, 64), 3000, np.uint16)
    low[0, 0], high[0, 0] = 0, 65535  # a dead pixel and a hot one, 1 of 8,192: beyond the ends
    data = ud.load(folder_of(tmp_path / "p", a=low, b=high, c=np.full((64, 64), 2000, np.uint16)))
    assert data.preprocessing.stretch == (1000, 3000)
    assert [int(np.median(image)) for image in data.observations] == [0, 255, 128]
    assert (data.observations[0, 0, 0, 0], data.observations[1, 0, 0, 0]) == (0, 255)
    assert "1,000 becomes black and 3,000 white" in data.notes[0]
    again = ud.load(tmp_path / "p")  # from the cache
    assert (again.notes, again.preprocessing, again.fingerprint) == (data.notes, data.preprocessing, data.fingerprint)


def test_the_ends_can_be_stated(tmp_path):
    folder = folder_of(tmp_path / "p", a=np.array([[0, 1023], [2047, 4095]], np.uint16))
    assert ud.load(folder, stretch="0,4095").observations.ravel().tolist() == [0, 64, 127, 255]
    for wrong in ("9,3", "low", [1, 2, 3]):
        with pytest.raises(InputError, match="stretch="):
            ud.load(folder, stretch=wrong)


def test_new_images_are_stretched_as_the_run_s_own_were(tmp_path):
    draws = np.random.default_rng(0)
    pictures = {f"n{k}": draws.integers(500, 2500, (16, 16), dtype=np.uint16) for k in range(6)}
    folder = folder_of(tmp_path / "p", **pictures)
    run = ub.fit(ud.load(folder), BetaVAE(width=0.1, latents=2), steps=1, out=tmp_path / "run", show=False)
    codes = run.encode(show=False).codes
    np.testing.assert_allclose(ub.open(tmp_path / "run").encode(folder / "n2.png").codes, codes[2:3], atol=1e-5)
    np.testing.assert_allclose(run.encode(pictures["n2"]).codes, codes[2:3], atol=1e-5)
    np.save(tmp_path / "new.npy", np.stack([pictures["n2"], pictures["n4"]]))
    np.testing.assert_allclose(run.encode(tmp_path / "new.npy").codes, codes[[2, 4]], atol=1e-5)


def test_grey_and_coloured_images_become_coloured_and_that_is_said(tmp_path):
    folder = folder_of(tmp_path / "p", a=Image.new("RGB", (4, 4), (200, 10, 10)), b=Image.new("L", (4, 4), 90))
    data = ud.load(folder)
    assert data.shape == (3, 4, 4)
    assert data.observations[1, 0, 0].tolist() == [90, 90, 90]
    assert data.notes[0].startswith("1 of 2 images are grey")
    assert ud.load(folder, channels=1).shape == (1, 4, 4)


def test_transparent_parts_become_what_was_asked_for(tmp_path):
    folder = folder_of(tmp_path / "p", a=Image.new("RGBA", (4, 4), (9, 9, 9, 0)))
    assert ud.load(folder).observations.min() == 255
    black = ud.load(folder, background="black")
    assert black.observations.max() == 0
    assert "become black" in black.notes[0]
    with pytest.raises(InputError, match="background='green' is unknown"):
        ud.load(folder, background="green")


def test_all_that_is_no_image_is_counted_at_once(tmp_path):
    folder = folder_of(tmp_path / "p", a=Image.new("L", (4, 4)))
    for name in ("b.jpg", "c.png"):
        (folder / name).write_text("hello")
    with pytest.raises(InputError, match=r"b.jpg' cannot be read as an image \(1 more like it\); remove them"):
        ud.load(folder)


def test_arrays_of_sixteen_bits_are_stretched_and_dark_ones_are_said():
    deep = ud.from_arrays(np.linspace(200, 4000, 3 * 64).astype(np.uint16).reshape(3, 8, 8))
    assert (deep.observations.min(), deep.observations.max()) == (0, 255)
    assert deep.preprocessing.stretch == (200, 4000)
    dark = ud.from_arrays((np.arange(64).reshape(1, 8, 8) % 17).astype(np.uint8))
    assert dark.observations.max() == 16
    assert dark.notes == ("values reach 16 of 255, so that images are dark; --data.value-range 0,16 makes that white",)
    assert ud.from_arrays(np.arange(256.0).reshape(1, 16, 16)).notes == ()


def test_floats_that_end_far_below_255_are_stretched_and_bytes_are_not() -> None:
    images = np.tile(np.array([0.0, 4.0, 8.0, 16.0]), (3, 4, 1))
    data = ud.from_arrays(images)
    assert data.observations[0, 0, :, 0].tolist() == [0, 64, 128, 255]
    assert data.preprocessing.stretch == (0.0, 16.0)
    assert data.notes == ("values reach 16, which becomes white (--data.value-range 0,255 leaves the images dark)",)
    assert ud.from_arrays(images, value_range=(0, 255)).observations.max() == 16
    assert ud.from_arrays(images.astype(np.uint8)).observations.max() == 16
