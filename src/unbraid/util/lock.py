"""One process at a time writes into a folder. The system gives a lock back when its process ends or is killed."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unbraid.util.processes import HOST

try:
    import fcntl
except ImportError:  # not on Windows, where runs are not locked
    fcntl = None  # type: ignore[assignment]

NAME = ".lock"
PAUSE = 0.2  # seconds between two looks at a lock that another process holds
_log = logging.getLogger("unbraid")
_held: set[tuple[Path, int]] = set()  # (folder, thread)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait until no other process writes into the folder, saying who does, and keep others waiting meanwhile.

    A thread that holds the lock already goes on. Where a folder cannot be locked (a read-only place, a file system
    without locks), nothing is: the first write there will say what is wrong.
    """
    mine = (folder.resolve(), threading.get_ident())
    if fcntl is None or mine in _held:
        yield
        return
    handle = _acquire(folder)
    if handle is None:
        yield
        return
    _held.add(mine)
    try:
        yield
    finally:
        _held.discard(mine)
        with suppress(OSError):
            (folder / NAME).unlink()  # before it is given back: who waits for it then looks for a new one
        os.close(handle)


def _acquire(folder: Path) -> int | None:
    path, said = folder / NAME, False
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not said:
                _log.warning("%s is in use by %s: waiting until it is done (Ctrl-C to stop).", folder, _holder(handle))
                said = True
            os.close(handle)
            time.sleep(PAUSE)
            continue
        except OSError:
            os.close(handle)
            return None
        if _is_still_there(handle, path):
            with suppress(OSError):  # a full disk: locked all the same, only without a name
                os.ftruncate(handle, 0)
                os.write(handle, json.dumps({"process": os.getpid(), "host": HOST}).encode())
            return handle
        os.close(handle)  # its last owner has removed it meanwhile


def _is_still_there(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


def _holder(handle: int) -> str:
    try:
        owner = json.loads(os.pread(handle, 1000, 0))
        return f"process {owner['process']} on {owner['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
