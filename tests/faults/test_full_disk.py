"""A full disk at any moment: one sentence, finished stages kept, nothing half written, and the run goes on later."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

SIZES = 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk in memory that can be made as small as one likes."""
    mount = tmp_path / "disk"
    mount.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(mount)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("a disk of a given size needs the right to mount one")
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=False)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount a small disk")
def test_disks_of_twenty_sizes(small_disk: Path, squares_npz: Path, made: Path) -> None:
    whole = sum(path.stat().st_size for path in made.rglob("*") if path.is_file())
    sizes = [int(size) // 4096 * 4096 for size in np.linspace(8192, whole * 1.15, SIZES)]
    script = Path(__file__).parent / "disk_sizes.py"
    words = [sys.executable, str(script), str(small_disk), str(squares_npz), ",".join(map(str, sizes))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr[-2000:]  # −7 is SIGBUS
    tried = [json.loads(line) for line in done.stdout.splitlines()]
    straight = [
        hashlib.sha256((made / stage / "weights.safetensors").read_bytes()).hexdigest()
        for stage in ("stage-1", "stage-2")
    ]
    assert len(tried) == SIZES
    assert sum(one["said"] is not None for one in tried) > SIZES // 2
    assert {len(one["kept"]) for one in tried} == {0, 1, 2}
    for one in tried:
        assert one["said"] is None or one["said"].startswith("cannot write"), one
        assert one["left"] == [], one
        assert one["again"] == [], one
        assert one["digests"] == straight, one
