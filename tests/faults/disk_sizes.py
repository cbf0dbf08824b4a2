"""Fit, score and report a small run on disks of many sizes: `python disk_sizes.py MOUNT DATA SIZES`, as root.

A line of JSON for each size: the sentence that was said (none if all fitted), which stages were finished then, files
that were left over, and the digests of the weights after the same command on a disk that is large enough.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

from small_run import fit_small

from unbraid.errors import InputError

ENOUGH = 64 << 20


def resize(mount: Path, size: int) -> None:
    """Give the disk so many bytes."""
    subprocess.run(["mount", "-o", f"remount,size={size}", str(mount)], check=True, capture_output=True)


def everything(folder: Path, data: Path) -> None:
    """What `unbraid fit` does."""
    run = fit_small(folder, data=data)
    run.evaluate(show=False)
    run.report()


def tried(mount: Path, data: Path, size: int) -> dict[str, object]:
    """One size of the disk: what was said, what was kept, and whether the run then goes on."""
    folder, said = mount / "run", None
    resize(mount, size)
    try:
        everything(folder, data)
    except InputError as error:
        said = str(error)
    kept = {path.parent.name: path.stat().st_mtime_ns for path in folder.glob("stage-*/stage.json")}
    left = [path.name for path in folder.rglob("*") if path.name.endswith(".partial") or path.name == ".lock"]
    resize(mount, ENOUGH)
    everything(folder, data)
    weights = [folder / name / "weights.safetensors" for name in ("stage-1", "stage-2")]
    again = [name for name, time in kept.items() if (folder / name / "weights.safetensors").stat().st_mtime_ns > time]
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in weights]
    shutil.rmtree(folder)
    return {"size": size, "said": said, "kept": sorted(kept), "again": again, "left": left, "digests": digests}


if __name__ == "__main__":
    for bytes_ in map(int, sys.argv[3].split(",")):
        print(json.dumps(tried(Path(sys.argv[1]), Path(sys.argv[2]), bytes_)), flush=True)
