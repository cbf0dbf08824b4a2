"""Kill -9 at some of the points where a run changes its folder; `make faults` tries all of them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

POINTS = 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, which this system cannot do")
def test_a_kill_before_any_change_loses_nothing(tmp_path: Path, squares_npz: Path) -> None:
    script, every = Path(__file__).parent / "kill_everywhere.py", os.environ.get("UNBRAID_KILL_EVERY", "29")
    words = [sys.executable, str(script), str(squares_npz), str(tmp_path), every]
    limit = 240 if every != "1" else 3600
    done = subprocess.run(words, capture_output=True, text=True, timeout=limit, check=False)
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome["lost"] == [], done.stderr[-2000:]
    assert outcome["points"] > 120
    assert outcome["tried"] >= min(POINTS, outcome["points"] // int(every))
