"""What a study is: the runs behind a result of a paper, the figures taken from each, and the page made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from unbraid.api import Run
from unbraid.core import MethodConfig
from unbraid.data.label_budget import LabelBudget
from unbraid.util.schema import digest, to_json

Scale = Literal["smoke", "desk", "paper"]
SCALES: tuple[str, ...] = get_args(Scale)
Figures = Mapping[str, float]


@dataclass(frozen=True)
class Trial:
    """One run of a study. All that determines it is here, so that a finished one is never run again."""

    group: str  # the row of the table that it belongs to
    data: str
    stages: tuple[MethodConfig, ...]
    steps: tuple[int, ...]
    seed: int
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of the data set
    labels: LabelBudget | None = None  # that its stages may see
    keep: tuple[int, ...] = ()  # steps after which the weights are kept for curves over training
    held_out: float = 0.0  # the part of the data that no stage sees

    @property
    def folder(self) -> str:
        """The name of its run directory: readable, and different for different settings."""
        setting: list[Any] = [
            self.data,
            dict(self.arguments),
            [(s.name, to_json(s)) for s in self.stages],
            list(self.steps),
        ]
        setting += [] if self.labels is None else [to_json(self.labels)]
        setting += [self.held_out] if self.held_out else []
        return f"{'+'.join(stage.name for stage in self.stages)}-{digest(setting)[:6]}-seed{self.seed}"


@dataclass(frozen=True)
class Finished:
    """A trial that has been carried out: its figures and its run directory."""

    trial: Trial
    folder: Path
    figures: Figures
    seconds: float  # of training


@dataclass(frozen=True)
class Study:
    """A result of a paper, ready to be run."""

    name: str  # PAPER/RESULT
    title: str
    trials: Callable[[Scale], Sequence[Trial]]
    # Figures of a finished run, by name; computed once and kept in the run's figures.json.
    measures: Mapping[str, Callable[[Run], float]]
    # The page as Markdown, its title in the first line; pictures go beside it, their names starting with the stem.
    page: Callable[[Scale, Sequence[Finished], Path, str], str]

    @property
    def stem(self) -> str:
        """PAPER-RESULT, as files are named."""
        return self.name.replace("/", "-")
