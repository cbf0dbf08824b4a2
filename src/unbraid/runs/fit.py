"""Training a run: its configuration is written or checked, then each stage is trained, resumed or taken over."""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from unbraid import methods
from unbraid.core import HasTarget, Method, MethodConfig, build_method
from unbraid.data.factor_data import FactorData
from unbraid.errors import InputError
from unbraid.runs import label_access
from unbraid.runs.command_line import command_line
from unbraid.runs.conditioning import stage_inputs
from unbraid.runs.directory import RunDirectory
from unbraid.runs.held_out import held_out_sentence, watched_data
from unbraid.runs.kept_observations import write_observations
from unbraid.runs.plan import cautions, differences, unfinished_schedules
from unbraid.runs.preprocessing import write_preprocessing
from unbraid.runs.products import checked_weights
from unbraid.runs.records import read_config, read_stage
from unbraid.training import checkpoint
from unbraid.training.batches import BatchSource, TrainingData
from unbraid.training.loop import Job, train
from unbraid.training.machine import Machine, environment
from unbraid.training.precision import with_precision
from unbraid.util.files import check_folder, clean_partial, copy, file_digest, link, read_json, write_json
from unbraid.util.lock import locked
from unbraid.util.schema import to_json
from unbraid.util.tensors import read_tensors

_log = logging.getLogger("unbraid")


def train_run(
    run: RunDirectory,
    machine: Machine,
    *,
    show: bool = True,
    command: str | None = None,
    budget: Mapping[str, Any] | None = None,
) -> None:
    """Train every stage of a run that is not finished yet.

    Args:
        run: where it stands and what was planned.
        machine: where to compute.
        show: whether to show progress.
        command: the command that asked for it, for the record.
        budget: how its plan was chosen for a budget in minutes, for the record.
    """
    check_place(run.folder, run.data)
    check_stages(run, machine)
    if show:
        for sentence in run.plan.notes:
            _log.info("%s.", sentence)
        for sentence in (*unfinished_schedules(run.plan), *cautions(run.plan), *rows_left_out(run)):
            _log.warning(sentence)
        if said := held_out_sentence(run.plan):
            _log.info(said)
    with locked(run.folder):
        for folder in (run.folder, *run.folder.glob("stage-*")):
            clean_partial(folder)
        begin(run, command, machine, budget)
        for number in range(1, len(run.plan.stages) + 1):
            train_stage(run, number, machine, show=show)


def check_place(folder: Path, data: FactorData) -> None:
    """A run is a folder of its own, not a file and not the place of the data."""
    check_folder(folder)
    source = Path(data.name)  # whole, if it is a path; names of data sets are not
    if source.is_absolute() and source.is_dir() and folder.resolve().is_relative_to(source):
        raise InputError(f"the run's folder {str(folder)!r} lies among the data: name another with --out.")


def check_stages(run: RunDirectory, machine: Machine) -> None:
    """Build what is to be trained and draw a batch of it: what cannot be is said before anything is written or trained.

    A stage whose size depends on the codes of one that is not trained yet has to wait for it.
    """
    for number, (config, _) in enumerate(run.plan.stages, 1):
        if run.is_finished(number) or config.uses_codes:
            continue
        source = run.training_data(number)
        config.check(source.spec)
        with torch.random.fork_rng(devices=()):  # the caller's random numbers stay as they are
            updates = build_checked(config, source).updates()
        batches = BatchSource(source, seed=run.plan.seed, device=torch.device("cpu"), world=machine.devices)
        for update in updates:
            batches.batch(update.name, update.stream, update.batch_size, 0, update.pairs)


def build_checked(config: MethodConfig, source: TrainingData) -> Method:
    """The untrained method; one that is too large for memory is the user's mistake, not a crash."""
    try:
        return build_method(config, source.spec)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate" not in str(error):
            raise
        raise InputError(f"{config.name} does not fit into memory with these options: make it smaller.") from error


def rows_left_out(run: RunDirectory) -> list[str]:
    """A sentence for every stage that has no use for labels of observations with a gap in them."""
    said = []
    for number, (config, _) in enumerate(run.plan.stages, 1):
        if config.needs_complete_labels and not config.uses_codes:
            source = run.training_data(number)
            used, known = len(source.labelled_rows), len(run.data)
            if 0 < used < source.spec.labelled:
                said.append(f"{config.name} reads labels of the {used:,} of {known:,} observations that have them all.")
    return said


def begin(run: RunDirectory, command: str | None, machine: Machine, budget: Mapping[str, Any] | None = None) -> None:
    """Write the configuration, or check that the one which is there is this one."""
    path = run.folder / "config.json"
    if not (run.folder / "environment.json").exists():
        write_json(run.folder / "environment.json", environment(machine))
    if path.exists():
        there = read_config(run.folder)
        here = {"held_out": None} | run.plan.to_json()
        changes = differences({key: there.get(key) for key in here}, here)
        if there["data"]["fingerprint"] == run.plan.data["fingerprint"]:  # the same content, however it was asked for
            changes = [change for change in changes if not change.startswith("data.arguments.")]
        if changes:
            what = "; ".join(changes[:2])
            raise InputError(f"{str(run.folder)!r} holds another run ({what}); choose another --out or delete it.")
        write_preprocessing(run.folder, run.data.preprocessing)  # runs begun by older versions have none
        write_observations(run)
        return
    if command is None and run.plan.data["arguments"] is not None:
        command = command_line(run.plan.data, run.plan.stages, run.plan.seed, run.plan.labels, run.plan.held_out)
        command += "" if machine.precision == Machine.precision else f" --precision {machine.precision}"
    write_json(path, run.plan.to_json() | {"command": command} | ({} if budget is None else {"budget": budget}))
    write_preprocessing(run.folder, run.data.preprocessing)
    write_observations(run)


