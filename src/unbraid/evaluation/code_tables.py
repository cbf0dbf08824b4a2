"""Codes of any model from files: .npz, .csv, .tsv, .parquet and .h5ad."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.data.optional import need
from unbraid.data.own.columns import factor_table
from unbraid.data.own.measurements import parse_numbers
from unbraid.data.own.tables import read_table
from unbraid.errors import InputError, unknown

# Columns that are codes where nobody says which are factors: z1, stage-2/z1, latent_3, dim 7, pc2 …
CODE = re.compile(
    r"(stage-\d+[-/])?(z|c|u|code|codes|latent|latents|dim|emb|embedding|pc|feature)[ _-]?\d+", re.IGNORECASE
)
NOT_VALUES = ("name", "row", "id", "index", "file", "filename")
LARGEST_PART = 0.5  # of the rows: a text column with more distinct values names observations


@dataclass(frozen=True)
class ForeignCodes:
    """What a file holds: codes [n, latent], which may be sparse, and what is known of their factors."""

    codes: Any
    factors: NDArray[np.float64]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    sizes: tuple[float, ...]
    columns: tuple[str, ...]

    @property
    def about(self) -> dict[str, Any]:
        """What the metrics are told beside the arrays."""
        return {"names": self.names, "kinds": self.kinds, "sizes": self.sizes, "columns": self.columns}


def read_codes(path: Path, factors: Sequence[str] = (), key: str | None = None) -> ForeignCodes | metrics.Table:
    """Codes and factors from a file.

    Args:
        path: `.npz` with arrays `codes` and `factors`; `.csv`, `.tsv` or `.parquet` with a column for each code and
            factor; `.h5ad` with codes in obsm or X and factors in obs.
        factors: columns that are factors; the other columns with numbers are then codes. Left out, columns called like
            codes (z1, latent_2, dim3, pc4 …) are codes and the rest are factors.
        key: of the codes in obsm; left out, the only one there, or X.
    """
    suffix = path.suffix.lower()
    if suffix == ".h5ad":
        return from_anndata(path, factors, key)
    if suffix in (".csv", ".tsv", ".parquet"):
        return from_columns(path, read_table(path), factors)
    if suffix != ".npz" and path.is_file():
        raise InputError(f"{str(path)!r} is of a kind that cannot be read; give .npz, .csv, .parquet or .h5ad.")
    return metrics.load_table(path)


def from_columns(path: Path, columns: Mapping[str, Sequence[Any]], factors: Sequence[str]) -> ForeignCodes:
    """Codes and factors of a table by the names of its columns."""
    for name in factors:
        if name not in columns:
            raise unknown(f"column in {str(path)!r}:", name, columns)
    rest = [name for name in columns if name not in factors and name.lower() not in NOT_VALUES]
    codes = rest if factors else [name for name in rest if CODE.fullmatch(name)]
    chosen = list(factors) or [name for name in rest if name not in codes]
    if not codes or not chosen:
        what = "codes" if not codes else "factors"
        raise InputError(
            f"{str(path)!r}: no column is left for {what} (it has {', '.join(columns)}); say which are factors with "
            "--factors, and the others are codes."
        )
    values = np.stack([parse_numbers(path, name, columns[name]) for name in codes], axis=1)
    return with_factors(values, {name: columns[name] for name in chosen}, tuple(codes))


def from_anndata(path: Path, factors: Sequence[str], key: str | None) -> ForeignCodes:
    """Codes from obsm or X of an AnnData, factors from its obs."""
    anndata = need("anndata", path)
    try:
        found = anndata.read_h5ad(path)
    except FileNotFoundError as error:
        raise InputError(f"there is no file {str(path)!r}.") from error
    except Exception as error:  # damaged files make HDF5 raise anything
        raise InputError(f"{str(path)!r} is not a readable .h5ad file ({error}).") from error
    there = list(found.obsm)
    if key is None and len(there) == 1:
        key = there[0]
    if key is not None and key not in there:
        raise unknown(f"key of obsm in {str(path)!r}:", key, there)
    if key is None and found.X is None:
        raise InputError(f"{str(path)!r} has no X; name one of obsm with --key: {', '.join(there)}.")
    codes = found.X if key is None else found.obsm[key]
    names = (
        [str(name) for name in found.var_names] if key is None else [f"{key} {j + 1}" for j in range(codes.shape[1])]
    )
    for name in factors:
        if name not in found.obs:
            raise unknown(f"column of obs in {str(path)!r}:", name, list(found.obs))
    columns = {name: found.obs[name].tolist() for name in factors or list(found.obs)}
    chosen = {name: values for name, values in columns.items() if name in factors or is_label(values)}
    if not chosen:
        raise InputError(f"{str(path)!r} has no labels in obs; name columns with --factors.")
    return with_factors(codes, chosen, tuple(names))


def is_label(values: Sequence[Any]) -> bool:
    """Whether a column can be a factor: names of single observations cannot."""
    text = [value for value in values if isinstance(value, str)]
    return not text or len(set(text)) <= max(2, LARGEST_PART * len(text))


def with_factors(codes: Any, columns: Mapping[str, Sequence[Any]], names: tuple[str, ...]) -> ForeignCodes:
    """Codes beside labels of any kind."""
    table, info = factor_table({name: list(values) for name, values in columns.items()}, codes.shape[0])
    return ForeignCodes(
        codes,
        table,
        tuple(factor.name for factor in info),
        tuple(factor.kind for factor in info),
        tuple(float(factor.size) for factor in info),
        names,
    )
