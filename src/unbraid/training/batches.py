"""Batches without a loader: rows of an array in memory, as a pure function of the seed and the draw's number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.core import Batch, DataSpec, Stream
from unbraid.data import cache
from unbraid.data.factor_data import Factor, FactorData
from unbraid.data.label_budget import NO_ROWS, labelled_rows, shares
from unbraid.data.pairs import Pairs, Partners
from unbraid.data.scaled import ScaledBytes
from unbraid.errors import InputError
from unbraid.util.seeds import mix


def as_network_input(observations: Tensor, device: torch.device) -> Tensor:
    """Stored rows as networks see them.

    Args:
        observations: images [b, height, width, channel] of bytes, or vectors [b, value].
        device: where they are needed.

    Returns:
        Images [b, channel, height, width] in [0, 1], channels-last; vectors as floats.

    Example:
        >>> as_network_input(torch.full((2, 8, 8, 3), 255, dtype=torch.uint8), torch.device("cpu"))[0, 0, 0, 0].item()
        1.0
    """
    moved = observations.to(device, non_blocking=True)
    if moved.ndim == 4:
        return moved.permute(0, 3, 1, 2).float().div_(255)
    return moved.float()


def as_stored(values: Tensor) -> NDArray[np.uint8] | NDArray[np.float32]:
    """The inverse of `as_network_input`, rounded to bytes for images.

    Args:
        values: [b, channel, height, width] in [0, 1], or [b, value].

    Returns:
        [b, height, width, channel] of bytes, or [b, value] of floats.

    Example:
        >>> as_stored(torch.full((2, 3, 8, 8), 0.2)).shape, int(as_stored(torch.full((1, 1, 1, 1), 0.2)).item())
        ((2, 8, 8, 3), 51)
    """
    if values.ndim == 4:
        return values.clamp(0, 1).mul(255).round().to(torch.uint8).permute(0, 2, 3, 1).cpu().numpy()
    return values.float().cpu().numpy()


@dataclass(frozen=True)
class TrainingData:
    """What a stage is trained on: the data set, the labels it may see, and what earlier stages make of it."""

    data: FactorData
    labels: NDArray[np.float64]  # [n, factor], NaN where missing or withheld
    y: NDArray[np.uint8] | NDArray[np.float32] | None = None  # [draws·n, …]; draw k of row i stands at k·n + i
    codes: NDArray[np.float32] | None = None  # [draws·n, code], in the same order
    factors: tuple[Factor, ...] | None = None  # what the labels are labels of; None: the data set's factors
    rows: NDArray[np.int64] | None = None  # what to train on; None: all
    required: Sequence[int] | None = None  # columns of labels that a row must have to count as labelled; None: all
    held_out: NDArray[np.int64] = field(default_factory=NO_ROWS.copy)  # rows that no training sees

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes: mapped files are sent by name, not by content."""
        return _restore, (
            self.data,
            self.labels,
            _sent(self.y),
            _sent(self.codes),
            self.factors,
            self.rows,
            self.required,
            self.held_out,
        )

    @property
    def spec(self) -> DataSpec:
        """What methods may know when they build their networks."""
        factors = self.data.factor_info if self.factors is None else self.factors
        known = [column[~np.isnan(column)] for column in self.labels.T]
        return DataSpec(
            self.data.shape,
            len(self.data) - len(self.held_out),
            factors,
            ranges=tuple((float(v.min()), float(v.max())) if len(v) else (0.0, 0.0) for v in known),
            codes=0 if self.codes is None else self.codes.shape[1],
            labelled=len(labelled_rows(self.labels, complete=False)),
            shares=tuple(shares(values, factor) for values, factor in zip(known, factors, strict=True)),
            means=tuple(float(v.mean()) if len(v) else 0.0 for v in known),
            counts=self.data.counts,
            signal=self.data.preprocessing.signal,
        )

    @property
    def seen_rows(self) -> NDArray[np.int64]:
        """The rows that are not held out."""
        return np.setdiff1d(np.arange(len(self.data)), self.held_out, assume_unique=True)

    @property
    def labelled_rows(self) -> NDArray[np.int64]:
        """The rows of which every required label is known."""
        return labelled_rows(self.labels if self.required is None else self.labels[:, list(self.required)])


