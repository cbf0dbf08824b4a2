"""Files whose SHA-256 nobody publishes: that of the first download is recorded, and later copies are compared."""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from pathlib import Path

from unbraid.data import cache
from unbraid.util.files import part_file

FILE = "checksums.json"
_log = logging.getLogger("unbraid")


def compare(name: str, sha256: str, *, record: bool) -> str:
    """Compare a file's SHA-256 with the one recorded for its name, or record it if there is none.

    Args:
        name: of the published file.
        sha256: of the copy that is there now.
        record: whether to record it, if it is the first.

    Returns:
        What is wrong, or ''.
    """
    path = cache.place(FILE)
    known = recorded(path)
    if name not in known and not record:
        return ""
    if name not in known:
        write(path, {**known, name: sha256})
        _log.warning(
            "no SHA-256 of %s is published: that of this copy (%s…) is recorded, and later copies must have the same.",
            name,
            sha256[:12],
        )
        return ""
    if known[name] == sha256:
        return ""
    return (
        f"sha256 {sha256[:12]}… instead of {known[name][:12]}…, which the first download had (delete its line in "
        f"{str(path)!r} if that was damaged)"
    )


def recorded(path: Path) -> dict[str, str]:
    """The digests by file name; empty where nothing readable is recorded."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in known.items()} if isinstance(known, dict) else {}


def write(path: Path, known: dict[str, str]) -> None:
    """Keep the digests; where that cannot be written, the next copy counts as the first."""
    with suppress(OSError), part_file(path) as place:
        place.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
