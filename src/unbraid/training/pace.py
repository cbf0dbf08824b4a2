"""How long training takes on this machine: a few steps of a copy that is thrown away."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from unbraid.training.loop import Job
from unbraid.training.machine import Machine
from unbraid.training.precision import AUTO, faster, step_seconds, trial

WARM_UP = 2  # steps that are not counted: the first ones choose kernels and ask for memory
LEAST, MOST = 3, 2000  # steps that are
Clock = Callable[[], float]


@dataclass(frozen=True)
class Pace:
    """What a stage takes here.

    Attributes:
        step: seconds of a step.
        precision: what they were measured in.
        busy: seconds that pass for each of the processor's, 1 where nothing else runs.
    """

    step: float
    precision: str
    busy: float = 1.0


def measure(job: Job, machine: Machine, most_seconds: float, clock: Clock = time.perf_counter) -> Pace:
    """Measure the steps of a job for some seconds, in the precision that it would be trained in.

    The mean of the times counts, not the least or the middle one: a machine that has other things to do leaves most
    steps alone and keeps a few waiting for long, and it is going to go on like that.

    Args:
        job: what is to be trained; its folder is not touched.
        machine: where.
        most_seconds: when to stop; a few steps are taken in any case.
        clock: what tells the seconds.

    Returns:
        The pace. The caller's random numbers stay as they are.
    """
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        precision = faster(step_seconds(job, machine)) if machine.precision == AUTO else machine.precision
        step = trial(job, machine, precision)
        passed, worked = time.perf_counter(), time.process_time()
        mean = mean_seconds(step, most_seconds, clock)
        passed, worked = time.perf_counter() - passed, time.process_time() - worked
        return Pace(mean, precision, round(max(1.0, passed / max(worked, 1e-6)), 2))


def mean_seconds(step: Callable[[], None], most_seconds: float, clock: Clock) -> float:
    """The mean time of a step.

    Args:
        step: takes one.
        most_seconds: when to stop.
        clock: what tells the seconds.
    """
    for _ in range(WARM_UP):
        step()
    count, began = 0, clock()
    while True:
        step()
        count += 1
        taken = clock() - began
        if count >= MOST or (count >= LEAST and taken >= most_seconds):
            return round(taken / count, 6)