class BatchSource:
    """Draws batches. Each update has its own order of rows: shuffled epochs without their incomplete last batch."""

    def __init__(self, source: TrainingData, *, seed: int, device: torch.device, rank: int = 0, world: int = 1) -> None:
        self.seed, self.device, self.rank, self.world = seed, device, rank, world
        self.size = len(source.data)
        self.x = _resident(source.data.observations, device)
        self.y = None if source.y is None else _resident(source.y, device)
        self.codes = None if source.codes is None else _resident(source.codes, device)
        self._choose_rows(source)

    def _choose_rows(self, source: TrainingData) -> None:
        self.source = source
        self.labels = torch.from_numpy(source.labels.astype(np.float32)).to(self.device)
        partly = labelled_rows(source.labels, complete=False)
        self.rows = {
            "train": torch.from_numpy(source.seen_rows if source.rows is None else source.rows),
            "labelled": torch.from_numpy(source.labelled_rows),
            "partly-labelled": torch.from_numpy(partly),
            "unlabelled": torch.from_numpy(np.setdiff1d(source.seen_rows, partly, assume_unique=True)),
        }
        self._orders: dict[tuple[str, str], tuple[int, Tensor]] = {}
        self._partners: dict[Pairs, Partners] = {}

    def over(self, source: TrainingData) -> BatchSource:
        """Batches of other rows of the same arrays, whole for every process of a group."""
        other = copy(self)
        other.rank, other.world = 0, 1
        other._choose_rows(source)
        return other

    def batch(self, update: str, stream: Stream, batch_size: int, draw: int, pairs: Pairs | None = None) -> Batch:
        """The batch of this number for this update; each process of a group gets its share of the rows."""
        index = self._index(update, stream, batch_size, draw)
        if len(index) < self.world:
            raise InputError(
                f"a batch of {len(index)} of update {update!r} cannot be shared by {self.world} processes: "
                "give it more labels or a greater batch size, or take fewer --devices."
            )
        partner = None if pairs is None else self._partner(pairs, index, mix(self.seed, update, "pairs", draw))
        index = index[self.rank :: self.world]
        y = codes = None
        if self.y is not None:
            draws = len(self.y) // self.size  # of y for each row; each pass over the rows has the next
            place = index + self._pass(stream, batch_size, draw) % draws * self.size
            y = as_network_input(_pick(self.y, place), self.device)
            codes = None if self.codes is None else _pick(self.codes, place).to(self.device)
        labels = self.labels.index_select(0, index.to(self.device))
        x = as_network_input(_pick(self.x, index), self.device)
        pair = None if partner is None else as_network_input(_pick(self.x, partner), self.device)
        return Batch(x, index, labels, y, codes, pair)

    def _partner(self, pairs: Pairs, index: Tensor, seed: int) -> Tensor:
        """The partners of this process's share of a batch."""
        if pairs not in self._partners:
            self._partners[pairs] = Partners(pairs, self.source.data, self.rows["train"].numpy())
        drawn = self._partners[pairs].draw(index.numpy(), np.random.default_rng(seed))
        return torch.from_numpy(drawn)[self.rank :: self.world]

    def count(self, stream: Stream, batch_size: int, most: int) -> int:
        """How many different batches a stream has, at most so many; none where it has no rows."""
        rows = len(self.rows["partly-labelled" if stream == "half-labelled" else stream])
        return min(most, rows // min(batch_size, rows)) if rows else 0

    def release(self) -> None:
        """Give back the pages of mapped arrays: data larger than memory must not stay in it once read."""
        for array in (self.source.data.observations, self.source.y):
            if array is not None:
                cache.release(array)

    def all_rows(self, batch_size: int) -> Iterator[Tensor]:
        """Every observation that is not held out once, in order: the same for every process of a group."""
        for rows in torch.from_numpy(self.source.seen_rows).split(batch_size):
            yield as_network_input(_pick(self.x, rows), self.device)

    def some_rows(self, most: int, purpose: str) -> Tensor:
        """At most so many of the rows that are trained on, chosen by the seed: the same for every process."""
        rows = self.rows["train"]
        if len(rows) <= most:
            return rows
        generator = torch.Generator().manual_seed(mix(self.seed, purpose))
        return rows[torch.randperm(len(rows), generator=generator)[:most].sort().values]

    def some_observations(self, most: int, purpose: str) -> Tensor:
        """Observations of some of the rows that are trained on."""
        return as_network_input(_pick(self.x, self.some_rows(most, purpose)), self.device)

    def some_rows_with_y(self, most: int, batch_size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Some of the rows that are trained on, batch by batch, each with its first y."""
        assert self.y is not None, "only later stages have y"
        for part in self.some_rows(most, "some rows").split(batch_size):
            yield as_network_input(_pick(self.x, part), self.device), as_network_input(_pick(self.y, part), self.device)

    def _index(self, update: str, stream: str, batch_size: int, draw: int) -> Tensor:
        if stream == "half-labelled":
            if not len(self.rows["unlabelled"]):
                return self._index(update, "partly-labelled", batch_size, draw)
            if batch_size < 2:
                raise InputError("half of each batch are labelled observations: pass a --batch-size of at least 2.")
            half = min(batch_size // 2, len(self.rows["partly-labelled"]))
            sizes = {"partly-labelled": half, "unlabelled": batch_size - half}
            return torch.cat([self._index(update, part, size, draw) for part, size in sizes.items()])
        rows = self.rows[stream]
        size = min(batch_size, len(rows))
        if size == 0:
            raise InputError(self._no_labels())
        epoch, position = divmod(draw, len(rows) // size)
        known_epoch, order = self._orders.get((update, stream), (-1, rows))
        if known_epoch != epoch:
            generator = torch.Generator().manual_seed(mix(self.seed, update, stream, epoch))
            order = rows[torch.randperm(len(rows), generator=generator)]
            self._orders[update, stream] = (epoch, order)
        return order[position * size : (position + 1) * size]

    def _pass(self, stream: Stream, batch_size: int, draw: int) -> int:
        """How often a stream has gone through its rows before a batch; those without labels where it has both."""
        part: str = stream
        if stream == "half-labelled":
            part = "unlabelled" if len(self.rows["unlabelled"]) else "partly-labelled"
            batch_size -= min(batch_size // 2, len(self.rows["partly-labelled"])) if part == "unlabelled" else 0
        rows = len(self.rows[part])
        return draw // (rows // min(batch_size, rows))

    def _no_labels(self) -> str:
        if not len(self.rows["partly-labelled"]):
            return "this method learns from labels and there are none: name labelled factors or more labels."
        factors = self.source.spec.factors
        required = range(len(factors)) if self.source.required is None else self.source.required
        names = ", ".join(factors[column].name for column in required)
        return (
            f"this method learns from observations of which all labels are known ({names}), and there are none: name "
            "fewer --label-factors, or take a method that can do with gaps (full-vae, ss-ivae, ss-idvae, parted-vae)."
        )


def _sent(array: NDArray[Any] | None) -> NDArray[Any] | Path | None:
    return Path(array.filename) if isinstance(array, np.memmap) and array.filename else array


def _restore(data: FactorData, labels: Any, y: Any, codes: Any, *rest: Any) -> TrainingData:
    y, codes = (np.load(part, mmap_mode="c") if isinstance(part, Path) else part for part in (y, codes))
    return TrainingData(data, labels, y, codes, *rest)


class _ScaledRows:
    """Rows of images that are 0 and 1 on the disk and 0 and 255 for networks."""

    device = torch.device("cpu")

    def __init__(self, array: ScaledBytes) -> None:
        self.stored = torch.from_numpy(array.stored)

    def __len__(self) -> int:
        return len(self.stored)

    def index_select(self, dim: int, index: Tensor) -> Tensor:
        """The rows of these numbers."""
        return self.stored.index_select(dim, index).mul_(255)


def _resident(
    array: NDArray[np.uint8] | NDArray[np.float32] | ScaledBytes, device: torch.device
) -> Tensor | _ScaledRows:
    """The array as a tensor: on the accelerator if it takes less than a third of the free memory, else on the host."""
    if isinstance(array, ScaledBytes):
        return _ScaledRows(array)
    tensor = torch.from_numpy(array)
    if device.type == "cuda" and tensor.nbytes < torch.cuda.mem_get_info(device)[0] / 3:
        return tensor.to(device)
    return tensor


def _pick(rows: Tensor | _ScaledRows, index: Tensor) -> Tensor:
    return rows.index_select(0, index.to(rows.device))
