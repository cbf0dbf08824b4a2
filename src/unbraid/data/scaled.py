"""Images of zeros and ones that stay as they are on the disk, and are 0 and 255 when they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class ScaledBytes:
    """An array of bytes, 0 or 1, that gives 0 or 255: in place of a second file with the same images.

    It has what this library asks of observations: a shape, rows by index, and NumPy's functions through a copy.

    Example:
        >>> images = ScaledBytes(np.array([[[[0], [1]]]], np.uint8))
        >>> images.shape, images[0].ravel().tolist()
        ((1, 1, 2, 1), [0, 255])
    """

    def __init__(self, stored: NDArray[np.uint8]) -> None:
        self.stored = stored
        self.shape, self.dtype, self.ndim = stored.shape, stored.dtype, stored.ndim
        self.size, self.nbytes = stored.size, stored.nbytes
        self.base = stored  # so that the memory behind a mapped file can be released

    def __len__(self) -> int:
        return len(self.stored)

    def __getitem__(self, key: Any) -> NDArray[np.uint8]:
        """The rows, scaled: always a copy."""
        return np.asarray(self.stored[key] * np.uint8(255))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """All of it in memory, scaled."""
        return self[:].astype(self.dtype if dtype is None else dtype, copy=False)
