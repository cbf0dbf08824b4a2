"""How each published data set is arranged: from its files to rows of images and their factors."""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unbraid.data.factor_data import Factor
from unbraid.data.optional import need
from unbraid.data.own.columns import factor_table
from unbraid.data.published import formats
from unbraid.errors import InputError

Raw = Mapping[str, Path]


@dataclass(frozen=True)
class Parts:
    """What a reader finds: the array's shape, its blocks of rows, and the factor table."""

    shape: tuple[int, ...]
    blocks: Callable[[], Iterable[NDArray[np.uint8]]]
    table: NDArray[np.float64]
    info: tuple[Factor, ...]


def factor_grid(path: Path, rows: int, factors: Sequence[Factor]) -> tuple[NDArray[np.float64], tuple[Factor, ...]]:
    """The factor table of a data set that holds all combinations, the last factor fastest.

    Args:
        path: of the file, for the message.
        rows: how many images it holds.
        factors: whose sizes must multiply to that.

    Returns:
        The table [rows, factor] and the factors.

    Example:
        >>> factor_grid(Path("a.npz"), 4, [Factor("x", 2), Factor("y", 2)])[0].tolist()
        [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    sizes = [factor.size for factor in factors]
    if int(np.prod(sizes)) != rows:
        raise InputError(f"{str(path)!r} holds {rows:,} images where its factors make {int(np.prod(sizes)):,}.")
    return np.indices(sizes).reshape(len(sizes), -1).T.astype(np.float64), tuple(factors)


def only_file(raw: Raw) -> Path:
    """The file of a data set that has only one."""
    return next(iter(raw.values()))


def dsprites(raw: Raw, factors: Sequence[Factor]) -> Parts:
    """`imgs` of zeros and ones; the archive's pickled metadata is left alone."""
    path = only_file(raw)
    (n, height, width), _ = formats.npz_header(path, "imgs")
    table, info = factor_grid(path, n, factors)

    def blocks() -> Iterator[NDArray[np.uint8]]:
        for block in formats.npz_blocks(path, "imgs"):
            yield block[..., None] * np.uint8(255)

    return Parts((n, height, width, 1), blocks, table, info)


def shapes3d(raw: Raw, factors: Sequence[Factor]) -> Parts:
    """`images` of an HDF5 file."""
    path = only_file(raw)
    with formats.one_sentence_errors(path), need("h5py", path).File(path, "r") as file:
        shape = tuple(file["images"].shape)
    table, info = factor_grid(path, shape[0], factors)
    return Parts(shape, lambda: formats.hdf5_blocks(path, "images"), table, info)


def mpi3d(raw: Raw, factors: Sequence[Factor]) -> Parts:
    """`images` of an .npz; the variant with four colours and shapes is known by its count."""
    path = only_file(raw)
    shape, _ = formats.npz_header(path, "images")
    if shape[0] == 4 * 4 * 2 * 3 * 3 * 40 * 40:
        factors = [Factor(f.name, 4, f.kind) if f.size == 6 else f for f in factors]
    table, info = factor_grid(path, shape[0], factors)
    return Parts(tuple(shape), lambda: formats.npz_blocks(path, "images"), table, info)


def cars3d(raw: Raw, factors: Sequence[Factor], size: int = 64) -> Parts:
    """MATLAB files of one car each, `im` [h, w, rgb, azimuth, elevation], ordered by list.txt."""
    from scipy.io import loadmat

    path = only_file(raw)
    if path.suffix == ".npz":  # the same array, prepared
        shape, _ = formats.npz_header(path, "images")
        table, info = factor_grid(path, shape[0], factors)
        blocks = partial(formats.npz_blocks, path, "images")
        return Parts((shape[0], size, size, 3), lambda: (formats.resize_images(b, size) for b in blocks()), table, info)
    order: list[str] = []
    cars: dict[str, NDArray[np.uint8]] = {}
    wanted = re.compile(r"(^|/)cars/(list\.txt|car_\d+_mesh\.mat)$")
    for name, content in formats.archive_members(path, lambda name: bool(wanted.search(name))):
        if name.endswith("list.txt"):
            order = content.decode().split()
            continue
        with formats.one_sentence_errors(path):
            views = cast(Any, loadmat)(io.BytesIO(content), variable_names=["im"])["im"].transpose(4, 3, 0, 1, 2)
        small = formats.resize_images(views.reshape(-1, *views.shape[2:]), size)
        cars[Path(name).stem] = small.reshape(*views.shape[:2], size, size, 3)
    if not cars:
        raise InputError(f"{str(path)!r} holds no cars/car_*_mesh.mat.")
    names = [name for name in order if name in cars] or sorted(cars)
    images = np.stack([cars[name] for name in names], 2)  # [elevation, azimuth, object, …]
    found = [Factor(f.name, n, f.kind) for f, n in zip(factors, images.shape[:3], strict=True)]
    rows = images.reshape(-1, size, size, 3)
    table, info = factor_grid(path, len(rows), found)
    return Parts(rows.shape, lambda: [rows], table, info)


