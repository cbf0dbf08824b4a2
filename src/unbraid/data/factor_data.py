"""The one type that every data set has: observations and, where known, their factors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.data.cache import release
from unbraid.data.counts import Counts
from unbraid.data.preprocessing import Preprocessing
from unbraid.errors import InputError, unknown

Kind = Literal["categorical", "ordinal", "cyclic", "continuous"]


@dataclass(frozen=True)
class Factor:
    """A factor of variation: its name, its number of values (0 if continuous) and their geometry.

    `values` says what the indices stand for, where that is more than a number: class names, for example.
    """

    name: str
    size: int
    kind: Kind = "ordinal"
    values: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """JSON knows lists only; factors read from it equal those that were written."""
        object.__setattr__(self, "values", tuple(self.values))


@dataclass(frozen=True, eq=False)
class FactorData:
    """Observations with the factors that made them.

    `observations` are uint8 images `[n, height, width, channel]` or float32 vectors `[n, value]`, in memory
    or memory-mapped. `factors` `[n, k]` holds value indices for discrete factors (0 … size−1) and the values
    themselves for continuous ones; NaN means that the label is missing.
    """

    name: str
    observations: NDArray[np.uint8] | NDArray[np.float32]
    factors: NDArray[np.float64]
    factor_info: tuple[Factor, ...] = ()
    # What the loaders of built-in data know about themselves without reading gigabytes.
    known_fingerprint: str | None = field(default=None, repr=False)
    # `load(name, **arguments)` makes this data set again; None where it did not come from `load`.
    arguments: Mapping[str, Any] | None = field(default=None, repr=False)
    # What a simulator makes with some factors switched off, for stages that are trained to reach it; made on demand.
    targets: Mapping[str, Callable[[], NDArray[Any]]] = field(default_factory=dict, repr=False)
    # How raw values became these observations; new ones are treated alike.
    preprocessing: Preprocessing = field(default_factory=Preprocessing, repr=False)
    # What the loader chose by itself, in sentences for people.
    notes: tuple[str, ...] = field(default=(), repr=False)
    # What training draws from, rows as often as they are wanted; None: every row alike. Scores are of all rows.
    train_rows: NDArray[np.int64] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse tables that cannot be right, by name."""
        x, v = self.observations, self.factors
        if x.ndim == 4 and x.dtype != np.uint8:
            raise InputError(f"{self.name}: images must be uint8 [n, height, width, channel], not {x.dtype}.")
        if x.ndim == 2 and x.dtype != np.float32:
            raise InputError(f"{self.name}: vectors must be float32 [n, value], not {x.dtype}.")
        if x.ndim not in (2, 4):
            raise InputError(
                f"{self.name}: observations must be images [n, height, width, channel] or vectors [n, value], "
                f"not an array of shape {x.shape}."
            )
        if v.shape != (len(x), len(self.factor_info)):
            raise InputError(
                f"{self.name}: {len(x)} observations and {len(self.factor_info)} factors need a factor table "
                f"of shape ({len(x)}, {len(self.factor_info)}), not {v.shape}."
            )
        for factor, infinite in zip(self.factor_info, np.isinf(v).sum(axis=0), strict=True):
            if infinite:
                raise InputError(
                    f"{self.name}: {infinite} labels of {factor.name!r} are infinite; leave them empty where unknown."
                )

    def __repr__(self) -> str:
        shown = [f"{f.name}[{f.size}]" if f.size else f.name for f in self.factor_info]
        factors = ", ".join(shown if len(shown) <= 8 else [*shown[:6], f"… {len(shown)} in all"])
        return f"FactorData({self.name!r}, {len(self)} × {self.shape}, factors: {factors or 'none'})"

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes: as the call that loads it, so that gigabytes on disk are not sent through a pipe."""
        if self.arguments is None:
            kept: tuple[Any, ...] = (
                self.known_fingerprint,
                None,
                {},
                self.preprocessing,
            )  # targets are functions, which do not travel
            return FactorData, (self.name, self.observations, self.factors, self.factor_info, *kept)
        return reload, (self.name, dict(self.arguments))

    def __len__(self) -> int:
        return len(self.observations)

    @property
    def is_image(self) -> bool:
        """Whether observations are images (else vectors)."""
        return self.observations.ndim == 4

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one observation as a network sees it: (channel, height, width) or (value,)."""
        if self.is_image:
            height, width, channels = self.observations.shape[1:]
            return (channels, height, width)
        return tuple(self.observations.shape[1:])

    @cached_property
    def counts(self) -> Counts | None:
        """What is known of observations that are counts; None of others."""
        return Counts.of(self.observations) if self.preprocessing.counts else None

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Names of the factors, in the order of the table's columns."""
        return tuple(factor.name for factor in self.factor_info)

    @cached_property
    def fingerprint(self) -> str:
        """What identifies the content: runs find finished stages by it."""
        if self.known_fingerprint is not None:
            return self.known_fingerprint
        digest = hashlib.sha256()  # the fastest where processors know it
        for array in (self.observations, self.factors):
            digest.update(f"{array.dtype}{array.shape}".encode())
            for start in range(0, len(array), 4096):
                digest.update(np.ascontiguousarray(array[start : start + 4096]).data)
                release(array)
        digest.update(repr(self.factor_info).encode())
        return digest.hexdigest()[:32]

    def column(self, name: str) -> NDArray[np.float64]:
        """The values of one factor.

        Args:
            name: of the factor.

        Returns:
            Its column of the table, [n]; NaN where the label is missing.
        """
        if name not in self.factor_names:
            raise unknown("factor", name, self.factor_names)
        return self.factors[:, self.factor_names.index(name)]

    def take(self, rows: NDArray[np.integer] | Sequence[int], name: str | None = None) -> FactorData:
        """The data set of some rows.

        Args:
            rows: their numbers, in the wanted order.
            name: of the new data set; the same name by default.

        Returns:
            A data set in memory, which `load` cannot make again.
        """
        rows = np.asarray(rows)
        targets = {key: (lambda make=make: make()[rows]) for key, make in self.targets.items()}
        return FactorData(
            name or self.name,
            self.observations[rows],
            self.factors[rows],
            self.factor_info,
            targets=targets,
            preprocessing=self.preprocessing,
        )


# The function that `reload` calls. It knows all data sets, so it stands above this module and registers itself here.
_loader: list[Callable[..., FactorData]] = []


def use_loader(load: Callable[..., FactorData]) -> None:
    """Set the function that makes a pickled data set again: `unbraid.data` does this when it is imported.

    Args:
        load: called as `load(name, **arguments)`.
    """
    _loader[:] = [load]


def reload(name: str, arguments: dict[str, Any]) -> FactorData:
    """The data set that `load` gave in another process; what unpickling calls.

    Args:
        name: the data set's name or path.
        arguments: those that `load` was called with.

    Returns:
        The same data set, loaded in this process.
    """
    return _loader[0](name, **arguments)
