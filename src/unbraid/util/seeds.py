"""Every seed that is derived from a run's seed, in one place: the same purpose always gets the same random numbers.

A run has one seed. Whatever draws random numbers (initial weights, the order of rows, noise in a loss, the rows of a
figure) asks for a seed of its own by naming its purpose, so that nothing depends on what was drawn before it.
"""

from __future__ import annotations

import hashlib

import numpy as np


def mix(*parts: int | str) -> int:
    """A seed for one purpose, from the run's seed and the purpose's name or numbers.

    Args:
        *parts: the run's seed, then what it is for: `mix(seed, "weights")`, `mix(seed, update, stream, epoch)`.

    Returns:
        A whole number below 2⁵⁶, which torch and NumPy both take as a seed.

    Example:
        >>> mix(0, "weights") == mix(0, "weights"), mix(0, "weights") == mix(1, "weights")
        (True, False)
    """
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=7).digest(), "little")


def stream(*parts: int | str) -> np.random.Generator:
    """NumPy's random numbers for one purpose: a generator seeded by `mix`.

    Example:
        >>> bool(stream(0, "rows").random() == stream(0, "rows").random())
        True
    """
    return np.random.default_rng(mix(*parts))


def label_stream(seed: int) -> np.random.Generator:
    """The random numbers that choose which observations a label budget is spent on.

    Its rule is older than `mix` and must stay as it is: the labelled sets of finished runs follow from it.

    Example:
        >>> int(label_stream(0).integers(1000)), int(label_stream(1).integers(1000))
        (456, 827)
    """
    return np.random.default_rng(int.from_bytes(hashlib.blake2b(f"labels {seed}".encode()).digest()[:8], "little"))
