"""What an existing run directory says of itself: its plan, and the data that it was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unbraid import methods
from unbraid.core import MethodConfig
from unbraid.data.factor_data import FactorData
from unbraid.data.held_out import HeldOutPlan
from unbraid.data.label_budget import LabelPlan
from unbraid.data.load import load
from unbraid.errors import DataMissing, InputError
from unbraid.runs.plan import FORMAT, Plan
from unbraid.runs.records import read_config
from unbraid.util.schema import from_json


def read_plan(folder: Path, more: Sequence[type[MethodConfig]] = ()) -> Plan:
    """The plan that config.json holds.

    Args:
        folder: the run directory.
        more: methods of your own that it was trained with.
    """
    if not (folder / "config.json").is_file():
        raise InputError(f"{str(folder)!r} is not a run directory: it has no config.json.")
    saved = read_config(folder)
    if saved.get("format") != FORMAT:
        raise InputError(f"{str(folder)!r} has format {saved.get('format')}; this version reads {FORMAT}.")
    stages = tuple((methods.restore(stage, more), int(stage["steps"])) for stage in saved["stages"])
    labels = from_json(LabelPlan, saved["labels"]) if "labels" in saved else None
    held_out = None if saved.get("held_out") is None else from_json(HeldOutPlan, saved["held_out"])
    return Plan(saved["data"], stages, int(saved["seed"]), labels, held_out=held_out)


def training_data_set(folder: Path, plan: Plan, data: FactorData | None) -> FactorData:
    """The data set, as given or loaded again by name, checked against the one that the run was trained on."""
    saved = plan.data
    if data is None:
        where = f"this needs the data that {str(folder)!r} was trained on"
        if saved["arguments"] is None:
            raise DataMissing(f"{where}, which was given as arrays: open the run with Run.open(folder, data=…).")
        if Path(saved["name"]).is_absolute() and not Path(saved["name"]).exists():
            raise DataMissing(f"{where}, and {saved['name']!r} is not there: put it back, or pass data= to Run.open.")
        data = load(saved["name"], **saved["arguments"])
    if data.fingerprint != saved["fingerprint"]:
        raise InputError(f"{data.name!r} is not what {str(folder)!r} was trained on: its content has changed.")
    return data
