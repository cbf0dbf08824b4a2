from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

import unbraid as ub
import unbraid.data as ud
from unbraid.errors import InputError
from unbraid.methods import BetaVAE

RNG = np.random.default_rng(0)


def picture(path, size=(8, 6), mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    channels = {"L": (), "RGB": (3,), "RGBA": (4,), "LA": (2,)}[mode]
    values = RNG.integers(0, 256, (size[1], size[0], *channels), dtype=np.uint8)
    Image.fromarray(values, mode).save(path)
    return values


def test_a_folder_becomes_bytes_in_the_order_of_names(tmp_path):
    values = [picture(tmp_path / "photos" / f"{name}.png") for name in "cab"]
    data = ud.load(tmp_path / "photos")
    assert data.shape == (3, 6, 8)
    for row, k in enumerate((1, 2, 0)):
        np.testing.assert_array_equal(data.observations[row], values[k])
    assert data.factor_info == ()


def test_nested_folders_are_classes(tmp_path):
    for place in ("cats/1.png", "cats/2.png", "dogs/1.png"):
        picture(tmp_path / "photos" / place)
    data = ud.load(str(tmp_path / "photos"))
    assert data.factor_info[0].values == ("cats", "dogs")
    np.testing.assert_array_equal(data.column("class"), [0, 0, 1])


def test_the_call_can_be_repeated_from_its_record(tmp_path):
    picture(tmp_path / "photos" / "1.png", (20, 10))
    data = ud.load(tmp_path / "photos", resize=[4, 4], channels=1)
    arguments = json.loads(json.dumps(data.arguments))
    again = ud.load(data.name, **arguments)
    assert again.fingerprint == data.fingerprint
    np.testing.assert_array_equal(again.observations, data.observations)


def test_fingerprint_follows_content_not_place(tmp_path):
    values = picture(tmp_path / "one" / "1.png")
    Image.fromarray(values).save(tmp_path / "1.bmp")
    (tmp_path / "two").mkdir()
    Image.fromarray(values).save(tmp_path / "two" / "1.png")
    one, two = ud.load(tmp_path / "one"), ud.load(tmp_path / "two")
    assert one.fingerprint == two.fingerprint
    picture(tmp_path / "two" / "1.png")
    assert ud.load(tmp_path / "two").fingerprint != one.fingerprint


def test_resize_cuts_evenly_and_keeps_the_middle(tmp_path):
    (tmp_path / "p").mkdir()
    wide = np.zeros((10, 30, 3), np.uint8)
    wide[:, 10:20] = 255
    Image.fromarray(wide).save(tmp_path / "p" / "wide.png")
    assert ud.load(tmp_path / "p", resize=10).observations.min() == 255
    assert ud.load(tmp_path / "p", resize=10, crop="none").observations.min() == 0


def test_transparent_parts_become_white_and_palettes_colours(tmp_path):
    (tmp_path / "p").mkdir()
    Image.new("RGBA", (4, 4), (255, 0, 0, 0)).save(tmp_path / "p" / "1.png")
    Image.new("RGB", (4, 4), (0, 255, 0)).convert("P").save(tmp_path / "p" / "2.png")
    data = ud.load(tmp_path / "p")
    assert (data.observations[0] == 255).all()
    np.testing.assert_allclose(data.observations[1, 0, 0].astype(int), [0, 255, 0], atol=2)


def test_the_whole_range_of_sixteen_bits_can_be_asked_for(tmp_path):
    (tmp_path / "p").mkdir()
    Image.fromarray(np.array([[0, 257 * 7], [65535, 30000]], np.uint16)).save(tmp_path / "p" / "deep.png")
    data = ud.load(tmp_path / "p", depth=16)
    assert data.observations.ravel().tolist() == [0, 7, 255, 117]
    assert data.notes == ()


def bad_inputs(tmp_path):
    (tmp_path / "empty").mkdir()
    yield "empty", {}, "holds no images"
    picture(tmp_path / "broken" / "a.png")
    (tmp_path / "broken" / "b.png").write_bytes((tmp_path / "broken" / "a.png").read_bytes()[:60])
    yield "broken", {}, "b.png' cannot be read"
    picture(tmp_path / "hollow" / "a.png")
    (tmp_path / "hollow" / "b.png").write_bytes(b"")
    yield "hollow", {}, r"b.png' is empty \(0 bytes\)"
    picture(tmp_path / "mixed" / "a.png")
    picture(tmp_path / "mixed" / "b.png", (9, 9))
    yield "mixed", {}, "a.png' is 8×6 and .*b.png' is 9×9.*resize="
    yield "absent/folder", {}, "there is no file or folder"
    (tmp_path / "note.txt").write_text("hello")
    yield "note.txt", {}, "cannot be read; give a folder"
    values = np.zeros((5, 4), np.float32)
    values[3, 1] = np.nan
    np.save(tmp_path / "nan.npy", values)
    yield "nan.npy", {}, "row 3 holds NaN"
    np.save(tmp_path / "objects.npy", np.array([{}, []], object), allow_pickle=True)
    yield "objects.npy", {}, "Python objects"
    np.savez(tmp_path / "objects.npz", x=np.array([{}, []], object))
    yield "objects.npz", {}, "Python objects"
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 cut")
    yield "cut.npz", {}, "not a readable .npz"
    (tmp_path / "cut.npy").write_bytes(b"\x93NUMPY")
    yield "cut.npy", {}, "not a readable .npy"
    np.save(tmp_path / "odd.npy", np.zeros((2, 3, 8, 3), np.uint8))
    yield "odd.npy", {}, "layout="
    np.save(tmp_path / "deep.npy", np.full((2, 3, 8, 9, 3), 7, np.uint8))
    yield "deep.npy", {}, "reshape"
    np.save(tmp_path / "signed.npy", np.full((2, 8, 8), -0.5))
    yield "signed.npy", {}, "value_range"
    np.save(tmp_path / "none.npy", np.zeros((0, 8, 8)))
    yield "none.npy", {}, "is empty"
    yield "mixed", {"colour": 3}, "no option 'colour'"


def test_bad_input_is_one_sentence_that_helps(tmp_path, cache_folder):
    for name, arguments, message in bad_inputs(tmp_path):
        with pytest.raises(InputError, match=message):
            ud.load(tmp_path / name, **arguments)
    left = [file for file in cache_folder.rglob("*") if file.is_file()] if cache_folder.exists() else []
    assert left == []


def test_no_permission_is_said(tmp_path, monkeypatch):
    picture(tmp_path / "p" / "a.png")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Image, "open", refuse)
    with pytest.raises(InputError, match=r"no permission to read .*a\.png"):
        ud.load(tmp_path / "p")
    monkeypatch.setattr(np, "load", refuse)
    np.save(tmp_path / "a.npy", np.zeros((2, 3)))
    with pytest.raises(InputError, match=r"no permission to read .*a\.npy"):
        ud.load(tmp_path / "a.npy")


