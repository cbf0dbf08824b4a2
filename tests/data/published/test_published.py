"""Each loader on small files in the published format, and on the real files where they are."""

from __future__ import annotations

import gzip
import io
import json
import struct
import tarfile
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

import unbraid.data as ud
from unbraid.data.factor_data import Factor
from unbraid.data.published import arrange as named
from unbraid.data.published import catalogue as published
from unbraid.data.published import download, formats
from unbraid.errors import InputError

RNG = np.random.default_rng(0)


def noise(*shape):
    return RNG.integers(0, 256, shape, dtype=np.uint8)


@pytest.fixture
def small_entry(monkeypatch):
    """Make a data set's published grid as small as a test's."""

    def shrink(name, sizes):
        entry = ud.catalogue()[name]
        factors = tuple(Factor(f.name, n, f.kind) for f, n in zip(entry.factors, sizes, strict=True))
        monkeypatch.setitem(ud.catalogue(), name, replace(entry, factors=factors))

    return shrink


def write_idx(path, values):
    head = struct.pack(">HBB", 0, 8, values.ndim) + struct.pack(f">{values.ndim}I", *values.shape)
    path.write_bytes(gzip.compress(head + values.tobytes()))


def write_norb(path, values):
    magic = 0x1E3D4C55 if values.dtype == np.uint8 else 0x1E3D4C54
    lengths = [*values.shape, 1, 1][: max(3, values.ndim)]
    head = struct.pack("<II", magic, values.ndim) + struct.pack(f"<{len(lengths)}I", *lengths)
    path.write_bytes(gzip.compress(head + values.astype(values.dtype.newbyteorder("<")).tobytes()))


def png(values):
    out = io.BytesIO()
    Image.fromarray(values).save(out, "PNG")
    return out.getvalue()


def write_tar(path, members):
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def test_the_catalogue_is_whole():
    entries = ud.catalogue()
    assert set(entries) == set(named.READERS)
    for entry in entries.values():
        assert entry.files
        assert entry.licence
        assert all(url.startswith(("https://", "http://")) for file in entry.files for url in file.urls)
        assert entry.name == "chairs" or all(file.sha256 or file.md5 for file in entry.files)
        counts = [factor.size for factor in entry.factors]
        if counts and entry.name not in ("mnist", "fashion-mnist", "smallnorb"):
            assert int(np.prod(counts)) == entry.n


def test_dsprites_archive_with_pickled_metadata(tmp_path, small_entry):
    small_entry("dsprites", (3, 2, 2, 1, 1))
    bits = RNG.integers(0, 2, (12, 64, 64), dtype=np.uint8)
    np.savez_compressed(tmp_path / "d.npz", imgs=bits, metadata=np.array({"date": 1}, object))
    data = ud.load("dsprites", path=tmp_path / "d.npz", verify=False)
    np.testing.assert_array_equal(data.observations[..., 0], bits * 255)
    np.testing.assert_array_equal(data.factors[5], [1, 0, 1, 0, 0])


def test_shapes3d_in_hdf5(tmp_path, small_entry):
    h5py = pytest.importorskip("h5py")
    small_entry("shapes3d", (2, 2, 1, 1, 1, 3))
    images = noise(12, 64, 64, 3)
    with h5py.File(tmp_path / "3dshapes.h5", "w") as file:
        file["images"], file["labels"] = images, np.zeros((12, 6))
    data = ud.load("shapes3d", path=tmp_path, verify=False)
    np.testing.assert_array_equal(data.observations, images)
    assert data.factor_names[:2] == ("floor_hue", "wall_hue")


def test_mpi3d_knows_its_variant_by_the_count(tmp_path, monkeypatch):
    images = noise(8, 64, 64, 3)
    np.savez(tmp_path / "mpi3d_toy.npz", images=images)
    with pytest.raises(InputError, match="holds 8 images where its factors make 1,036,800"):
        ud.load("mpi3d-toy", path=tmp_path, verify=False)
    monkeypatch.setattr(formats, "npz_header", lambda path, name: ((460_800, 64, 64, 3), np.dtype(np.uint8)))
    parts = named.mpi3d({"a": tmp_path / "mpi3d_toy.npz"}, ud.catalogue()["mpi3d-toy"].factors)
    assert [factor.size for factor in parts.info] == [4, 4, 2, 3, 3, 40, 40]
    np.testing.assert_array_equal(next(iter(parts.blocks())), images)


def test_cars3d_in_matlab_files_follows_the_list(tmp_path):
    cars = {name: noise(128, 128, 3, 24, 4) for name in ("car_002_mesh", "car_001_mesh")}
    members = {"data/cars/list.txt": b"car_001_mesh\ncar_002_mesh\n", "data/sprites/sprites_1.mat": b"not looked at"}
    for name, im in cars.items():
        out = io.BytesIO()
        savemat(out, {"im": im}, do_compression=True)
        members[f"data/cars/{name}.mat"] = out.getvalue()
    write_tar(tmp_path / "nips2015-analogy-data.tar.gz", members)
    data = ud.load("cars3d", path=tmp_path, verify=False, size=128)
    assert data.shape == (3, 128, 128)
    assert [f.size for f in data.factor_info] == [4, 24, 2]
    row = (3 * 24 + 7) * 2 + 1  # elevation, azimuth, object
    np.testing.assert_array_equal(data.factors[row], [3, 7, 1])
    np.testing.assert_array_equal(data.observations[row], cars["car_002_mesh"][..., 7, 3])


