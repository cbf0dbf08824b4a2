"""The contract that every method keeps, as a test that anyone can run on a method of their own."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from lightning_fabric import Fabric
from torch import Tensor

from unbraid.core import Decodes, Encodes, HasPrior, LearnsPrior, Method, MethodConfig, Posterior, Terms
from unbraid.data.factor_data import Factor, FactorData
from unbraid.training import checkpoint
from unbraid.training.averaging import WeightAverage
from unbraid.training.batches import BatchSource, TrainingData
from unbraid.training.device_check import ContractError as ContractError
from unbraid.training.device_check import check_device, require
from unbraid.training.loop import Job, UpdateOptimizer, build, learn_prior, training_step
from unbraid.training.machine import launch
from unbraid.util.schema import from_json, to_json
from unbraid.util.tensors import read_tensors

SEED, STEPS, PROCESSES = 7, 4, 2


def check_method(config: MethodConfig, data: FactorData | None = None, *, processes: int = PROCESSES) -> None:
    """Check that a method keeps the contract; raises `ContractError` that names what is violated.

    Configuration and JSON, weights from a seed, losses without state, gradients only into what an update trains,
    shapes of codes and observations, tensors that stay on the model's device, saved and loaded weights, a resumed
    run, and (with `processes` > 1) training by two processes at once, which read the calling script again: call this
    under `if __name__ == "__main__":`. `data` are small images with two factors unless given. It takes about a minute.
    """
    source = training_data(config, data or small_images())
    check_configuration(config)
    check_seed(config, source)
    check_losses(config, source)
    check_gradients(config, source)
    check_codes(config, source)
    check_other_device(config, source)
    check_resume(config, source)
    if processes > 1:
        check_processes([config], data, processes)


def small_images(n: int = 48, size: int = 16) -> FactorData:
    """Bright squares on dark ground, with their place and shade as factors."""
    random = np.random.default_rng(SEED)
    place, shade = random.integers(4, size=n), random.integers(3, size=n)
    images = random.integers(0, 30, size=(n, size, size, 3), dtype=np.uint8)
    for image, p, s in zip(images, place, shade, strict=True):
        row, column = divmod(int(p), 2)
        half = size // 2
        image[row * half : (row + 1) * half, column * half : (column + 1) * half, s] += 200
    factors = np.stack([place, shade], axis=1).astype(np.float64)
    info = (Factor("place", 4, "categorical"), Factor("shade", 3, "categorical"))
    return FactorData("squares", images, factors, info)


def training_data(config: MethodConfig, data: FactorData) -> TrainingData:
    """The data as a stage gets them; a later stage gets dimmed observations for y."""
    y = np.minimum(data.observations, 100) if config.conditional else None
    codes = np.random.default_rng(SEED).normal(size=(len(data), 3)).astype(np.float32) if config.uses_codes else None
    if not config.uses_labels:
        return TrainingData(data, np.empty((len(data), 0)), y, codes, factors=())
    half = data.factors.copy()
    half[1::2] = np.nan  # a method that learns from labels does with some of them
    return TrainingData(data, half, y, codes)


def check_configuration(config: MethodConfig) -> None:
    """A configuration is hashable and survives JSON."""
    require(from_json(type(config), json.loads(json.dumps(to_json(config)))) == config, "its JSON must give it back")
    require(hash(config) == hash(config), "it must be hashable")
    require(bool(getattr(config, "name", "")) and bool(type(config).__doc__), "it must have a name and a docstring")


def check_seed(config: MethodConfig, source: TrainingData) -> None:
    """The same seed gives the same weights and the same training."""
    one, two = trained(config, source, STEPS).method, trained(config, source, STEPS).method
    require(fingerprint(one) == fingerprint(two), "two trainings from one seed must end with the same weights")
    untrained = build(job(config, source), torch.device("cpu"))
    require(fingerprint(one) != fingerprint(untrained), "training must change the weights")


def check_losses(config: MethodConfig, source: TrainingData) -> None:
    """Losses are finite numbers that depend on weights, batch, step and torch's generator only."""
    method, batches = build(job(config, source), torch.device("cpu")), batch_source(source)
    names = [update.name for update in method.updates()]
    require(len(names) == len(set(names)) and bool(names), "its updates must have different names")
    method.eval()  # batch statistics are the one state that networks may keep, and they are off here
    for update in method.updates():
        batch = batches.batch(update.name, update.stream, update.batch_size, 0, update.pairs)
        before = batch.x.clone()
        values = []
        for _ in range(2):
            torch.manual_seed(SEED)
            terms = update.loss(batch, 3)
            require(terms.total.ndim == 0, f"{update.name}: its total must be one number")
            require(terms.total.requires_grad, f"{update.name}: its total must have a gradient")
            values.append(terms.values())
            require(adds_up(terms), f"{update.name}: its terms with their weights must add up to its total")
        require(all(np.isfinite(list(values[0].values()))), f"{update.name}: its terms must be finite ({values[0]})")
        require(values[0] == values[1], f"{update.name}: its loss must be the same when computed again")
        require(torch.equal(before, batch.x), f"{update.name}: its loss must leave the batch as it was")


