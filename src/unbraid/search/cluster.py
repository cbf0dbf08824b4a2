"""Tasks on a Ray cluster: each with its cores and its share of a GPU, tried again where a machine goes away."""

from __future__ import annotations

import importlib
import io
import os
import secrets
import shutil
import socket
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from unbraid.errors import InputError
from unbraid.search.tasks import MOST_ATTEMPTS, Outcome, Task, attempt
from unbraid.util.files import write_text

TOKEN = ".search-token"  # in the folder of all tasks: a machine that reads it there shares the disk
REACH = 10.0  # seconds in which a cluster must answer
AHEAD = 4  # tasks that wait in the cluster for each one that runs; the rest wait here


class RayExecutor:
    """A Ray cluster: machines may come and go, and a task goes on elsewhere, from its checkpoint on a shared disk.

    Where machines share the driver's folder (by its path), tasks work in it. Where they do not, each task works in a
    temporary folder of its machine, and what it made is sent back when it has ended.
    """

    def __init__(
        self, address: str | None = None, *, workers: int | None = None, cores: int = 1, gpus: float = 0.0
    ) -> None:
        try:
            ray = importlib.import_module("ray")
        except ImportError:
            raise InputError("--on ray needs Ray: pip install 'unbraid[ray]'.") from None
        self.ray: Any = ray
        if not ray.is_initialized():
            connect(ray, address, workers)
        self.cores, self.gpus = cores, gpus
        known = ray.cluster_resources()
        self.slots = max(1, int(known.get("CPU", 1) // cores))
        machines = sum(node["Alive"] for node in ray.nodes())
        self.place = f"Ray, {machines} machine{'' if machines == 1 else 's'}, {self.slots} at a time"

    def run(self, tasks: Iterable[Task | None], shared: Any) -> Iterator[Outcome]:
        """Run tasks; one whose machine or process goes away is begun again, up to three times."""
        ray = self.ray
        remote = ray.remote(attempt_there).options(
            num_cpus=self.cores, num_gpus=self.gpus, max_retries=MOST_ATTEMPTS - 1, retry_exceptions=False
        )
        data = ray.put(shared)  # sent once to each machine
        supply, running, tokens = iter(tasks), dict[Any, Task](), dict[Path, str]()
        try:
            while True:
                while len(running) < self.slots * (1 + AHEAD) and (task := next(supply, None)) is not None:
                    place = task.folder.parent
                    tokens[place] = tokens.get(place) or write_token(place)
                    running[remote.remote(task, tokens[place], data)] = task
                if not running:
                    return
                ready, _ = ray.wait(list(running), num_returns=1)
                for reference in ready:
                    yield self._outcome(reference, running.pop(reference))
        finally:
            for reference in running:  # stopped: what has been saved stays, what runs ends
                ray.cancel(reference, force=True)

    def _outcome(self, reference: Any, task: Task) -> Outcome:
        try:
            made: tuple[Outcome, bytes | None] = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            first = str(error).strip().splitlines()[0]
            return Outcome(
                task.name, error=f"begun {MOST_ATTEMPTS} times, and its process or machine went away: {first}"
            )
        outcome, files = made
        if files is not None:
            unpack(files, task.folder)
        return outcome


def connect(ray: Any, address: str | None, workers: int | None) -> None:
    """Join a cluster; without an address the one that RAY_ADDRESS names, else one on this machine."""
    settings: dict[str, Any] = {"log_to_driver": False, "include_dashboard": False, "logging_level": "error"}
    try:
        if address is not None:
            host, _, port = address.removeprefix("ray://").rpartition(":")
            socket.create_connection((host, int(port)), timeout=REACH).close()  # Ray itself would try for minutes
            ray.init(address=address, log_to_driver=False, logging_level="error")
        elif os.environ.get("RAY_ADDRESS"):
            ray.init(log_to_driver=False, logging_level="error")
        else:
            ray.init(num_cpus=workers, **settings)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(
            f"there is no Ray cluster at {address or 'this machine'} ({first}): start one with ray start."
        ) from error


def write_token(folder: Path) -> str:
    """Leave something in the folder that only a machine with the same disk can know."""
    token = secrets.token_hex(8)
    write_text(folder / TOKEN, token)
    return token


def attempt_there(task: Task, token: str, shared: Any) -> tuple[Outcome, bytes | None]:
    """Do a task on a machine of the cluster; its files come along where the driver's disk is not there."""
    if shares_disk(task.folder.parent, token):
        return attempt(task, shared), None
    local = Path(tempfile.gettempdir()) / f"unbraid-{token}" / task.folder.name
    outcome = attempt(replace(task, folder=local), shared)
    files = pack(local)
    shutil.rmtree(local, ignore_errors=True)
    return outcome, files


def shares_disk(folder: Path, token: str) -> bool:
    """Whether this machine sees the driver's folder."""
    try:
        return (folder / TOKEN).read_text(encoding="utf-8") == token
    except OSError:
        return False


def pack(folder: Path) -> bytes:
    """A folder's files as one archive."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.add(folder, arcname=".")
    return content.getvalue()


def unpack(files: bytes, folder: Path) -> None:
    """Put a task's files in its place, all of them or none."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    arrived = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        with tarfile.open(fileobj=io.BytesIO(files)) as archive:
            archive.extractall(arrived, filter="data")
        shutil.rmtree(folder, ignore_errors=True)
        arrived.chmod(0o755)
        arrived.replace(folder)
    finally:
        shutil.rmtree(arrived, ignore_errors=True)
