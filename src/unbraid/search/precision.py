"""`--precision auto` of a search: measured once, and the same for all trials, which are to be compared."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from unbraid.data.factor_data import FactorData
from unbraid.runs.directory import RunDirectory
from unbraid.runs.fit import train_run
from unbraid.runs.plan import Plan
from unbraid.search.trial import Trial
from unbraid.training.machine import Machine
from unbraid.training.precision import AUTO, FULL, HALF, RECORD
from unbraid.util.files import read_json

_log = logging.getLogger("unbraid")


def with_one_precision(machine: Machine, plan: Sequence[Trial], data: FactorData, record: Path) -> Machine:
    """The machine with `auto` replaced by half precision if that is faster for every method of the search.

    Args:
        machine: as asked for.
        plan: the trials.
        data: the data set.
        record: search.json; what an earlier command has found stays so.
    """
    if machine.precision != AUTO:
        return machine
    known = read_json(record) if record.is_file() else {}
    if isinstance(known, dict) and known.get("precision") in (FULL, HALF):
        return replace(machine, precision=str(known["precision"]))
    chains = {"+".join(stage.name for stage in one.setting.stages): one for one in plan if one.setting.stages}
    found = [name for trial in chains.values() for name in measured(machine, trial, data)]
    chosen = HALF if found and set(found) == {HALF} else FULL
    _log.info("all trials are computed in %s, which is faster here", chosen)
    return replace(machine, precision=chosen)


def measured(machine: Machine, trial: Trial, data: FactorData) -> list[str]:
    """The faster precision of each stage of a trial, by a step of each with one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            plan = Plan.check(data, trial.setting.stages, [1] * len(trial.steps), trial.seed, trial.labels)
            train_run(RunDirectory(Path(folder) / "run", plan, data), machine, show=False)
            return [str(read_json(path)["precision"]) for path in sorted(Path(folder).glob(f"run/stage-*/{RECORD}"))]
    finally:
        torch.set_num_threads(threads)