def adds_up(terms: Terms) -> bool:
    """Whether the terms with their weights sum to the total, as far as single precision tells; so do none at all."""
    parts = list(terms.weighted().values())
    return not parts or abs(sum(parts) - terms.total.item()) <= 1e-5 * (1 + sum(map(abs, parts)))


def check_gradients(config: MethodConfig, source: TrainingData) -> None:
    """An update changes all of what it trains, and nothing else."""
    fabric, batches = local_fabric(), batch_source(source)
    for chosen in range(len(build(job(config, source), torch.device("cpu")).updates())):
        method = build(job(config, source), torch.device("cpu"))
        update = method.updates()[chosen]
        optimizer = UpdateOptimizer(update, method, fabric)
        before = {name: parameter.detach().clone() for name, parameter in method.named_parameters()}
        training_step(fabric, method, [optimizer], batches, SEED, 0)
        changed = {name for name, parameter in method.named_parameters() if not torch.equal(parameter, before[name])}
        outside = sorted(changed - set(optimizer.names))
        require(not outside, f"{update.name}: it must change only what it trains, yet {outside[:3]} changed")
        for part in update.trains:
            moved = any(name == part or name.startswith(f"{part}.") for name in changed)
            require(moved, f"{update.name}: {part!r}, which it trains, must change")


def check_codes(config: MethodConfig, source: TrainingData) -> None:
    """Codes are [b, code] for any batch, observations come back in their shape, and neither depends on the batch."""
    method = finished(trained(config, source, STEPS), source).eval()
    batch = batch_source(source).batch("codes", "train", 6, 0)
    require(isinstance(method, Encodes | HasPrior), "it must encode, or have a prior over its codes")
    with torch.no_grad():
        q = encode(method, batch.x, batch.y, batch.factors)
        require(
            bool(q) and set(q) <= {"c", "u", "z"}, f"its groups of codes must be among c, u, z (they are {list(q)})"
        )
        for key, posterior in q.items():
            shape = (len(batch.x), posterior.mean.shape[1])
            parts = {"mean": posterior.mean, "draw": posterior.rsample(), "KL": posterior.kl_per_latent()}
            for name, value in parts.items():
                require(value.shape == shape, f"the {name} of {key} must be [b, code]")
                # A variable that is given, not inferred, is infinitely far from any prior with a density.
                sound = not value.isnan().any() if name == "KL" else value.isfinite().all()
                require(bool(sound), f"the {name} of {key} must be finite")
        first = encode(method, batch.x[:1], None if batch.y is None else batch.y[:1], batch.factors[:1])
        for key, posterior in first.items():
            close = torch.allclose(posterior.mean[0], q[key].mean[0], atol=1e-4)
            require(close, f"the code {key} of an observation must not depend on what else is in the batch")
        if isinstance(method, Encodes) and not method.config.encoder_needs_labels:
            for key, posterior in method.encode(batch.x, batch.y, None).items():
                same = torch.allclose(posterior.mean, q[key].mean, atol=1e-4)
                require(same, f"the code {key} must not depend on labels unless it declares encoder_needs_labels")
        if isinstance(method, Decodes):
            codes = {key: posterior.mean for key, posterior in q.items()}
            given = {} if batch.codes is None else {"given": batch.codes}
            x = method.decode(codes | given, batch.y)
            require(x.shape == batch.x.shape, f"decoding must give observations of shape {tuple(batch.x.shape)}")
            inside = bool((x >= 0).all() and (x <= 1).all()) if x.ndim == 4 else bool(x.isfinite().all())
            require(inside, "decoded images must lie in [0, 1]")
        if isinstance(method, LearnsPrior) and method.prior_rows and batch.y is not None:
            for key, value in method.draw_given(batch.y).items():
                require(value.shape == q[key].mean.shape, f"the draw of {key} given y must be [b, code]")
                require(bool(value.isfinite().all()), f"the draw of {key} given y must be finite")


def check_other_device(config: MethodConfig, source: TrainingData) -> None:
    """Everything that a trained method computes is computed where its weights and its batch are."""
    batches = batch_source(source)
    check_device(
        finished(trained(config, source, 1), source),
        lambda update: batches.batch(update.name, update.stream, update.batch_size, 0, update.pairs),
    )


def encode(method: Method, x: Tensor, y: Tensor | None, labels: Tensor) -> dict[str, Posterior]:
    """The posteriors of a method, or its priors if it has no encoder."""
    if isinstance(method, Encodes):
        return method.encode(x, y, labels)
    assert isinstance(method, HasPrior)
    return method.prior(len(x))