def test_large_arrays_are_converted_on_disk(tmp_path, monkeypatch, cache_folder):
    values = RNG.random((9, 8, 8, 3)).astype(np.float32)
    np.save(tmp_path / "a.npy", values)
    small = ud.load(tmp_path / "a.npy")
    monkeypatch.setattr("unbraid.data.cache.IN_MEMORY_LIMIT", 0)
    large = ud.load(tmp_path / "a.npy")
    np.testing.assert_array_equal(small.observations, large.observations)
    assert len(list((cache_folder / "packed").glob("a-*.npy"))) == 1


@pytest.mark.parametrize("kind", [np.uint8, bool])
def test_large_images_of_zeros_and_ones_need_no_second_file(tmp_path, monkeypatch, cache_folder, kind):
    bits = RNG.integers(0, 2, (24, 16, 16), dtype=np.uint8)
    np.save(tmp_path / "a.npy", bits.astype(kind))
    small = ud.load(tmp_path / "a.npy")
    monkeypatch.setattr("unbraid.data.cache.IN_MEMORY_LIMIT", 0)
    large = ud.load(tmp_path / "a.npy")
    assert not cache_folder.exists()
    assert (large.shape, large.fingerprint) == (small.shape, small.fingerprint)
    np.testing.assert_array_equal(large.observations, 255 * bits[..., None])
    np.testing.assert_array_equal(large.observations[[3, 1]], 255 * bits[[3, 1], ..., None])
    config = BetaVAE(width=0.1)
    runs = [
        ub.fit(data, config, steps=2, out=tmp_path / str(n) / "run", show=False)
        for n, data in enumerate((small, large))
    ]
    weights = [(run.stage_folder(1) / "weights.safetensors").read_bytes() for run in runs]
    assert weights[0] == weights[1]
    assert runs[1].report().is_file()


