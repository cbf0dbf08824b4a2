"""The field's data sets by name: what they are, where they come from, and how they get here."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import asdict, dataclass
from functools import cache as remember
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data import cache
from unbraid.data.arguments import check_arguments
from unbraid.data.factor_data import Factor, FactorData
from unbraid.data.published.arrange import READERS
from unbraid.data.published.download import RemoteFile, fetch, verify
from unbraid.errors import InputError, unknown
from unbraid.util.files import part_file

VERSION = 1  # of the conversion
# Prepared or partial copies that are used where the published files are not there; they have no checksum.
PREPARED_COPIES = {"cars3d": ("cars3d_x64.npz",), "celeba": ("*.zip", "list_attr*.txt")}


@dataclass(frozen=True)
class Entry:
    """One published data set."""

    name: str
    title: str
    licence: str
    n: int
    shape: tuple[int, ...]  # height, width, channels
    factors: tuple[Factor, ...]
    note: str
    files: tuple[RemoteFile, ...]

    @property
    def folder(self) -> Path:
        """Where its files are kept."""
        return cache.folder() / self.name

    @property
    def download_bytes(self) -> int | None:
        """How much must be fetched, if that is published."""
        sizes = [file.bytes for file in self.files]
        return sum(size for size in sizes if size is not None) if None not in sizes else None

    @property
    def here(self) -> bool:
        """Whether it can be used without a network."""
        converted = any(self.folder.glob(f"{self.name}-v{VERSION}-*.npy"))
        return converted or all(file.exists() for file in self.kept_files.values()) or bool(prepared_copies(self))

    @property
    def kept_files(self) -> dict[str, Path]:
        """Where each of its files is, or will be when it has been fetched."""
        return {file.name: cache.place(f"{self.name}/{file.name}") for file in self.files}


@remember
def catalogue() -> dict[str, Entry]:
    """Every data set that can be fetched by name.

    Returns:
        Entries of catalogue.json, by name.

    Example:
        >>> catalogue()["mnist"].n
        70000
    """
    text = package_files("unbraid.data.published").joinpath("catalogue.json").read_text(encoding="utf-8")
    entries = {}
    for name, fields in json.loads(text).items():
        factors = fields["factors"] if isinstance(fields["factors"], list) else []
        note = fields["note"] if factors else f"Factors: {fields['factors']}. {fields['note']}"
        entries[name] = Entry(
            name=name,
            title=fields["title"],
            licence=fields["licence"],
            n=fields["n"],
            shape=tuple(fields["shape"]),
            factors=tuple(Factor(**factor) for factor in factors),
            note=note,
            files=tuple(
                RemoteFile(**(file | {"urls": tuple(file["urls"]), "fixed": True})) for file in fields["files"]
            ),
        )
    return entries


def entry(name: str) -> Entry:
    """One data set of the catalogue."""
    if name not in catalogue():
        raise unknown("data set", name, catalogue())
    return catalogue()[name]


def get(name: str, **options: Any) -> FactorData:
    """Fetch, verify and convert a data set, so that `load(name)` needs no network from then on.

    Args:
        name: of the catalogue.
        options: of the data set, as for `load`.

    Returns:
        The data set.
    """
    return load_published(name, **options)


def load_published(name: str, /, **arguments: Any) -> FactorData:
    """A data set of the catalogue; arguments that it does not have are an `InputError`.

    Args:
        name: of the catalogue.
        arguments: as users give them.
    """
    return load_named(entry(name).name, **check_arguments(name, arguments, READERS[name], load_named))


def load_named(name: str, /, *, path: str | Path | None = None, verify: bool = True, **options: Any) -> FactorData:
    """A data set of the catalogue: from its converted array, its files here or at `path`, or the network.

    Args:
        name: of the catalogue.
        path: of its file or of the folder of its files.
        verify: False accepts files at `path` that are not the published ones, such as a part of them.
        options: of its reader.

    Returns:
        The data set, its images mapped from the cache.
    """
    known = entry(name)
    label = "-".join(f"{key}={value}" for key, value in sorted(options.items())) or "default"
    stem = f"{name}/{name}-v{VERSION}-{label.replace('/', '_')}"
    arguments: dict[str, Any] = dict(options)
    if path is not None:
        arguments |= {"path": str(Path(path).expanduser().resolve())} | ({} if verify else {"verify": False})
    elif (ready := read_converted(name, stem, arguments)) is not None:
        return ready

    raw, published = sources(known, Path(path).expanduser() if path is not None else None, verify)
    parts = READERS[name](raw, known.factors, **options)
    if not published:
        print(f"unbraid: {name} is read from {', '.join(raw)}, whose checksum is not known.", file=sys.stderr)
        stem = f"{stem}-{identify_files(raw)}"
    images = cache.cached_array(f"{stem}.npy", parts.shape, np.uint8, parts.blocks, f"converting {name}")
    if published:
        write_factors(stem, parts.table, parts.info)
    fingerprint = f"{name}-v{VERSION}-{label}" if published else None
    return FactorData(name, images, parts.table, parts.info, fingerprint, arguments)


def sources(known: Entry, path: Path | None, check: bool) -> tuple[dict[str, Path], bool]:
    """The files of a data set, and whether they are the published ones."""
    if path is None:
        kept = known.kept_files
        if not all(file.exists() for file in kept.values()) and (found := prepared_copies(known)):
            return found, False
        return {file.name: fetch(file, kept[file.name].parent) for file in known.files}, True
    if not path.exists():
        raise InputError(f"there is no file or folder {str(path)!r}.")
    if path.is_dir():
        raw = {file.name: path / file.name for file in known.files}
        absent = [place for place in raw.values() if not place.exists()]
        if absent and (found := prepared_copies(known, path)):
            return found, False
        if absent:
            raise InputError(f"{known.name} needs {absent[0].name!r}, which is not in {str(path)!r}.")
    elif len(known.files) == 1:
        raw = {known.files[0].name: path}
    else:
        names = ", ".join(file.name for file in known.files)
        raise InputError(f"{known.name} has several files ({names}); give their folder as path.")
    if check:
        for file, place in zip(known.files, raw.values(), strict=True):
            verify(file, place)
    return raw, check


def prepared_copies(known: Entry, folder: Path | None = None) -> dict[str, Path]:
    """Prepared or partial copies in the data set's folder."""
    patterns = PREPARED_COPIES.get(known.name, ())
    found = [next(iter(sorted((folder or known.folder).glob(pattern))), None) for pattern in patterns]
    return {place.name: place for place in found if place is not None} if patterns and None not in found else {}