def train_stage(run: RunDirectory, number: int, machine: Machine, *, show: bool = True) -> None:
    """Train a stage, unless it is finished here or beside this run."""
    config, steps = run.plan.stages[number - 1]
    title = f"stage {number} · {config.name}" if len(run.plan.stages) > 1 else config.name
    if run.is_finished(number):
        checked_weights(run.stage_folder(number), run.stage_record(number), run.plan.key(number))
        checkpoint.discard(run.stage_folder(number))  # of a process that was killed before it came to that
        _log.info("%s is finished: skipped", title)
        return
    if reuse(run, number):
        return
    source = run.training_data(number, *(stage_inputs(run, number, show) if number > 1 else ()))
    source = dataclasses.replace(source, data=target_data(run.data, config))
    watched = watched_data(run.plan, number, source)
    job = Job(config, source, steps, run.plan.seed, run.plan.key(number), run.stage_folder(number), watched)
    began = time.monotonic()
    decided = with_precision(job, machine)
    train(job, decided, show=show, title=title)
    tensors, _ = read_tensors(job.folder / checkpoint.WEIGHTS)
    # Codes that are kept to draw from are no parameters.
    parameters = sum(tensor.numel() for name, tensor in tensors.items() if not name.startswith("learned_prior."))
    facts: dict[str, Any] = {"precision": decided.precision} if decided != machine else {}
    facts |= {"files": {checkpoint.WEIGHTS: {"sha256": file_digest(job.folder / checkpoint.WEIGHTS)}}}
    write_record(run, number, seconds=time.monotonic() - began, parameters=parameters, **facts)
    checkpoint.discard(job.folder)


def write_record(run: RunDirectory, number: int, **facts: Any) -> None:
    """Write stage.json: only now does the stage count as finished."""
    config, steps = run.plan.stages[number - 1]
    record = {"key": run.plan.key(number)} | methods.describe(config) | {"steps": steps, "seed": run.plan.seed}
    source = run.training_data(number)
    record |= {"title": config.title, "spec": to_json(source.spec)}
    record |= {"labels": label_access.labels_read(run.plan, number, source), "reused_from": None}
    record |= {} if config.reconstructs else {"reconstructs": False}
    write_json(run.stage_folder(number) / "stage.json", record | facts)
    run.forget(number)


def reuse(run: RunDirectory, number: int) -> bool:
    """Take a finished stage from a run beside this one, if one has the same key; a damaged one is passed over."""
    here, key = run.stage_folder(number), run.plan.key(number)
    for path in sorted(run.folder.parent.glob("*/stage-*/stage.json")):
        if path.parent == here:
            continue
        try:
            plain = read_json(path)  # there may be thousands: only the one that is wanted is checked in full
            if isinstance(plain, dict) and plain.get("key", key) != key:
                continue
            record = read_stage(path.parent)
            if record.get("key") != key:
                continue
            checked_weights(path.parent, record, key)
            files = take_files(path.parent, here, record, key)
        except (InputError, OSError) as error:
            _log.warning("%s is not reused: %s", path.parent, error)
            continue
        facts = {name: record[name] for name in ("seconds", "parameters", "precision") if name in record}
        write_record(run, number, **facts, files=files, reused_from=path.parent.parent.name)
        _log.info("stage %d is the one of %s: reused", number, path.parent.parent)
        return True
    return False


def take_files(there: Path, here: Path, record: Mapping[str, Any], key: str) -> dict[str, Mapping[str, Any]]:
    """Bring a finished stage's files here, and return what stage.json is to say of them.

    Files that are never rewritten are shared by links; the log is copied. y comes with its digest or not at all.
    """
    here.mkdir(parents=True, exist_ok=True)
    recorded = record.get("files") or {checkpoint.WEIGHTS: {"sha256": file_digest(there / checkpoint.WEIGHTS)}}
    files: dict[str, Mapping[str, Any]] = {}
    for name, facts in recorded.items():
        if (there / name).is_file() and file_digest(there / name) == facts["sha256"]:
            link(there / name, here / name)
            files[name] = facts
    for kept in checkpoint.kept(there).values():
        checked_weights(there, {}, key, kept.name)
        link(kept, here / kept.name)
    if (there / "log.jsonl").is_file():
        copy(there / "log.jsonl", here / "log.jsonl")
    return files


def target_data(data: FactorData, config: MethodConfig) -> FactorData:
    """The data set as a stage is trained on it: with a given target in place of its observations, if it names one."""
    if not isinstance(config, HasTarget) or not config.target:
        return data
    made = data.targets[config.target]()
    # Not what `load` would give, so nothing may take it for that.
    return dataclasses.replace(data, observations=made, arguments=None, known_fingerprint=None, targets={})
