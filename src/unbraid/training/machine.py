"""Where to compute (device, processes, precision), and what a run was made with."""

from __future__ import annotations

import multiprocessing
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from lightning_fabric import Fabric
from torch import distributed
from torch.multiprocessing.spawn import ProcessExitedException

from unbraid._version import __version__
from unbraid.errors import InputError, unknown
from unbraid.util.schema import to_json

READS_AGAIN = 87  # exit code of a process that would start others while it is being started itself
ACCELERATORS = ("auto", "cpu", "gpu", "cuda", "mps")
PRECISIONS = (
    *("32-true", "16-mixed", "bf16-mixed", "16-true", "bf16-true", "64-true", "32", "16", "bf16", "64"),
    *("transformer-engine", "transformer-engine-float16"),
    "auto",  # measured at the first steps
)


@dataclass(frozen=True)
class Machine:
    """Where to train: device, how many of them, numerical precision, how often state is saved and when it is kept."""

    accelerator: str = "auto"
    devices: int = 1
    precision: str = "32-true"
    checkpoint_seconds: float = 60.0
    keep: tuple[int, ...] = ()  # steps after which a copy of the weights is kept, for curves over training
    pause: int | None = None  # a step after which a stage stops as if asked to, to go on when it is called again

    def __post_init__(self) -> None:
        """Validate settings against PyTorch and this machine."""
        if self.accelerator not in ACCELERATORS:
            raise unknown("device", self.accelerator, ACCELERATORS)
        if not is_there(self.accelerator):
            raise InputError(f"this machine has no device {self.accelerator!r}: take --device auto or cpu.")
        if str(self.precision) not in PRECISIONS:
            raise unknown("precision", str(self.precision), PRECISIONS)
        if self.devices < 1:
            raise InputError(f"--devices must be at least 1, not {self.devices}.")
        if not self.checkpoint_seconds > 0:
            raise InputError(f"--save-every must be greater than 0 seconds, not {self.checkpoint_seconds:g}.")


def is_there(accelerator: str) -> bool:
    """Whether this machine has such a device."""
    cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    return {"cuda": cuda, "mps": mps, "gpu": cuda or mps}.get(accelerator, True)


def environment(machine: Machine) -> dict[str, Any]:
    """Versions of the software, the system and the settings that a run was made with."""
    return {
        "unbraid": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "threads": torch.get_num_threads(),
        "machine": to_json(machine),
    }


def launch(fabric: Fabric, function: Callable[[Fabric], None]) -> None:
    """Run a function in every process of the group. Each process runs the calling script once more first."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(READS_AGAIN)  # the script has come here while it is read again
    try:
        fabric.launch(partial(_leave_together, function=function))
    except ProcessExitedException as error:
        if error.exit_code != READS_AGAIN:
            raise
        raise InputError(
            "several processes train together, and each reads the calling script again: put what it does under "
            "if __name__ == '__main__':"
        ) from None


def _leave_together(fabric: Fabric, function: Callable[[Fabric], None]) -> None:
    """Run a function, then take its processes apart: one that ends before may be aborted by threads of the group."""
    function(fabric)
    if distributed.is_available() and distributed.is_initialized():
        fabric.barrier()
        distributed.destroy_process_group()
