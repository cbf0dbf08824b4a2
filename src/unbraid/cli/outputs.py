"""Files that a command writes outside a run directory."""

from __future__ import annotations

from pathlib import Path

from unbraid.errors import InputError

# Stands near the start of every page (its generator) and picture (its software) that the commands write.
MARK = b"unbraid"
LOOKED_AT = 4096  # bytes


def check_replaceable(path: Path, option: str) -> None:
    """Refuse to write over a file that no command of unbraid has written.

    Args:
        path: where a command is about to write.
        option: the option that names another place, for the message.

    Example:
        >>> check_replaceable(Path("no-such-file.html"), "--out")
    """
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            ours = MARK in file.read(LOOKED_AT)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r} ({error.strerror}); name another file with {option}.") from error
    if not ours:
        raise InputError(f"{str(path)!r} is there and was not written by unbraid; name another file with {option}.")