def test_cars3d_prepared_at_one_size_is_read_at_another(tmp_path):
    values = np.arange(4 * 24 * 183) % 251  # one value for each image
    images = np.broadcast_to(values[:, None, None, None], (len(values), 4, 4, 3)).astype(np.uint8)
    np.savez(tmp_path / "cars3d_x64.npz", images=images)
    data = ud.load("cars3d", path=tmp_path, verify=False, size=2)
    assert data.shape == (3, 2, 2)
    np.testing.assert_array_equal(data.observations, images[:, :2, :2])


def test_cars3d_from_original_files_equals_the_published_small_array(real_data, tmp_path):
    original, prepared = real_data("cars3d/original_sample.tar"), real_data("cars3d/cars3d_x64.npz")
    parts = named.cars3d({"tar": original}, ud.catalogue()["cars3d"].factors)
    built = np.concatenate(list(parts.blocks())).reshape(96, 3, 64, 64, 3)
    with np.load(prepared) as archive:
        small = archive["images"].reshape(96, 183, 64, 64, 3)
    np.testing.assert_array_equal(built, small[:, :3])  # Pillow's bilinear filter, to the last bit


def test_smallnorb_matrices_of_both_splits(tmp_path):
    names = [file.name for file in ud.catalogue()["smallnorb"].files]
    left = {}
    for part, instances in (("training", [4, 6]), ("testing", [0, 1])):
        find = lambda kind, part=part: tmp_path / next(n for n in names if part in n and f"-{kind}." in n)  # noqa: E731
        images = noise(4, 2, 96, 96)
        left[part] = images[:, 0]
        write_norb(find("dat"), images)
        write_norb(find("cat"), np.array([0, 1, 2, 3], np.int32))
        pose = [[instances[k % 2], k % 9, 2 * k, k % 6] for k in range(4)]
        write_norb(find("info"), np.array(pose, np.int32))
    data = ud.load("smallnorb", path=tmp_path, verify=False, size=96)
    np.testing.assert_array_equal(data.observations[..., 0], np.concatenate([left["training"], left["testing"]]))
    assert data.factor_names == ("category", "instance", "elevation", "azimuth", "lighting")
    np.testing.assert_array_equal(data.column("azimuth"), [0, 1, 2, 3] * 2)
    assert data.factor_info[1].size == 4
    test = ud.load("smallnorb", path=tmp_path, verify=False, split="test")
    assert test.shape == (1, 64, 64)
    assert len(test) == 4


def test_chairs_in_a_tar_of_pictures(tmp_path):
    members, images = {}, []
    for model in ("aa", "bb"):
        for k, (pitch, turn) in enumerate([(20, 11), (20, 191), (30, 11)]):
            images.append(noise(8, 8, 3))
            members[f"rendered_chairs/{model}/renders/image_{k:03d}_p{pitch:03d}_t{turn:03d}_r096.png"] = png(
                images[-1]
            )
    members["rendered_chairs/all_chair_names.mat"] = b"not looked at"
    write_tar(tmp_path / "rendered_chairs.tar", members)
    data = ud.load("chairs", path=tmp_path, size=8)
    np.testing.assert_array_equal(data.observations, np.stack(images))
    np.testing.assert_array_equal(data.column("azimuth"), [0, 1, 0] * 2)
    np.testing.assert_array_equal(data.column("elevation"), [0, 0, 1] * 2)
    np.testing.assert_array_equal(data.column("object"), [0, 0, 0, 1, 1, 1])


@pytest.fixture
def digits(tmp_path):
    folder = tmp_path / "digits"
    folder.mkdir()
    arrays = {"train": noise(5, 28, 28), "t10k": noise(3, 28, 28)}
    for part, images in arrays.items():
        write_idx(folder / f"{part}-images-idx3-ubyte.gz", images)
        write_idx(folder / f"{part}-labels-idx1-ubyte.gz", np.arange(len(images), dtype=np.uint8))
    return folder, arrays


@pytest.mark.parametrize("name", ["mnist", "fashion-mnist"])
def test_idx_files(digits, name):
    folder, arrays = digits
    data = ud.load(name, path=folder, verify=False)
    np.testing.assert_array_equal(data.observations[..., 0], np.concatenate([arrays["train"], arrays["t10k"]]))
    np.testing.assert_array_equal(data.factors[:, 0], [0, 1, 2, 3, 4, 0, 1, 2])
    padded = ud.load(name, path=folder, verify=False, size=32, split="test")
    np.testing.assert_array_equal(padded.observations[:, 2:-2, 2:-2, 0], arrays["t10k"])
    assert padded.observations[:, :2].max() == 0
    enlarged = ud.load(name, path=folder, verify=False, size=32, split="test", border=False)
    assert enlarged.shape == padded.shape
    for big, small in zip(enlarged.observations[..., 0], arrays["t10k"], strict=True):
        np.testing.assert_array_equal(
            big, np.asarray(Image.fromarray(small).resize((32, 32), Image.Resampling.BILINEAR))
        )


