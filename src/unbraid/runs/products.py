"""Products of a run and what they were made from: what is of other weights, or damaged, is made again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError
from unbraid.training import checkpoint
from unbraid.util.arrays import open_array, read_arrays
from unbraid.util.files import check_regular, file_digest
from unbraid.util.tensors import read_tensors

_log = logging.getLogger("unbraid")
CODES = {"codes": 2, "factors": 2, "columns": 1, "factor_names": 1, "factor_kinds": 1, "factor_sizes": 1, "rows": 1}


def kept_arrays(path: Path, is_current: Callable[[str | None], bool]) -> dict[str, NDArray[Any]] | None:
    """The arrays of a product, if it is there, whole, and made from the weights that are there now."""
    if not path.exists():
        return None
    try:
        arrays = read_arrays(path, "it is made again.")
    except InputError as error:
        _log.warning("%s", error)
        return None
    if not is_current(str(arrays["key"]) if "key" in arrays else None):
        _log.info("%s was made from other weights: it is made again", path)
        return None
    return arrays


def kept_codes(path: Path, is_current: Callable[[str | None], bool]) -> dict[str, NDArray[Any]] | None:
    """The same for a table of codes, whose arrays must go together."""
    arrays = kept_arrays(path, is_current)
    if arrays is None or are_codes(arrays):
        return arrays
    _log.warning("%r does not hold a table of codes: it is made again.", str(path))
    return None


def are_codes(arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Whether these are the arrays of a table of codes, in shapes that go together."""
    if any(name not in arrays or arrays[name].ndim != axes for name, axes in CODES.items()):
        return False
    if any(arrays[name].dtype.kind not in "iuf" for name in ("codes", "factors", "rows", "factor_sizes")):
        return False
    (n, codes), (known, factors) = arrays["codes"].shape, arrays["factors"].shape
    lengths = (len(arrays["columns"]), *(len(arrays[f"factor_{what}"]) for what in ("names", "kinds", "sizes")))
    later = [array for name, array in arrays.items() if name.endswith(("/codes", "log_var"))]
    return (
        known == len(arrays["rows"]) == n
        and lengths == (codes, factors, factors, factors)
        and all(array.ndim == 2 and len(array) == n for array in later)
    )


def checked_weights(folder: Path, record: Mapping[str, Any], key: str, name: str = checkpoint.WEIGHTS) -> Any:
    """The tensors of a finished stage; an error that says how to mend it, if they are not what was trained."""
    path = folder / name
    remedy = f"delete {str(folder)!r} and repeat the command to train the stage again."
    try:
        check_regular(path)
        recorded = (record.get("files") or {}).get(name)
        if recorded is not None and file_digest(path) != recorded["sha256"]:
            raise InputError(f"{str(path)!r} is damaged: its SHA-256 is not the one in stage.json.")
        tensors, metadata = read_tensors(path)
    except (InputError, OSError) as error:
        raise InputError(f"{str(error).rstrip('.')}; {remedy}") from error
    if metadata.get("key") != key:
        raise InputError(f"{str(path)!r} is of another stage; {remedy}")
    return tensors


def checked_array(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], sha256: str | None) -> NDArray[Any] | None:
    """A stored array of this shape and type, mapped; None, and a sentence, if it is not there or not whole."""
    if not path.exists():
        return None
    try:
        check_regular(path)
        array = open_array(path)
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(f"it holds {list(array.shape)} of {array.dtype}, not {list(shape)} of {dtype}")
        if sha256 is not None and file_digest(path) != sha256:
            raise ValueError("its SHA-256 is not the one in stage.json")
        return array
    except (OSError, ValueError, EOFError) as error:
        _log.warning("%r is damaged (%s): it is made again.", str(path), error)
        return None
