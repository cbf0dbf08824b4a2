"""Which process is meant by a number, and whether it still runs."""

from __future__ import annotations

import os
import re
import socket

# Stands in names of files, so only what any file system takes.
HOST = re.sub(r"[^A-Za-z0-9]", "_", socket.gethostname()) or "here"


def is_dead(process: int) -> bool:
    """Whether no process of this host has the number any more."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:  # somebody else's: it runs
        return False
    return False
