"""What a measure of a run is. To add one: write its file with a `Measure`, and name it in registry.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid.metrics import Score
from unbraid.runs.directory import RunDirectory
from unbraid.runs.held_out import Part

FEATURE_PRECISION = "float32"


@dataclass(frozen=True)
class MeasureOptions:
    """What measures may need beyond the run itself."""

    inception: Path | None = None  # the file of the Inception network: fid, kid, identity_change
    lpips: Path | None = None  # a perceptual network (TorchScript): lpips
    images: int = 1000  # observations that networks look at
    rows: int = 10_000  # observations that errors and M1 to M4 are taken of, at most
    show: bool = True  # whether to show progress
    part: Part = "all"  # of the data, that the scores are of
    feature_precision: str = FEATURE_PRECISION  # what the Inception network computes in: float32, bfloat16, or auto


# Averages over observations say something of a few; scores of a table of codes count how often values go together.
LEAST_FOR_AVERAGES, LEAST_FOR_TABLES = 10, 500
Scores = Mapping[str, Score]
Compute = Callable[[RunDirectory, Sequence[str], MeasureOptions, bool], Scores]
Refusal = Callable[[RunDirectory, str], str | None]


def never_refused(run: RunDirectory, name: str) -> str | None:
    """Every run allows it."""
    return None


@dataclass(frozen=True)
class Measure:
    """One or several scores of a run that are computed together."""

    names: tuple[str, ...]
    # (run, the names that are wanted, options, whether labels may be read at test time) -> scores by metric key
    compute: Compute
    # Why a run does not allow a score, in one sentence; None if it does.
    refusal: Refusal = never_refused
    # Whether encoding is part of it: where an encoder can read labels, such scores come with labels and without.
    reads_labels: bool = True
    # Whether it needs a file that has to be named: `all` then leaves it out unless the file is given.
    needs_file: Callable[[MeasureOptions], bool] = lambda options: False
    # Whether a score that is there already would come out the same with these options.
    is_current: Callable[[Mapping[str, Any], MeasureOptions], bool] = lambda score, options: True
    # Whether it is computed whenever the run allows it, because it takes no time.
    is_free: bool = False
    # How many held-out observations it needs; with fewer it is of training data. None: it is of all data, or of none.
    least_rows: int | None = None
