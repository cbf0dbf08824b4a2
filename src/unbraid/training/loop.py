"""The only training loop. It knows updates, never methods."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import cast

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn

from unbraid.core import Adjusts, LearnsPrior, Method, MethodConfig, Prepares, Terms, Update, build_method
from unbraid.errors import InputError, Interrupted
from unbraid.training import checkpoint
from unbraid.training.averaging import WeightAverage
from unbraid.training.batches import BatchSource, TrainingData
from unbraid.training.figures import progress_note
from unbraid.training.log import Log, is_watched, log_interval
from unbraid.training.machine import Machine, launch
from unbraid.training.watching import Watched, seed_draws
from unbraid.util.allocator import keep_freed_memory
from unbraid.util.progress import Steps
from unbraid.util.seeds import mix

PREPARE_BATCH = 1024
PRIOR_BATCH = 256
ADJUST_ROWS = 2_000


@dataclass(frozen=True)
class Job:
    """All that determines a stage's weights, and the folder that they go to."""

    config: MethodConfig
    data: TrainingData
    steps: int
    seed: int
    key: str  # identifies the job: a checkpoint of another one is never loaded
    folder: Path
    watched: TrainingData | None = None  # the same of held-out rows, whose losses are logged too


class UpdateOptimizer:
    """An update's optimiser and the parameters that it trains."""

    def __init__(self, update: Update, method: Method, fabric: Fabric) -> None:
        self.update, self.module = update, method
        self.names, self.parameters = named_parameters(method, update)
        settings = update.optimizer
        betas = (settings.beta1, settings.beta2)
        # Without decay AdamW is Adam, to the bit.
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=settings.lr, betas=betas, eps=settings.eps, weight_decay=settings.decay, fused=True
        )
        self.stepper = cast(torch.optim.Optimizer, fabric.setup_optimizers(self.optimizer))

    def set_learning_rate(self, step: int, steps: int) -> None:
        """Set the learning rate for `step`, counted from 0, of `steps` steps."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.update.optimizer.rate(step / steps, step)

    def step(self, fabric: Fabric, terms: Terms) -> None:
        """Back-propagate into this update's parameters and no others, and step."""
        for parameter in self.parameters:
            parameter.grad = None  # what `zero_grad` does, without a record for profilers at every step
        fabric.backward(terms.total, inputs=self.parameters)
        if fabric.world_size > 1:
            average_gradients(fabric, self.parameters)
        if self.update.optimizer.clip:
            # An infinite gradient is not an error here: half precision meets it and skips the step.
            longest = self.update.optimizer.clip
            fabric.clip_gradients(self.module, self.stepper, max_norm=longest, error_if_nonfinite=False)
        self.stepper.step()


def train(job: Job, machine: Machine, *, show: bool = True, title: str = "") -> None:
    """Train a stage and write its `weights.safetensors`; an unfinished earlier call is resumed.

    Checkpoints stay until the caller has recorded that the stage is finished (`checkpoint.discard`).

    With several devices each is a process of its own; the caller finds the results in the folder.
    """
    strategy = "ddp_spawn" if machine.devices > 1 else "auto"
    fabric = Fabric(
        accelerator=machine.accelerator,
        devices=machine.devices,
        precision=machine.precision,  # type: ignore[arg-type]
        strategy=strategy,
    )
    if machine.devices > 1:
        # Bound arguments, because the launcher would otherwise try to look into them.
        launch(fabric, partial(_run, job=job, machine=machine, show=show, title=title))
    else:
        _run(fabric, job, machine, show, title)


