"""Arrays of any common layout to observations: checked, never guessed where two readings are possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from unbraid.data import cache
from unbraid.data.counts import Kind, is_counts
from unbraid.data.factor_data import FactorData
from unbraid.data.own.blocks import check_finite, row_blocks
from unbraid.data.own.columns import factor_table
from unbraid.data.own.image_choices import array_ends, dark_end, dark_end_note, dark_note, stretch_note, wanted_ends
from unbraid.data.own.signals import LAYOUTS, as_signals, signal_layout
from unbraid.data.own.vectors import WIDE, as_vectors, with_logarithms
from unbraid.data.preprocessing import Preprocessing
from unbraid.data.scaled import ScaledBytes
from unbraid.errors import InputError


def from_arrays(
    observations: Any,
    factors: Any = None,
    *,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    name: str = "arrays",
    layout: str | None = None,
    value_range: tuple[float, float] | None = None,
    standardize: bool | Mapping[str, Sequence[float]] | None = None,
    arguments: Mapping[str, Any] | None = None,
    pack_as: str | None = None,
    value_names: Sequence[str] | None = None,
    kind: Kind = "auto",
    log1p: str | Sequence[int] = (),
    stretch: str | Sequence[float] = "auto",
) -> FactorData:
    """A data set from arrays or torch tensors.

    Args:
        observations: images [n, h, w], [n, h, w, c] or [n, c, h, w], bytes or floats in [0, 1]; vectors [n, value]; or
            signals [n, channel, time] or [n, time, channel].
        factors: an array [n] or [n, k], or a mapping from names to columns; NaN or empty where unknown.
        names: of the factors, where they come as an array.
        kinds: of factors by name, where a column should not be taken for what it looks like.
        name: of the data set.
        layout: "nhwc" or "nchw" of images, "nct" or "ntc" of signals, where the array does not tell; "nct" also makes
            signals of one channel of [n, time].
        value_range: what black and white are, for images that are neither bytes nor in [0, 1].
        standardize: bring each value of a vector to mean 0 and deviation 1, or each channel of a signal; or a mapping
            with the `mean` and `scale`. By default signals are, and vectors of 256 values or more.
        arguments: what `load` records to make the data set again.
        pack_as: a file of the cache for images that must be converted and are too large for memory.
        value_names: of a vector's values, for messages.
        kind: of vectors: counts, which are kept as they are, or values; auto looks at them.
        log1p: "all", or the places of those values of a vector of which log(1 + value) is taken first.
        stretch: of whole numbers beyond 255, what becomes black and white; "auto" takes where 99.9 % of them lie.

    Returns:
        The data set, with images as bytes [n, h, w, c] and vectors as float32.

    Example:
        >>> from_arrays(np.zeros((4, 8, 8)), {"pose": [0, 1, 2, 0]})
        FactorData('arrays', 4 × (1, 8, 8), factors: pose[3])
    """
    if layout not in (None, "nhwc", "nchw", *LAYOUTS):
        raise InputError(
            f"{name}: layout {layout!r} is unknown; choose nhwc or nchw for images, nct or ntc for signals."
        )
    x = as_numbers(observations)
    record = dict(arguments) if arguments is not None else None
    how, notes = Preprocessing(), list[str]()
    channels = signal_layout(x, layout, value_range)
    if channels is not None:
        every = True if standardize is None else standardize
        seen: NDArray[Any]
        seen, shape, known = as_signals(x, name, channels, every)
        how = signal_preprocessing(shape, channels, known)
        if record is not None:
            record |= {"layout": channels} | ({} if known is None else {"standardize": known})
    elif x.ndim == 2:
        left_open, standardize = standardize is None, standardize or False
        x, logs = with_logarithms(x, log1p, name, value_names)
        counted = standardize is not True and not logs and is_counts(x, name, kind, standardize)
        standardize = standardize or (left_open and x.shape[1] >= WIDE and not counted)
        if left_open and standardize:
            notes.append(
                f"rows of {x.shape[1]:,} values are taken for features of another model; if they are signals, "
                "[n, time], say layout=nct (--data.layout nct)"
            )
        vectors, statistics = as_vectors(x, name, False if counted else standardize, value_names)
        if counted and record is not None:
            record["kind"] = "counts"
        if statistics is not None and record is not None:
            record["standardize"] = statistics
        if statistics is not None:
            how = Preprocessing(mean=tuple(statistics["mean"]), scale=tuple(statistics["scale"]))
        how = replace(how, log1p=logs, counts=counted)
        seen = vectors
    else:
        ends = wanted_ends(stretch)
        if ends is None and value_range is None and (ends := array_ends(x)) is not None:
            notes.append(stretch_note("the images have more than 8 bits", ends))
        elif ends is None and value_range is None and (white := dark_end(x)) is not None:
            ends = (0.0, white)
            notes.append(dark_end_note(white))
        seen = as_images(x, name, layout, ends or value_range, pack_as, clip=ends is not None)
        notes += dark_note(seen) if value_range is None and ends is None else []
        if value_range is None and ends is None and x.dtype == np.uint8 and not np.may_share_memory(x, seen):
            value_range = (0.0, 1.0)  # bytes that were zeros and ones
        stated = None if value_range is None else (value_range[0], value_range[1])
        how = Preprocessing(layout=layout, value_range=stated, stretch=ends)
    table, info = factor_table(columns_of(factors, names), len(seen), kinds)
    return FactorData(name, seen, table, info, arguments=record, preprocessing=how, notes=tuple(notes))


def signal_preprocessing(
    shape: tuple[int, int], layout: str, statistics: Mapping[str, Sequence[float]] | None
) -> Preprocessing:
    """How signals became vectors; every time of a channel has the channel's mean and scale."""
    if statistics is None:
        return Preprocessing(signal=shape, layout=layout)
    mean, scale = (tuple(np.repeat(statistics[key], shape[1]).tolist()) for key in ("mean", "scale"))
    return Preprocessing(signal=shape, layout=layout, mean=mean, scale=scale)


