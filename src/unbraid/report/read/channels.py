"""The channels of a run of signals: where they stand in a vector, and how they become raw units again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.util.units import in_raw_units


@dataclass(frozen=True)
class Channels:
    """How many channels and times there are, and how their values were scaled."""

    count: int
    times: int
    mean: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()

    def split(self, vectors: NDArray[Any]) -> list[NDArray[np.float64]]:
        """Vectors [..., channel·time] as a curve [..., time] of each channel, in its own units."""
        raw = in_raw_units(vectors, self.mean, self.scale, ()).reshape(*vectors.shape[:-1], self.count, self.times)
        return [raw[..., channel, :] for channel in range(self.count)]


def read_channels(preprocessing: Any) -> Channels | None:
    """What preprocessing.json says of channels; None if the observations are no signals of several.

    Example:
        >>> known = {"signal": [2, 1], "mean": [0.0, 5.0], "scale": [1.0, 10.0]}
        >>> [curve.tolist() for curve in read_channels(known).split(np.array([[3.0, 1.0]]))]
        [[[3.0]], [[15.0]]]
    """
    known = preprocessing if isinstance(preprocessing, Mapping) else {}
    signal = known.get("signal")
    if not signal:
        return None
    return Channels(int(signal[0]), int(signal[1]), tuple(known.get("mean") or ()), tuple(known.get("scale") or ()))