def identify_files(raw: dict[str, Path]) -> str:
    """What tells the cache apart for files that are not the published ones."""
    facts = [(str(place.resolve()), place.stat().st_size, place.stat().st_mtime_ns) for place in raw.values()]
    return hashlib.blake2b(repr(facts).encode(), digest_size=6).hexdigest()


def read_converted(name: str, stem: str, arguments: dict[str, Any]) -> FactorData | None:
    """The array and the factors of an earlier conversion."""
    images, table = (
        cache.open_array(cache.place(f"{stem}.npy")),
        cache.open_array(cache.place(f"{stem}.factors.npy")),
    )
    try:
        text = cache.place(f"{stem}.json").read_text(encoding="utf-8")
        info = tuple(Factor(**fields) for fields in json.loads(text))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    if images is None or table is None or len(table) != len(images):
        return None
    return FactorData(name, images, np.array(table), info, stem.rsplit("/", 1)[-1], arguments)


def write_factors(stem: str, table: Any, info: tuple[Factor, ...]) -> None:
    """Keep the factors beside the array; where that cannot be written, the files are read again next time."""
    try:
        with part_file(cache.place(f"{stem}.factors.npy")) as partial, partial.open("wb") as out:
            np.save(out, table)
        with part_file(cache.place(f"{stem}.json")) as partial:
            partial.write_text(json.dumps([asdict(factor) for factor in info]), encoding="utf-8")
    except OSError:
        return
