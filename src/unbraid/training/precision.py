"""`--precision auto`: half precision where it is faster here, found out on a copy that is thrown away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import torch
from lightning_fabric import Fabric

from unbraid.training.batches import BatchSource
from unbraid.training.loop import Job, UpdateOptimizer, build, training_step
from unbraid.training.machine import Machine
from unbraid.util.files import read_json, write_json

AUTO, FULL, HALF = "auto", "32-true", "bf16-mixed"
RECORD = "precision.json"
STEPS = 4  # of each kind that are timed, after one that is not
# Half precision has to win by more than a measurement errs: it takes something from the weights' last digits.
LARGEST_SHARE = 0.9
HOPELESS = 3.0  # times as slow at the first step: a processor without such arithmetic, which is up to 14 times as slow
_log = logging.getLogger("unbraid")


def with_precision(job: Job, machine: Machine) -> Machine:
    """The machine with `auto` replaced by what is faster for this job; found once, then read from the stage's folder.

    So a run that is taken up again goes on in the precision that it began with.
    """
    if machine.precision != AUTO:
        return machine
    path = job.folder / RECORD
    record = read_json(path) if path.is_file() else {}
    if not isinstance(record, dict) or record.get("key") != job.key:
        seconds = step_seconds(job, machine)
        chosen = faster(seconds)
        record = {"key": job.key, "precision": chosen, "seconds_per_step": seconds}
        write_json(path, record)
        _log.info("a step takes %.3g of its time in half precision: %s", seconds[HALF] / seconds[FULL], chosen)
    return replace(machine, precision=str(record["precision"]))


def faster(seconds: Mapping[str, float]) -> str:
    """The precision to take, by the seconds of a step in each.

    Example:
        >>> faster({FULL: 1.0, HALF: 0.95}), faster({FULL: 1.0, HALF: 0.7})
        ('32-true', 'bf16-mixed')
    """
    return HALF if seconds[HALF] < LARGEST_SHARE * seconds[FULL] else FULL


def step_seconds(job: Job, machine: Machine) -> dict[str, float]:
    """Seconds of the fastest of a few steps in either precision. The caller's random numbers stay as they are."""
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        trials = {precision: trial(job, machine, precision) for precision in (FULL, HALF)}
        first = {precision: seconds(step) for precision, step in trials.items()}
        if first[HALF] > HOPELESS * seconds(trials[FULL]) and seconds(trials[HALF]) > HOPELESS * seconds(trials[FULL]):
            return first
        rounds = [{precision: seconds(step) for precision, step in trials.items()} for _ in range(STEPS)]
    return {precision: fastest(one[precision] for one in rounds) for precision in trials}


def trial(job: Job, machine: Machine, precision: str) -> Callable[[], None]:
    """A function that takes one training step of a new copy of the job's method."""
    fabric = Fabric(accelerator=machine.accelerator, devices=1, precision=precision)  # type: ignore[arg-type]
    method = build(job, fabric.device)
    optimizers = [UpdateOptimizer(update, method, fabric) for update in method.updates()]
    source = BatchSource(job.data, seed=job.seed, device=fabric.device)

    def step() -> None:
        training_step(fabric, method, optimizers, source, job.seed, 0)
        if fabric.device.type == "cuda":
            torch.cuda.synchronize(fabric.device)

    return step


def seconds(step: Callable[[], None]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


def fastest(times: Iterable[float]) -> float:
    """The least time: what is above it is the machine's other work."""
    return round(min(times), 6)
