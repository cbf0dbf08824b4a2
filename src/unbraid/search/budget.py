"""Steps for a given time: a few are taken of each method, and what they cost says how many there can be."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from math import floor, log10
from pathlib import Path

import torch

from unbraid.core import MethodConfig
from unbraid.data.factor_data import FactorData
from unbraid.data.label_budget import LabelBudget
from unbraid.errors import InputError
from unbraid.runs.directory import RunDirectory
from unbraid.runs.fit import train_run
from unbraid.runs.plan import Plan
from unbraid.training.machine import Machine
from unbraid.util.files import read_json

SHORT, LONG = 5, 25  # steps of the two trial trainings; their difference is what steps alone cost
FOR_STEPS = 0.7  # of the time; the rest goes to encoding, scores and the page
LEAST = 10


def steps_for(minutes: float, seconds: Sequence[float], slots: int) -> int:
    """Steps that every trial can take, to two digits.

    Args:
        minutes: for all trials together.
        seconds: of one step of each trial.
        slots: trials at a time.

    Example:
        >>> steps_for(10, [0.01] * 36, 2)
        2300
    """
    if minutes <= 0:
        raise InputError(f"--minutes must be greater than 0, not {minutes:g}.")
    steps = minutes * 60 * slots * FOR_STEPS / sum(seconds)
    if steps < LEAST:
        needed = sum(seconds) * LEAST / (60 * slots * FOR_STEPS)
        raise InputError(f"{minutes:g} minutes are too few for {len(seconds)} trials: give at least {needed:.2g}.")
    digits = int(10 ** max(0, floor(log10(steps)) - 1))
    return int(steps // digits) * digits


def seconds_of_a_step(data: FactorData, chain: Sequence[MethodConfig], labels: LabelBudget | None) -> float:
    """What one step of all stages costs here, with one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        took = []
        with tempfile.TemporaryDirectory() as folder:
            for steps in (SHORT, LONG):
                plan = Plan.check(data, chain, [steps] * len(chain), 0, labels)
                began = time.monotonic()
                train_run(RunDirectory(Path(folder) / str(steps) / "run", plan, data), Machine("cpu"), show=False)
                took.append(time.monotonic() - began)
        return max(took[1] - took[0], 1e-4) / (LONG - SHORT)
    finally:
        torch.set_num_threads(threads)


def earlier_steps(plan: Path, minutes: float) -> int | None:
    """The steps that an earlier call has chosen for the same time: a repeated command must mean the same trials."""
    if not plan.is_file():
        return None
    there: Mapping[str, object] = read_json(plan)
    steps = there.get("steps")
    return int(steps[0]) if there.get("minutes") == minutes and isinstance(steps, list) and steps else None