def smallnorb(raw: Raw, factors: Sequence[Factor], size: int = 64, split: str = "all") -> Parts:
    """Binary matrices of images (the left camera's are taken), categories and poses, for each split."""
    splits = [part for part in ("training", "testing") if split == "all" or part.startswith(split)]
    if split not in ("all", "train", "test"):
        raise InputError(f"smallnorb: split={split!r} is unknown; choose 'all', 'train' or 'test'.")

    def find(part: str, kind: str) -> Path:
        return next(path for name, path in raw.items() if part in name and f"-{kind}.mat" in name)

    category = np.concatenate([formats.read_norb(find(part, "cat")) for part in splits])
    pose = np.concatenate([formats.read_norb(find(part, "info")) for part in splits])
    columns = [category, pose[:, 0], pose[:, 1], pose[:, 2], pose[:, 3]]
    kinds = {f.name: f.kind for f in factors}
    table, info = factor_table(dict(zip(kinds, columns, strict=True)), len(category), kinds)

    def blocks() -> Iterator[NDArray[np.uint8]]:
        for part in splits:
            for block in formats.norb_blocks(find(part, "dat")):
                yield formats.resize_images(block[:, 0, :, :, None], size)

    return Parts((len(category), size, size, 1), blocks, table, info)


def mnist(raw: Raw, factors: Sequence[Factor], size: int = 28, split: str = "all", border: bool = True) -> Parts:
    """idx files of images and labels, training first. Images grow to 32×32 by a `border`, or by being resized."""
    if split not in ("all", "train", "test"):
        raise InputError(f"split={split!r} is unknown; choose 'all', 'train' or 'test'.")
    if size not in (28, 32):
        raise InputError(f"size={size} is not available; choose 28 or 32.")
    if not isinstance(border, bool):
        raise InputError(f"border={border!r} must be true or false.")
    parts = {"all": ("train", "t10k"), "train": ("train",), "test": ("t10k",)}[split]
    images = np.concatenate([formats.read_idx(raw[f"{part}-images-idx3-ubyte.gz"]) for part in parts])
    labels = np.concatenate([formats.read_idx(raw[f"{part}-labels-idx1-ubyte.gz"]) for part in parts])
    if border:
        margin = (size - images.shape[1]) // 2
        images = np.pad(images, [(0, 0), (margin, margin), (margin, margin)])
    images = formats.resize_images(images[..., None], size)
    return Parts(images.shape, lambda: [images], labels[:, None].astype(np.float64), tuple(factors))


def chairs(raw: Raw, factors: Sequence[Factor], size: int = 64) -> Parts:
    """PNG files whose names give the pose: …/MODEL/renders/image_012_p020_t139_r096.png."""
    path = only_file(raw)
    pattern = re.compile(r"([^/]+)/renders/image_\d+_p(\d+)_t(\d+)_r\d+\.png$")
    with formats.one_sentence_errors(path), tarfile.open(path) as tar:
        poses = [found.groups() for name in tar.getnames() if (found := pattern.search(name))]
    if not poses:
        raise InputError(f"{str(path)!r} holds no pictures of chairs.")
    model, elevation, azimuth = (np.array(column) for column in zip(*poses, strict=True))
    kinds = {f.name: f.kind for f in factors}
    columns = {"azimuth": azimuth.astype(int), "elevation": elevation.astype(int), "object": model}
    table, info = factor_table(columns, len(poses), kinds)

    def small(picture: Image.Image) -> Image.Image:
        return picture.resize((size, size), Image.Resampling.BILINEAR)

    blocks = partial(formats.picture_blocks, path, lambda name: bool(pattern.search(name)), small)
    return Parts((len(poses), size, size, 3), blocks, table, info)


def celeba(raw: Raw, factors: Sequence[Factor], size: int = 64, crop: float = 148 / 178) -> Parts:
    """JPEG files and a table of attributes; `crop` is the share of the width that is kept, as a square."""
    pictures, attributes = raw.values()
    labels = read_attributes(attributes)
    with formats.one_sentence_errors(pictures):
        if pictures.is_dir():
            names = [file.name for file in sorted(pictures.rglob("*.jpg"))]
        else:
            with zipfile.ZipFile(pictures) as archive:
                names = [Path(name).name for name in sorted(archive.namelist()) if name.endswith(".jpg")]
    rows = {name: row for row, name in enumerate(labels.pop("file"))}
    absent = [name for name in names if name not in rows]
    if absent or not names:
        raise InputError(f"{str(attributes)!r} says nothing about {absent[0] if absent else 'any picture'!r}.")
    order = [rows[name] for name in names]
    columns = {name: np.array(column)[order] for name, column in labels.items()}
    table, info = factor_table(columns, len(names), dict.fromkeys(columns, "categorical"))

    def face(picture: Image.Image) -> Image.Image:
        side = crop * picture.width
        left, top = (picture.width - side) / 2, (picture.height - side) / 2
        box = (left, top, left + side, top + side)
        return picture.resize((size, size), Image.Resampling.BILINEAR, box=box)

    blocks = partial(formats.picture_blocks, pictures, lambda name: name.endswith(".jpg"), face)
    return Parts((len(names), size, size, 3), blocks, table, info)


def read_attributes(path: Path) -> dict[str, list[Any]]:
    """CelebA's table: a count, the attributes' names, then a file name and −1 or 1 for each attribute."""
    lines = path.read_text().splitlines()
    names = lines[1].split() if len(lines) > 2 else []
    rows = [line.split() for line in lines[2:] if line.strip()]
    if not names or any(len(row) != len(names) + 1 for row in rows):
        raise InputError(f"{str(path)!r} is not a table of CelebA's attributes.")
    files, *columns = zip(*rows, strict=True)
    return {"file": list(files)} | {n: [int(v) for v in column] for n, column in zip(names, columns, strict=True)}


READERS: dict[str, Callable[..., Parts]] = {
    "dsprites": dsprites,
    "shapes3d": shapes3d,
    "cars3d": cars3d,
    "smallnorb": smallnorb,
    "mpi3d-toy": mpi3d,
    "mpi3d-realistic": mpi3d,
    "mpi3d-real": mpi3d,
    "chairs": chairs,
    "mnist": mnist,
    "fashion-mnist": mnist,
    "celeba": celeba,
}