def test_bytes_are_not_read_to_the_end_to_see_that_they_are_bytes(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", np.full((50, 8, 8, 3), 7, np.uint8))
    monkeypatch.setattr("unbraid.data.own.blocks.BLOCK", 8 * 8 * 3)
    seen = []
    monkeypatch.setattr("unbraid.data.cache.release", lambda array: seen.append(1))
    ud.load(tmp_path / "a.npy")
    assert not seen  # the first block was enough


def test_misspelt_names_get_a_suggestion():
    with pytest.raises(InputError, match="did you mean 'sprites'"):
        ud.load("sprite")


def test_array_layouts_and_ranges_mean_the_same_images(tmp_path):
    images = RNG.integers(0, 256, (5, 6, 7, 3), dtype=np.uint8)
    np.save(tmp_path / "a.npy", images)
    np.save(tmp_path / "b.npy", np.moveaxis(images, 3, 1))
    np.save(tmp_path / "c.npy", (images / 255).astype(np.float32))
    np.save(tmp_path / "d.npy", images / 127.5 - 1)
    for name, arguments in (("a", {}), ("b", {}), ("c", {}), ("d", {"value_range": (-1, 1)})):
        np.testing.assert_array_equal(ud.load(tmp_path / f"{name}.npy", **arguments).observations, images)
    np.save(tmp_path / "e.npy", images[..., 0] > 100)
    np.save(tmp_path / "f.npy", (images[..., 0] > 100).astype(np.uint8))
    for name in "ef":
        data = ud.load(tmp_path / f"{name}.npy")
        assert data.shape == (1, 6, 7)
        assert set(np.unique(data.observations)) == {0, 255}


def test_byte_images_in_npy_stay_on_disk(tmp_path):
    np.save(tmp_path / "a.npy", RNG.integers(0, 256, (5, 6, 7, 3), dtype=np.uint8))
    observations = ud.load(tmp_path / "a.npy").observations
    while observations.base is not None and not isinstance(observations, np.memmap):
        observations = observations.base
    assert isinstance(observations, np.memmap)


def test_npz_with_factors_by_name(tmp_path):
    np.savez(tmp_path / "a.npz", images=np.zeros((4, 8, 8), np.uint8), labels=[[1, 0.5], [2, 0.25], [1, 0.1], [4, 0.7]],
             factor_names=["kind", "angle"])  # fmt: skip
    data = ud.load(tmp_path / "a.npz")
    assert [(f.name, f.size, f.kind) for f in data.factor_info] == [("kind", 3, "ordinal"), ("angle", 0, "continuous")]
    np.testing.assert_array_equal(data.column("kind"), [0, 1, 0, 2])


def test_hdf5_arrays(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["group/images"] = np.full((3, 8, 8, 3), 7, np.uint8)
        file["other"] = np.zeros(3)
    with pytest.raises(InputError, match="array="):
        ud.load(tmp_path / "a.h5")
    data = ud.load(tmp_path / "a.h5", array="group/images", factors="other")
    assert data.shape == (3, 8, 8)
    assert data.factors.shape == (3, 1)
    (tmp_path / "b.h5").write_bytes(b"<html>")
    with pytest.raises(InputError, match="HDF5"):
        ud.load(tmp_path / "b.h5")


def test_torch_tensors_and_columns():
    torch = pytest.importorskip("torch")
    data = ud.from_arrays(torch.rand(4, 3, 8, 8), {"kind": ["a", "b", None, "a"], "size": [1.5, 2, float("nan"), 3]})
    assert data.shape == (3, 8, 8)
    assert data.factor_info[0].values == ("a", "b")
    np.testing.assert_array_equal(data.column("kind"), [0, 1, np.nan, 0])
    assert data.arguments is None


def test_datasets_with_columns_of_pictures():
    class Dataset:  # what is used of Hugging Face's class
        column_names = ("image", "label")
        columns = {  # noqa: RUF012
            "image": [Image.fromarray(RNG.integers(0, 256, (6 + k, 9, 3), dtype=np.uint8)) for k in range(3)],
            "label": [2, 0, 2],
        }

        def __getitem__(self, name):
            return self.columns[name]

    data = ud.from_dataset(Dataset(), factors=["label"], resize=4)
    assert data.shape == (3, 4, 4)
    np.testing.assert_array_equal(data.factors[:, 0], [1, 0, 1])
    with pytest.raises(InputError, match="resize="):
        ud.from_dataset(Dataset())
    with pytest.raises(InputError, match="'labels'"):
        ud.from_dataset(Dataset(), factors=["labels"], resize=4)
