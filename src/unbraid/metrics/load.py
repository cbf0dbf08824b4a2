"""Tables from files."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from unbraid.errors import InputError
from unbraid.metrics._shared.checks import as_table
from unbraid.metrics._shared.table import Table


def load_table(path: str | Path) -> Table:
    """Read the codes and factors of a `.npz` file into a `Table`.

    Args:
        path: the file, with arrays `codes` [n, latent] and `factors` [n, factor]. Where they are there, `columns`,
            `log_var`, `information`, `factor_names`, `factor_kinds` and `factor_sizes` are read too. Nothing is
            unpickled.

    Returns:
        The table, checked.

    Example:
        >>> import tempfile, numpy as np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.savez(folder + "/codes.npz", codes=np.eye(3), factors=[0, 1, 1], factor_names=["colour"])
        ...     load_table(folder + "/codes.npz").names
        ('colour',)
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{str(path)!r} is not a file; give a .npz with arrays 'codes' and 'factors'.")
    try:
        file = np.load(path, allow_pickle=False)
        if not isinstance(file, np.lib.npyio.NpzFile):
            raise InputError(f"{str(path)!r} holds one array; save 'codes' and 'factors' with numpy.savez.")
        with file:
            for name in ("codes", "factors"):
                if name not in file.files:
                    there = ", ".join(file.files) or "nothing"
                    raise InputError(f"{str(path)!r} has no array {name!r} (it has {there}); save it under that name.")
            table = Table.from_arrays({name: file[name] for name in file.files})
    except InputError:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile):
        raise InputError(f"{str(path)!r} cannot be read as .npz; save it with numpy.savez.") from None
    return as_table(table, allow_constant=True)