def test_real_mnist_has_its_published_counts(real_data):
    real_data("mnist/train-images-idx3-ubyte.gz")
    entry = ud.catalogue()["mnist"]
    for file in entry.files:
        download.verify(file, entry.folder / file.name)
    parts = named.mnist({file.name: entry.folder / file.name for file in entry.files}, entry.factors)
    assert parts.shape == (70000, 28, 28, 1)
    assert np.bincount(parts.table[:, 0].astype(int)).tolist() == [
        6903,
        7877,
        6990,
        7141,
        6824,
        6313,
        6876,
        7293,
        6825,
        6958,
    ]


def faces(folder):
    folder.mkdir()
    with zipfile.ZipFile(folder / "img_align_celeba.zip", "w") as archive:
        for k in range(4):
            out = io.BytesIO()
            Image.fromarray(np.full((218, 178, 3), 50 * k, np.uint8)).save(out, "JPEG")
            archive.writestr(f"img_align_celeba/{k + 1:06d}.jpg", out.getvalue())
    rows = "\n".join(f"{k + 1:06d}.jpg {1 if k % 2 else -1}  1" for k in range(4))
    (folder / "list_attr_celeba.txt").write_text(f"4\nSmiling Young \n{rows}\n")
    return folder


def test_celeba_pictures_and_attributes(tmp_path):
    data = ud.load("celeba", path=faces(tmp_path / "faces"), verify=False)
    assert data.shape == (3, 64, 64)
    assert data.factor_names == ("Smiling", "Young")
    np.testing.assert_array_equal(data.column("Smiling"), [0, 1, 0, 1])
    np.testing.assert_allclose(data.observations.mean((1, 2, 3)), [0, 50, 100, 150], atol=2)


def test_published_files_are_verified_before_use(digits):
    folder, _ = digits
    with pytest.raises(InputError, match="not the published file"):
        ud.load("mnist", path=folder)


def test_a_conversion_is_used_without_the_files(digits, cache_folder, monkeypatch):
    folder, _ = digits
    monkeypatch.setattr(published, "fetch", lambda file, place: folder / file.name)
    first = ud.get("mnist")
    monkeypatch.setattr(published, "fetch", lambda file, place: pytest.fail("fetched again"))
    again = ud.load("mnist")
    np.testing.assert_array_equal(first.observations, again.observations)
    np.testing.assert_array_equal(first.factors, again.factors)
    assert again.factor_info == first.factor_info
    assert again.fingerprint == first.fingerprint
    assert ud.catalogue()["mnist"].here


def test_the_record_repeats_the_call(digits):
    folder, _ = digits
    data = ud.load("mnist", path=folder, verify=False, split="test")
    again = ud.load(data.name, **json.loads(json.dumps(data.arguments)))
    assert again.fingerprint == data.fingerprint


def test_damaged_archives_are_one_sentence_and_leave_nothing(tmp_path, digits, cache_folder):
    folder, _ = digits
    whole = (folder / "train-images-idx3-ubyte.gz").read_bytes()
    (folder / "train-images-idx3-ubyte.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"train-images.* is damaged"):
        ud.load("mnist", path=folder, verify=False)

    images = {f"r/aa/renders/image_{k:03d}_p020_t{k:03d}_r096.png": png(noise(40, 40, 3)) for k in range(3)}
    write_tar(tmp_path / "rendered_chairs.tar", images)
    whole = (tmp_path / "rendered_chairs.tar").read_bytes()
    (tmp_path / "rendered_chairs.tar").write_bytes(whole[:9000])
    with pytest.raises(InputError, match=r"rendered_chairs.tar' is damaged"):
        ud.load("chairs", path=tmp_path)

    place = faces(tmp_path / "faces")
    (place / "img_align_celeba.zip").write_bytes(b"PK\x03\x04 not a zip")
    with pytest.raises(InputError, match=r"celeba.zip' is damaged"):
        ud.load("celeba", path=place, verify=False)
    assert [file for file in cache_folder.rglob("*") if file.is_file()] == []


def test_missing_files_and_unknown_options_are_said(tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(InputError, match=r"needs '3dshapes.h5'"):
        ud.load("shapes3d", path=tmp_path / "x")
    with pytest.raises(InputError, match="no file or folder"):
        ud.load("shapes3d", path=tmp_path / "y")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="several files"):
        ud.load("mnist", path=tmp_path / "file")
    with pytest.raises(InputError, match="did you mean 'shapes3d'"):
        ud.load("shapes3")
