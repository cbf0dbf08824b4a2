"""Signals of several channels to vectors, channel after channel, each channel on a scale of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.data.own.blocks import check_finite
from unbraid.data.own.vectors import as_vectors, mean_and_deviation
from unbraid.errors import InputError

SignalLayout = Literal["nct", "ntc"]
LAYOUTS = ("nct", "ntc")
MOST_CHANNELS = 64  # that an axis may have to be taken for channels without being told
LEAST_RATIO = 2  # of times to channels, for the same


def signal_layout(
    x: NDArray[Any], layout: str | None, value_range: tuple[float, float] | None = None
) -> SignalLayout | None:
    """Which axis of an array [n, …, …] holds a signal's channels; None if it is to be read as images.

    Bytes and values from 0 to 255 may be grey images, and are, unless a layout says otherwise.

    Args:
        x: the array.
        layout: "nct" for [n, channel, time] or [n, time], "ntc" for [n, time, channel]; None to look at it.
        value_range: what black and white are, which only images have.

    Example:
        >>> signal_layout(np.full((9, 3, 50), -1.0), None), signal_layout(np.zeros((9, 28, 28)), None)
        ('nct', None)
    """
    if layout in LAYOUTS:
        return "nct" if layout == "nct" else "ntc"
    if x.ndim != 3 or layout is not None or value_range is not None or x.dtype.kind != "f" or not x.size:
        return None
    if float(x.min()) >= 0 and float(x.max()) <= 255:
        return None
    first, second = x.shape[1:]
    if first <= MOST_CHANNELS and second >= LEAST_RATIO * first:
        return "nct"
    return "ntc" if second <= MOST_CHANNELS and first >= LEAST_RATIO * second else None


def flat_signals(x: NDArray[Any], layout: str) -> NDArray[Any]:
    """Signals as vectors [n, channel·time], channel after channel.

    Example:
        >>> flat_signals(np.array([[[1, 10], [2, 20]]]), "ntc").tolist()
        [[1, 2, 10, 20]]
    """
    return (x if layout == "nct" else np.moveaxis(x, 2, 1)).reshape(len(x), -1)


def shaped_signals(vectors: NDArray[Any], signal: tuple[int, int], layout: str | None) -> NDArray[Any]:
    """Vectors [..., channel·time] as signals again.

    Example:
        >>> shaped_signals(np.array([[1, 2, 10, 20]]), (2, 2), "ntc").tolist()
        [[[1, 10], [2, 20]]]
    """
    shaped = vectors.reshape(*vectors.shape[:-1], *signal)
    return shaped if layout != "ntc" else np.moveaxis(shaped, -1, -2)


def as_signals(
    x: NDArray[Any], name: str, layout: SignalLayout, standardize: bool | Mapping[str, Sequence[float]]
) -> tuple[NDArray[np.float32], tuple[int, int], dict[str, list[float]] | None]:
    """Signals as the data set stores them.

    Args:
        x: [n, channel, time] or [n, time, channel]; or [n, time] with the layout "nct", signals of one channel.
        name: of the data set, for messages.
        layout: which of them.
        standardize: bring every channel to mean 0 and deviation 1; or a mapping with the `mean` and `scale` of each.

    Returns:
        Vectors [n, channel·time], how many channels and times they are, and the statistics of each channel.
    """
    if x.ndim == 2 and layout == "nct":
        x = x[:, None]
    if x.ndim != 3:
        raise InputError(
            f"{name}: layout={layout!r} is for signals of three axes, [n, channel, time] or [n, time, channel] "
            f"(nct for [n, time] too), not for the shape {x.shape}."
        )
    check_finite(x, name)
    vectors = flat_signals(x, layout)
    channels, times = x.shape[1:] if layout == "nct" else x.shape[:0:-1]
    if standardize is False:
        return as_vectors(vectors, name)[0], (channels, times), None
    if standardize is True:
        mean, scale = mean_and_deviation(vectors.reshape(len(x), channels, times).swapaxes(1, 2).reshape(-1, channels))
    else:
        mean, scale = (np.asarray(standardize[key], np.float64) for key in ("mean", "scale"))
        if mean.shape != (channels,) or scale.shape != (channels,):
            raise InputError(f"{name}: the standardisation is for {mean.size} channels, the data has {channels}.")
    known = {"mean": np.repeat(mean, times).tolist(), "scale": np.repeat(scale, times).tolist()}
    stored = as_vectors(vectors, name, known)[0]
    return stored, (channels, times), {"mean": mean.tolist(), "scale": scale.tolist()}
