"""Tables from files."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from unbraid.errors import InputError
from unbraid.metrics.table import Table, as_table
from unbraid.util.arrays import check_archive

_ARRAYS = ("codes", "factors", "log_var", "factor_names", "factor_kinds", "factor_sizes")


def load_table(path: str | Path) -> Table:
    """Read `codes.npz`: arrays `codes` [n, d] and `factors` [n, k].

    Where they are there, `log_var` [n, d], `factor_names`, `factor_kinds` and `factor_sizes` are read too.
    Nothing is unpickled.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{str(path)!r} is not a file; give a .npz with arrays 'codes' and 'factors'.")
    try:
        if zipfile.is_zipfile(path):
            check_archive(path)
        file = np.load(path, allow_pickle=False)
        if not isinstance(file, np.lib.npyio.NpzFile):
            raise InputError(f"{str(path)!r} holds one array; save 'codes' and 'factors' with numpy.savez.")
        with file:
            for name in ("codes", "factors"):
                if name not in file.files:
                    there = ", ".join(file.files) or "nothing"
                    raise InputError(f"{str(path)!r} has no array {name!r} (it has {there}); save it under that name.")
            arrays = {name: file[name] for name in _ARRAYS if name in file.files}
    except InputError:
        raise
    except Exception:  # broken bytes make a decoder raise anything
        raise InputError(f"{str(path)!r} cannot be read as .npz; save it with numpy.savez.") from None
    for name in ("factor_names", "factor_kinds", "factor_sizes"):
        if name in arrays and (
            arrays[name].ndim != 1 or (name == "factor_sizes" and arrays[name].dtype.kind not in "iuf")
        ):
            raise InputError(f"{str(path)!r}: {name} must be a list with one entry for each factor.")
    sizes = arrays.get("factor_sizes")
    return as_table(
        arrays["codes"],
        arrays["factors"],
        names=[str(name) for name in arrays["factor_names"]] if "factor_names" in arrays else None,
        kinds=[str(kind) for kind in arrays["factor_kinds"]] if "factor_kinds" in arrays else None,
        sizes=None if sizes is None else [float(size) for size in sizes],
        log_vars=arrays.get("log_var"),
        allow_constant=True,
    )
