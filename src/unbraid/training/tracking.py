"""Figures of a training as they come, for whoever wants to follow: one interface, and adapters for four services.

Nothing of these services is imported unless it is asked for by name.
"""

from __future__ import annotations

import importlib
import logging
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from unbraid.errors import InputError, unknown
from unbraid.util.files import read_json, write_json

_log = logging.getLogger("unbraid")


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
            if tracker in _following:
                _following.remove(tracker)
            try:
                tracker.end()
            except Exception as error:
                _log.warning("%s could not end: %s", type(tracker).__name__, error)


def follow(log: Path, step: int, figures: Mapping[str, float]) -> None:
    """Tell every tracker of a line that the log of a stage has got."""
    for tracker in list(_following):
        try:
            tracker.log(step, {f"{log.parent.name}/{name}": value for name, value in figures.items()})
        except Exception as error:  # whatever a service has to say, the training goes on
            _log.warning("%s follows no more: %s", type(tracker).__name__, error)
            _following.remove(tracker)


@dataclass(frozen=True)
class Service:
    """A service that is ready for many runs, in this process and others."""

    name: str
    project: str
    settings: Mapping[str, str] = field(default_factory=dict)  # where it is and what it calls the project


def prepare(service: str, folder: Path) -> Service:
    """Make a service ready for the runs of a search, once and before they begin.

    Args:
        service: tensorboard, mlflow, wandb or trackio.
        folder: the search's directory, after which the project is named.
    """
    check_service(service)
    project = folder.resolve().name
    return Service(service, project, MLflow.settings(project) if service == "mlflow" else {})


def trackers(services: Sequence[Service], folder: Path, options: Mapping[str, Any]) -> list[Tracker]:
    """The trackers of one run. A service that fails is left out with a warning: the training does not depend on it.

    Args:
        services: as `prepare` gives them.
        folder: the run directory, after which the run is named.
        options: what the run was asked to do, for the service to show.
    """
    found: list[Tracker] = []
    for service in services:
        try:
            found.append(SERVICES[service.name](service, folder, options))
        except Exception as error:
            _log.warning("%s does not follow %s: %s", service.name, folder.name, error)
    return found


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
        wanted = "'unbraid[tracking]'" if service in ("tensorboard", "wandb") else service
        raise InputError(f"--track {service} needs {service}: pip install {wanted}.") from None


class TensorBoard:
    """Event files in the run directory: `tensorboard --logdir DIR` shows all runs below."""

    def __init__(self, service: Service, folder: Path, options: Mapping[str, Any]) -> None:
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
    """A run of the experiment that is named after the search, at MLFLOW_TRACKING_URI or where MLflow puts it."""

    @staticmethod
    def settings(project: str) -> dict[str, str]:
        """Where MLflow is, and the experiment, made once: processes that make its tables at once hinder each other."""
        mlflow = need("mlflow")
        client = mlflow.MlflowClient()
        known = client.get_experiment_by_name(project)
        experiment = client.create_experiment(project) if known is None else known.experiment_id
        return {"uri": str(mlflow.get_tracking_uri()), "experiment": str(experiment)}

    def __init__(self, service: Service, folder: Path, options: Mapping[str, Any]) -> None:
        self.client = need("mlflow").MlflowClient(service.settings["uri"])
        self.entities = importlib.import_module("mlflow.entities")
        self.run, new = identity(folder, "mlflow", lambda: self._create(service, folder))
        if new:
            params = [self.entities.Param(name, str(value)) for name, value in options.items()]
            self.client.log_batch(self.run, params=params)
        else:
            self.client.update_run(self.run, status="RUNNING")

    def _create(self, service: Service, folder: Path) -> str:
        made = self.client.create_run(service.settings["experiment"], run_name=folder.name)
        return str(made.info.run_id)

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """All figures of a step at once."""
        now = int(time.time() * 1000)
        self.client.log_batch(self.run, [self.entities.Metric(name, v, now, step) for name, v in figures.items()])

    def end(self) -> None:
        """Mark the run as finished."""
        self.client.set_terminated(self.run)


class WandB:
    """A run of the project that WANDB_PROJECT names, else of the search's; one that goes on keeps its identity."""

    def __init__(self, service: Service, folder: Path, options: Mapping[str, Any]) -> None:
        wandb = need("wandb")
        own, _ = identity(folder, "wandb", lambda: secrets.token_hex(8))
        self.run = wandb.init(
            project=os.environ.get("WANDB_PROJECT") or service.project,
            id=own,
            name=folder.name,
            config=dict(options),
            resume="allow",
            reinit="finish_previous",
            settings=wandb.Settings(silent=True, console="off"),
        )

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """All figures of a step at once, against the steps of their stage: W&B's own count never goes back."""
        stage = next(iter(figures)).split("/")[0]
        self.run.define_metric(f"{stage}/*", step_metric=f"{stage}/step")
        self.run.log({**figures, f"{stage}/step": step})

    def end(self) -> None:
        """Mark the run as finished."""
        self.run.finish()


class Trackio:
    """A run of the project that is named after the search, in Trackio's own place on this machine."""

    def __init__(self, service: Service, folder: Path, options: Mapping[str, Any]) -> None:
        plain = {name: value if isinstance(value, int | float | str) else str(value) for name, value in options.items()}
        self.run = need("trackio").init(
            project=service.project, name=folder.name, config=plain, resume="allow", embed=False
        )

    def log(self, step: int, figures: Mapping[str, float]) -> None:
        """All figures of a step at once."""
        self.run.log(dict(figures), step=step)

    def end(self) -> None:
        """Mark the run as finished, and send what is left."""
        self.run.finish()


def identity(folder: Path, service: str, make: Callable[[], str]) -> tuple[str, bool]:
    """What a service calls this run, kept in the run directory, and whether it is new.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> identity(folder, "wandb", lambda: "x1"), identity(folder, "wandb", lambda: "x2")
        (('x1', True), ('x1', False))
    """
    path = folder / NAMES
    known = read_json(path) if path.is_file() else {}
    if isinstance(known.get(service), str):
        return known[service], False
    made = make()
    write_json(path, known | {service: made})
    return made, True


NAMES = "tracking.json"  # in a run directory
PACKAGES = {"tensorboard": "torch.utils.tensorboard", "mlflow": "mlflow", "wandb": "wandb", "trackio": "trackio"}
SERVICES: dict[str, Callable[[Service, Path, Mapping[str, Any]], Tracker]] = {
    "tensorboard": TensorBoard,
    "mlflow": MLflow,
    "wandb": WandB,
    "trackio": Trackio,
}
