"""What a report may show of a run, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.metrics import Display, MetricKey, Table
from unbraid.report.read.channels import Channels
from unbraid.report.read.columns import Columns

Array = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Stage:
    """One stage: what it was asked to do, what it cost, and its log as term → (steps, values)."""

    number: int
    method: str
    title: str
    options: Mapping[str, Any]
    steps: int | None
    parameters: int | None = None
    seconds: float | None = None
    reused_from: str | None = None
    paper: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)
    reconstructs: bool = True  # else what it makes of an observation is a draw
    curves: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)


@dataclass(frozen=True)
class ClassPrior:
    """One discrete variable: the prior of one of its codes by class, and what stage 1 makes at some values of it."""

    title: str
    code: str
    names: tuple[str, ...]
    values: Floats  # [step]
    densities: Floats  # [class, step]: p(c)·p(u | c)
    marks: Floats  # [mark]
    observations: Array  # [mark, …]


@dataclass(frozen=True)
class Transfer:
    """Images made with the class of one observation and all else of another; `names` are the contents' classes."""

    names: tuple[str, ...]
    content: Array  # [content, h, w, c]
    style: Array  # [style, h, w, c]
    made: Array  # [content, style, h, w, c]


@dataclass(frozen=True)
class Pictures:
    """Originals, each stage's reconstructions, traversals keyed by (stage moved, stage shown), and classes."""

    originals: Array | None
    reconstructions: Mapping[int, Array]
    traversals: Mapping[tuple[int, int], Array]
    values: Mapping[int, Array]
    codes: Mapping[int, Array]  # which codes of a stage are moved, by their places; of older files none: the first
    classes: tuple[ClassPrior, ...] = ()
    transfer: Transfer | None = None
    drawn: Array | None = None  # what the last stage makes of y with z drawn for it, where it has learned to
    held_out: bool = False  # whether no training saw the originals

    @property
    def are_images(self) -> bool:
        """Whether observations are images [h, w, c]; otherwise they are vectors."""
        if self.originals is not None:
            return self.originals.ndim == 4
        return all(array.ndim == 5 for array in self.traversals.values())


@dataclass(frozen=True)
class ShownScore:
    """One entry of metrics.json, and how it is shown; `labels_read` if labels were read for it at test time."""

    key: MetricKey
    value: float
    interval: tuple[float, float] | None
    details: Mapping[str, Any]
    display: Display
    labels_read: bool = False
    chance: tuple[float, float] | None = None  # what codes get that know nothing: mean and spread
    ceiling: float | None = None  # what perfect codes get
    beyond_chance: bool = True  # False where it is known to be no better
    of: str = ""  # the part of the data, where some of it was held out: "held-out", "training" or "all"
    training: float | None = None  # the same score of training data, beside one of held-out data

    @property
    def name(self) -> str:
        """Its name on a page, where a plain name means that no label was read at test time."""
        return f"{'with-labels/' if self.labels_read else ''}{self.key}"

    @property
    def title(self) -> str:
        """What it is called by itself, outside of a table that says in its heads whether labels were read."""
        return f"{self.display.title}, with labels" if self.labels_read else self.display.title


@dataclass(frozen=True)
class RunFiles:
    """Everything that a report may show of one run; absent parts are None or empty."""

    directory: Path
    config: Mapping[str, Any]
    environment: Mapping[str, Any]
    stages: tuple[Stage, ...]
    tables: Mapping[int, Table]  # by stage: its codes, beside the factors
    pictures: Pictures | None
    metrics: tuple[ShownScore, ...]
    metric_settings: Mapping[str, Any]
    names: Mapping[str, str] = field(default_factory=dict)  # what people have called codes
    verdict: tuple[tuple[str, str], ...] = ()  # sentences, each with its level: good, note or bad
    columns: Columns | None = None  # of a table, whose values have names and units
    channels: Channels | None = None  # of signals, which are drawn one below the other

    @property
    def name(self) -> str:
        """The directory's own name."""
        return self.directory.resolve().name

    @property
    def reads_labels(self) -> bool:
        """Whether some of the scores were made by an encoder that was given labels."""
        return any(metric.labels_read for metric in self.metrics)

    @property
    def data(self) -> Mapping[str, Any]:
        """What config.json says of the data."""
        return as_mapping(self.config.get("data"))


def as_mapping(value: Any) -> Mapping[str, Any]:
    """A mapping as it is; anything else that a damaged file may hold counts as an empty one."""
    return value if isinstance(value, Mapping) else {}