def as_numbers(values: Any) -> NDArray[Any]:
    """A NumPy array of numbers.

    Args:
        values: an array, a torch tensor or nested lists.

    Returns:
        The array; objects and text are an `InputError`.

    Example:
        >>> as_numbers([[1, 2], [3, 4]]).shape
        (2, 2)
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    array = np.asarray(values)
    if array.dtype == object:
        raise InputError("the array holds Python objects; convert it to numbers (all rows of one shape).")
    if array.dtype.kind not in "biuf":
        raise InputError(f"the array holds {array.dtype}; observations must be numbers.")
    return array


def columns_of(factors: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """Factor columns by name.

    Args:
        factors: as in `from_arrays`.
        names: of the columns of an array; "factor 1", "factor 2", … by default.

    Returns:
        A column for each name.

    Example:
        >>> sorted(columns_of([[0, 1], [1, 0]], None))
        ['factor 1', 'factor 2']
    """
    if factors is None:
        return {}
    if isinstance(factors, Mapping):
        return {str(key): np.asarray(value) for key, value in factors.items()}
    table = np.asarray(factors.detach().cpu().numpy() if hasattr(factors, "detach") else factors)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2:
        raise InputError(f"factors must be an array [n, k], not of shape {table.shape}.")
    names = list(names) if names is not None else [f"factor {k + 1}" for k in range(table.shape[1])]
    if len(names) != table.shape[1]:
        raise InputError(f"{len(names)} names were given for {table.shape[1]} factors.")
    return {key: table[:, k] for k, key in enumerate(names)}


def channels_last(x: NDArray[Any], name: str, layout: str | None) -> NDArray[Any]:
    """Images as [n, h, w, c].

    Args:
        x: [n, h, w], [n, h, w, c] or [n, c, h, w].
        name: of the data set, for the message.
        layout: "nhwc" or "nchw"; needed only where either axis could hold the channels.

    Returns:
        A view with the channels last.

    Example:
        >>> channels_last(np.zeros((5, 3, 8, 9)), "arrays", None).shape
        (5, 8, 9, 3)
    """
    if x.ndim == 3:
        return x[..., None]
    if x.ndim != 4:
        raise InputError(
            f"{name}: an array of shape {x.shape} is neither images [n, h, w], [n, h, w, c], [n, c, h, w] "
            "nor vectors [n, value]; reshape it."
        )
    last, first = x.shape[3] in (1, 2, 3, 4), x.shape[1] in (1, 2, 3, 4)
    if layout is None and last == first:
        raise InputError(
            f"{name}: which axis of the shape {x.shape} holds the channels is not clear; "
            "pass layout='nhwc' or layout='nchw'."
        )
    if layout not in (None, "nhwc", "nchw"):
        raise InputError(f"{name}: layout {layout!r} is unknown; choose 'nhwc' or 'nchw'.")
    channels_first = layout == "nchw" or (layout is None and first)
    return np.moveaxis(x, 1, 3) if channels_first else x


def as_images(
    x: NDArray[Any],
    name: str,
    layout: str | None = None,
    value_range: tuple[float, float] | None = None,
    pack_as: str | None = None,
    *,
    clip: bool = False,
) -> NDArray[np.uint8]:
    """Images as bytes [n, h, w, c].

    Args:
        x: images in any layout that `channels_last` understands.
        name: of the data set, for messages.
        layout: "nhwc" or "nchw", where the shape does not tell.
        value_range: what black and white are; by default 0 and 1 if all values lie there, else 0 and 255.
        pack_as: a file of the cache for images that must be converted and are too large for memory.
        clip: whether values may lie beyond the range.

    Returns:
        The images; those of zeros and ones become 0 and 255, large files of bytes when they are read.

    Example:
        >>> as_images(np.array([[[0.0, 0.5, 1.0]]]), "arrays").ravel().tolist()
        [0, 128, 255]
    """
    x = channels_last(x, name, layout)
    if x.dtype == bool:
        x, value_range = x.view(np.uint8), None
    if x.dtype == np.uint8 and x.size and value_range is None:  # bytes need no check but whether one is beyond 1
        if any(block.max() > 1 for _, block in row_blocks(x)):
            return x
        if pack_as is not None and x.size > cache.IN_MEMORY_LIMIT:
            return cast("NDArray[np.uint8]", ScaledBytes(x))
        low, high = 0.0, 1.0
    else:
        low, high = check_finite(x, name)
    if value_range is None:
        if low >= 0 and high <= 1:
            value_range = (0.0, 1.0)
        elif low >= 0 and high <= 255:
            value_range = (0.0, 255.0)
        else:
            raise InputError(
                f"{name}: image values go from {low:g} to {high:g}; "
                "state what black and white are, for example value_range=(-1, 1), "
                "or layout='nct' if they are signals [n, channel, time]."
            )
    black, white = (float(value) for value in value_range)
    if not clip and (low < black or high > white):
        raise InputError(f"{name}: values from {low:g} to {high:g} leave the stated range {black:g} to {white:g}.")

    def converted() -> Iterator[NDArray[np.uint8]]:
        for _, block in row_blocks(x):
            scaled = (block.astype(np.float32) - np.float32(black)) * np.float32(255 / (white - black))
            yield np.clip(np.rint(scaled, out=scaled), 0, 255).astype(np.uint8)

    if pack_as is not None and x.size > cache.IN_MEMORY_LIMIT:
        return cache.cached_array(pack_as, x.shape, np.uint8, converted, f"packing {len(x):,} images")
    return np.concatenate(list(converted()))