def check_resume(config: MethodConfig, source: TrainingData) -> None:
    """A run that is saved and loaded half-way ends with the same bits as one that is not interrupted."""
    straight = finished(trained(config, source, STEPS), source)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        half = trained(config, source, STEPS // 2)
        checkpoint.save(folder, "key", half.method, half.optimizers, STEPS // 2, half.average)
        again = untrained(config, source)
        start = checkpoint.load(folder, "key", again.method, again.optimizers, again.average)
        resumed = finished(take_steps(again, source, range(start, STEPS)), source)
        require(fingerprint(resumed) == fingerprint(straight), "a resumed run must end with the same bits")
        checkpoint.finish(folder, "key", resumed)
        loaded = build(job(config, source, seed=SEED + 1), torch.device("cpu"))
        loaded.load_state_dict(read_tensors(folder / checkpoint.WEIGHTS)[0])
        require(fingerprint(loaded) == fingerprint(straight), "saved weights must load into a new model")


def check_processes(
    configs: Sequence[MethodConfig], data: FactorData | None = None, processes: int = PROCESSES
) -> None:
    """Processes that train together hold the same weights after every step (here: two on the CPU, by gloo)."""
    with tempfile.TemporaryDirectory() as name:
        fabric = Fabric(accelerator="cpu", devices=processes, strategy="ddp_spawn")
        launch(fabric, partial(_train_together, configs=list(configs), data=data, folder=name))
        results = [json.loads((Path(name) / f"{rank}.json").read_text()) for rank in range(processes)]
    for number, config in enumerate(configs):
        found = {result[number] for result in results}
        require(len(found) == 1, f"{config.name}: processes that train together must hold the same weights")


def _train_together(fabric: Fabric, configs: list[MethodConfig], data: FactorData | None, folder: str) -> None:
    torch.set_num_threads(1)
    results = []
    for config in configs:
        source = training_data(config, data or small_images())
        method = build(job(config, source), fabric.device)
        optimizers = [UpdateOptimizer(update, method, fabric) for update in method.updates()]
        batches = batch_source(source, fabric)
        for step in range(STEPS):
            training_step(fabric, method, optimizers, batches, SEED, step)
        results.append(fingerprint(method, buffers=False))
    (Path(folder) / f"{fabric.global_rank}.json").write_text(json.dumps(results))


@dataclass(frozen=True)
class Training:
    """A method with what changes beside its weights as it is trained."""

    method: Method
    optimizers: list[UpdateOptimizer]
    average: WeightAverage


def untrained(config: MethodConfig, source: TrainingData) -> Training:
    """The method before its first step."""
    fabric, method = local_fabric(), build(job(config, source), torch.device("cpu"))
    optimizers = [UpdateOptimizer(update, method, fabric) for update in method.updates()]
    return Training(method, optimizers, WeightAverage(method, config.average))


def take_steps(training: Training, source: TrainingData, steps: Iterable[int]) -> Training:
    """Train for these of all steps."""
    fabric, batches = local_fabric(), batch_source(source)
    for step in steps:
        for optimizer in training.optimizers:
            optimizer.set_learning_rate(step, STEPS)
        training_step(fabric, training.method, training.optimizers, batches, SEED, step)
        training.average.update(step)
    return training


def trained(config: MethodConfig, source: TrainingData, steps: int) -> Training:
    """The method after a few steps, and its optimisers."""
    return take_steps(untrained(config, source), source, range(steps))


def finished(training: Training, source: TrainingData) -> Method:
    """The method as its weights are written down: averaged, and with a prior where it learns one."""
    training.average.put_in_place()
    learn_prior(training.method, batch_source(source), SEED)
    return training.method


def job(config: MethodConfig, source: TrainingData, seed: int = SEED) -> Job:
    """The training job of the check."""
    return Job(config, source, STEPS, seed, "key", Path())


def batch_source(source: TrainingData, fabric: Fabric | None = None) -> BatchSource:
    """The batches of the check, on the CPU."""
    rank, world = (fabric.global_rank, fabric.world_size) if fabric else (0, 1)
    return BatchSource(source, seed=SEED, device=torch.device("cpu"), rank=rank, world=world)


def local_fabric() -> Fabric:
    """One process on the CPU."""
    return Fabric(accelerator="cpu", devices=1)


def fingerprint(method: Method, *, buffers: bool = True) -> str:
    """A hash of all weights; batch statistics differ between processes and may be left out."""
    tensors: dict[str, Tensor] = method.state_dict() if buffers else dict(method.named_parameters())
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode() + tensor.detach().contiguous().numpy().tobytes())
    return digest.hexdigest()