def _run(fabric: Fabric, job: Job, machine: Machine, show: bool, title: str) -> None:
    if fabric.world_size > 1 and fabric.device.type == "cpu":
        torch.set_num_threads(max(1, torch.get_num_threads() // fabric.world_size))
    if fabric.device.type == "cpu":
        keep_freed_memory()
    method = build(job, fabric.device)
    optimizers = [UpdateOptimizer(update, method, fabric) for update in method.updates()]
    source = BatchSource(
        job.data, seed=job.seed, device=fabric.device, rank=fabric.global_rank, world=fabric.world_size
    )
    average = WeightAverage(method, job.config.average)
    start = checkpoint.load(job.folder, job.key, method, optimizers, average)
    if start == 0 and isinstance(method, Prepares):
        torch.manual_seed(mix(job.seed, "prepare"))
        method.prepare(source.all_rows(PREPARE_BATCH))
    leader = fabric.global_rank == 0
    watched = Watched(source, job.watched) if job.watched is not None and leader else None
    with (
        Log(job.folder / "log.jsonl", start, write=leader) as log,
        Steps(title or job.config.name, job.steps, start=start, show=show and leader) as bar,
        stop_requests(single=fabric.world_size == 1) as stop,
    ):
        saved = time.monotonic()
        adjusting = method if isinstance(method, Adjusts) else None
        for step in range(start, job.steps):
            if adjusting is not None and adjusting.adjusts(step, job.steps):
                adjusting.adjust(source.some_observations(ADJUST_ROWS, f"adjust {step}"))
            for optimizer in optimizers:
                optimizer.set_learning_rate(step, job.steps)
            logged = (step + 1) % log_interval(job.steps) == 0 or step == 0
            figures = training_step(fabric, method, optimizers, source, job.seed, step, figures=logged)
            if figures:
                if watched is not None and is_watched(step + 1, job.steps):
                    figures |= watched.figures(fabric, method, step)
                log.line(step + 1, figures)
                source.release()
            bar.advance(step + 1, note=progress_note(figures) if figures else None)
            average.update(step)
            if leader and step + 1 in machine.keep:
                with average.in_place():
                    checkpoint.keep(job.folder, job.key, method, step + 1)
            if (stop.is_set() or step + 1 == machine.pause) and step + 1 < job.steps:
                checkpoint.save(job.folder, job.key, method, optimizers, step + 1, average)
                raise Interrupted(f"stopped at step {step + 1} of {job.steps}; repeat the command to go on from there.")
            if leader and time.monotonic() - saved > machine.checkpoint_seconds:
                checkpoint.save(job.folder, job.key, method, optimizers, step + 1, average)
                saved = time.monotonic()
    if leader:
        average.put_in_place()
        learn_prior(method, source, job.seed)
        checkpoint.finish(job.folder, job.key, method)


def learn_prior(method: Method, source: BatchSource, seed: int) -> None:
    """The last step of a stage that learns p(z | y). It needs seconds, so a killed run does it again from the start."""
    if isinstance(method, LearnsPrior) and method.prior_rows:
        torch.manual_seed(mix(seed, "prior"))
        was_training = method.training
        method.eval()
        with torch.no_grad():
            method.fit_prior(source.some_rows_with_y(method.prior_rows, PRIOR_BATCH))
        method.train(was_training)


def training_step(
    fabric: Fabric,
    method: Method,
    optimizers: list[UpdateOptimizer],
    source: BatchSource,
    seed: int,
    step: int,
    *,
    figures: bool = False,
) -> dict[str, float]:
    """One step of every update. A pure function of weights, optimisers, seed and step: nothing else is remembered."""
    values: dict[str, float] = {}
    for optimizer in optimizers:
        update = optimizer.update
        for repeat in range(update.repeats):
            draw = step * update.repeats + repeat
            batch = source.batch(update.name, update.stream, update.batch_size, draw, update.pairs)
            seed_draws(mix(seed, update.name, draw, fabric.global_rank), fabric.device)
            with fabric.autocast():
                terms = update.loss(batch, step)
            if figures and repeat == update.repeats - 1:
                values |= {f"{update.name}/{name}": value for name, value in terms.values().items()}
                check_finite(values, step)
            optimizer.step(fabric, terms)
    return values


def build(job: Job, device: torch.device) -> Method:
    """The untrained method: the same weights for the same seed, on every process."""
    torch.manual_seed(mix(job.seed, "weights"))
    method = build_method(job.config, job.data.spec)
    return method.to(device=device, memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def named_parameters(method: Method, update: Update) -> tuple[list[str], list[nn.Parameter]]:
    """The parameters under the submodules that an update trains."""
    for name in update.trains:
        if not isinstance(getattr(method, name, None), nn.Module | nn.Parameter):
            raise InputError(f"update {update.name!r} trains {name!r}; {type(method).__name__} has no such submodule.")
    chosen = [
        (name, parameter)
        for name, parameter in method.named_parameters()
        if any(name == part or name.startswith(f"{part}.") for part in update.trains)
    ]
    return [name for name, _ in chosen], [parameter for _, parameter in chosen]


def average_gradients(fabric: Fabric, parameters: list[nn.Parameter]) -> None:
    """The mean of each gradient over the processes, sent as one message."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    mean = fabric.all_reduce(flat, reduce_op="mean")
    assert isinstance(mean, Tensor)
    for gradient, part in zip(gradients, mean.split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))


def check_finite(values: dict[str, float], step: int) -> None:
    """Stop where a loss is not finite: more steps would only hide where it happened."""
    for name, value in values.items():
        if not math.isfinite(value):
            raise InputError(
                f"{name} became {value} at step {step + 1}; lower the learning rate (--adam.lr) or the term's weight."
            )


@contextmanager
def stop_requests(*, single: bool) -> Iterator[threading.Event]:
    """An event that Ctrl-C or SIGTERM sets, so that a run ends between two steps with its state saved.

    Processes of a group cannot agree on the step in time; they go on from the last regular checkpoint instead.
    """
    stop = threading.Event()
    if not single or threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def request(number: int, frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
