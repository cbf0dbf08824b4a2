"""Matrices that are mostly zeros, as counts of genes are: `.h5ad` files of cells and SciPy's sparse `.npz` archives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.counts import Kind
from unbraid.data.factor_data import FactorData
from unbraid.data.optional import need
from unbraid.data.own.arrays import from_arrays
from unbraid.errors import InputError, unknown
from unbraid.util.lists import name_list

MOST = 1 << 30  # values that are kept in memory, 4 GB
SPARSE_ARRAYS = {"data", "indices", "indptr", "format", "shape"}  # of scipy.sparse.save_npz


def load_h5ad(
    path: Path,
    *,
    layer: str | None = None,
    factors: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    standardize: bool | Mapping[str, Sequence[float]] = False,
    kind: Kind = "auto",
    arguments: Mapping[str, Any] | None = None,
) -> FactorData:
    """The cells of an AnnData file; its variables (genes) are the values of an observation.

    Args:
        path: of the file.
        layer: what to learn from, in place of X: a layer with raw counts, for example.
        factors: columns of `obs` that are labels.
        kinds: of factors by name, as in `from_arrays`.
        standardize: bring each variable to mean 0 and deviation 1, where they are no counts.
        kind: counts, which are kept as they are, or values; auto looks at them.
        arguments: what `load` records.

    Returns:
        A vector for each cell.
    """
    anndata = need("anndata", path)
    try:
        table = anndata.read_h5ad(path)
    except PermissionError as error:
        raise InputError(f"no permission to read {str(path)!r}; change its permissions.") from error
    except Exception as error:  # broken bytes make a decoder raise anything
        raise InputError(f"{str(path)!r} is not a readable .h5ad file (truncated?); copy it again.") from error
    if layer is not None and layer not in table.layers:
        raise unknown(f"layer of {str(path)!r}:", layer, list(table.layers))
    matrix = table.X if layer is None else table.layers[layer]
    if matrix is None:
        raise InputError(f"{str(path)!r} has no matrix X; name a layer with layer= (--data.layer counts).")
    wanted = name_list(factors)
    for name in wanted:
        if name not in table.obs:
            raise unknown(f"column of obs in {str(path)!r}:", name, list(table.obs))
    names = [str(name) for name in table.var_names]
    data = from_arrays(
        dense(path, matrix),
        {name: table.obs[name].astype(object).to_numpy() for name in wanted},
        kinds=kinds,
        name=str(path),
        standardize=standardize,
        kind=kind,
        value_names=names,
        arguments={} if arguments is None else arguments,
    )
    return replace(data, preprocessing=replace(data.preprocessing, columns=tuple(names)))


def sparse_rows(path: Path, names: Sequence[str]) -> NDArray[Any] | None:
    """The matrix in an archive that `scipy.sparse.save_npz` wrote, with its zeros; None of other archives."""
    if not set(names) >= SPARSE_ARRAYS:
        return None
    sparse = need("scipy.sparse", path)
    return dense(path, sparse.load_npz(path))


def dense(path: Path, matrix: Any) -> NDArray[Any]:
    """A matrix with its zeros, if it is not too large for memory with them."""
    rows, values = matrix.shape
    if rows * values > MOST:
        raise InputError(
            f"{str(path)!r} holds {rows:,} × {values:,} values, too many for memory: keep the most variable columns."
        )
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
