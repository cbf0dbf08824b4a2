"""The C allocator: keep freed memory, because a training step asks for what the last one freed."""

from __future__ import annotations

import ctypes

# Of glibc's malloc.h.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
LARGEST_KEPT = 1 << 30  # bytes of a single block; what is larger goes back to the system as before
OLDEST_LIMIT = 1 << 25  # the most that older versions accept


def keep_freed_memory() -> bool:
    """Let this process reuse freed blocks instead of giving them back; False where the allocator is not glibc's.

    By default glibc returns the megabytes of every layer's maps to the system after each step, and the system clears
    them page by page when the next step asks: a fifth of a step's time on a CPU (benchmarks/memory.py).
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # no such function; no such library; Windows takes no None
        return False
    kept = mallopt(MMAP_THRESHOLD, LARGEST_KEPT) or mallopt(MMAP_THRESHOLD, OLDEST_LIMIT)
    return bool(kept and mallopt(TRIM_THRESHOLD, 2**31 - 1))
