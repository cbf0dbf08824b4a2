"""How long training takes on this machine: a few steps of a copy that is thrown away."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import torch

from unbraid.training.loop import Job
from unbraid.training.machine import Machine
from unbraid.training.precision import AUTO, faster, step_seconds, trial

WARM_UP = 2  # steps that are not counted: the first ones choose kernels and ask for memory
LEAST, MOST = 3, 300  # steps that are
Clock = Callable[[], float]


@dataclass(frozen=True)
class Pace:
    """What a stage takes here: seconds of a step, and the precision that they were measured in."""

    step: float
    precision: str


def measure(job: Job, machine: Machine, most_seconds: float, clock: Clock = time.perf_counter) -> Pace:
    """Measure the steps of a job for some seconds, in the precision that it would be trained in.

    The middle of the times counts, not the least: what else the machine does is going to take its part of every step.

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
        return Pace(typical_seconds(trial(job, machine, precision), most_seconds, clock), precision)


def typical_seconds(step: Callable[[], None], most_seconds: float, clock: Clock) -> float:
    """The median time of a step.

    Args:
        step: takes one.
        most_seconds: when to stop.
        clock: what tells the seconds.
    """
    for _ in range(WARM_UP):
        step()
    times: list[float] = []
    while len(times) < LEAST or (len(times) < MOST and sum(times) < most_seconds):
        began = clock()
        step()
        times.append(clock() - began)
    return round(median(times), 6)
