"""The type that every data set has."""

import pickle
import subprocess
import sys
from pathlib import Path

from unbraid.data import load


def test_a_pickled_data_set_loads_itself_in_a_process_that_imported_nothing(tmp_path: Path) -> None:
    data = load("pendulum", n=3, seed=5)
    place = tmp_path / "data.pickle"
    place.write_bytes(pickle.dumps(data))
    assert place.stat().st_size < 500  # the call that loads it, not its arrays
    program = f"import pickle; d = pickle.loads(open({str(place)!r}, 'rb').read()); print(d.fingerprint, len(d))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == [data.fingerprint, "3"]
