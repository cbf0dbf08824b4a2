"""Writing so that a reader never sees half a file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from unbraid.errors import InputError


def atomically(path: Path, content: bytes) -> Path:
    """Write beside the place and move there when complete."""
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files for the owner alone; a report is to be shared as any file would be.
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise InputError(
            f"'{path}' cannot be written ({error.strerror}); choose another place or free some space."
        ) from None
    return path
