"""Figures of a training as they come, for whoever wants to follow: one interface, and adapters for three services.

Nothing of these services is imported unless it is asked for by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from unbraid.errors import InputError, unknown


class Tracker(Protocol):
    """Follows one run. Steps of a run that goes on continue where they were."""

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """Figures after a step, by name: `stage-1/vae/total`."""
        ...

    def end(self) -> None:
        """Nothing more will come of this run."""
        ...


_following: list[Tracker] = []


@contextmanager
def tracked(trackers: Sequence[Tracker]) -> Iterator[None]:
    """Let trackers follow whatever is trained inside.

    Example:
        >>> class Last:
        ...     def log(self, step, figures): self.step = step
        ...     def end(self): self.step = -self.step
        >>> last = Last()
        >>> with tracked([last]):
        ...     follow(Path("run/stage-1/log.jsonl"), 7, {"total": 0.5})
        ...     last.step
        7
        >>> last.step
        -7
    """
    _following.extend(trackers)
    try:
        yield
    finally:
        for tracker in trackers:
            _following.remove(tracker)
            tracker.end()


def follow(log: Path, step: int, figures: Mapping[str, float]) -> None:
    """Tell every tracker of a line that the log of a stage has got."""
    for tracker in _following:
        tracker.log(step, {f"{log.parent.name}/{name}": value for name, value in figures.items()})


def tracker(service: str, folder: Path, options: Mapping[str, Any]) -> Tracker:
    """The tracker of one run.

    Args:
        service: tensorboard, mlflow or wandb.
        folder: the run directory, after which the run is named.
        options: what the run was asked to do, for the service to show.
    """
    check_service(service)
    return SERVICES[service](folder, options)


def check_service(service: str) -> None:
    """Refuse a service that there is not, or whose package is not installed."""
    if service not in SERVICES:
        raise unknown("tracker", service, SERVICES)
    need(PACKAGES[service])


def need(module: str) -> Any:
    """A service's own package, or a sentence that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        service = next(name for name, package in PACKAGES.items() if package == module)
        # MLflow asks for older packages than the tested ones, so that it is in no extra.
        wanted = "mlflow" if service == "mlflow" else "'unbraid[tracking]'"
        raise InputError(f"--track {service} needs {service}: pip install {wanted}.") from None


class TensorBoard:
    """Event files in the run directory: `tensorboard --logdir DIR` shows all runs below."""

    def __init__(self, folder: Path, options: Mapping[str, Any]) -> None:
        self.writer = need("torch.utils.tensorboard").SummaryWriter(str(folder / "tensorboard"))
        self.writer.add_text("options", "\n".join(f"    {name}: {value}" for name, value in options.items()))

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """A scalar for each figure."""
        for name, value in figures.items():
            self.writer.add_scalar(name, value, step)

    def end(self) -> None:
        """Close the file."""
        self.writer.close()


class MLflow:
    """A run of the experiment that is named after the folder above the run, at MLFLOW_TRACKING_URI or in ./mlruns."""

    def __init__(self, folder: Path, options: Mapping[str, Any]) -> None:
        self.mlflow = need("mlflow")
        self.mlflow.set_experiment(folder.resolve().parent.name)
        self.run = self.mlflow.start_run(run_name=folder.name)
        self.mlflow.log_params(dict(options))

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """All figures of a step at once."""
        self.mlflow.log_metrics(dict(figures), step=step)

    def end(self) -> None:
        """Mark the run as finished."""
        self.mlflow.end_run()


class WandB:
    """A run of the project that WANDB_PROJECT names, else of `unbraid`; a run that goes on keeps its identity."""

    def __init__(self, folder: Path, options: Mapping[str, Any]) -> None:
        self.service = need("wandb")
        self.run = self.service.init(project="unbraid", name=folder.name, config=dict(options), resume="allow")

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """All figures of a step at once."""
        self.run.log(dict(figures), step=step)

    def end(self) -> None:
        """Mark the run as finished."""
        self.run.finish()


PACKAGES = {"tensorboard": "torch.utils.tensorboard", "mlflow": "mlflow", "wandb": "wandb"}
SERVICES: dict[str, type[TensorBoard] | type[MLflow] | type[WandB]] = {
    "tensorboard": TensorBoard,
    "mlflow": MLflow,
    "wandb": WandB,
}
