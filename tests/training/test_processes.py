"""Several processes that train one model, and what travels between processes."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np

from unbraid.data import load
from unbraid.training.batches import TrainingData
from unbraid.training.contract import small_images


def test_a_loaded_data_set_travels_as_the_call_that_loads_it(squares_file: Path) -> None:
    data = load(squares_file)
    sent = pickle.dumps(data)
    assert len(sent) < data.observations.nbytes / 10
    again = pickle.loads(sent)
    np.testing.assert_array_equal(again.observations, data.observations)
    assert again.fingerprint == data.fingerprint


def test_mapped_files_travel_by_name(tmp_path: Path) -> None:
    data = small_images()
    np.save(tmp_path / "y.npy", data.observations)
    source = TrainingData(data, data.factors, np.load(tmp_path / "y.npy", mmap_mode="c"))
    again = pickle.loads(pickle.dumps(source))
    assert isinstance(again.y, np.memmap)
    np.testing.assert_array_equal(again.y, data.observations)
    assert again.spec == source.spec


def test_two_processes_train_a_chain_from_the_command_line(squares_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    fit = [sys.executable, "-m", "unbraid", "fit", str(squares_file), "--method", "beta-tcvae", "ms-vae"]
    options = ["--width", "0.1", "--steps", "4", "--devices", "2", "--device", "cpu", "--out", str(out), "--quiet"]
    result = subprocess.run([*fit, *options], capture_output=True, text=True, timeout=240, check=False)
    assert result.returncode == 0, result.stderr
    assert (out / "report.html").is_file()


def test_a_script_without_a_main_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    lines = ["from unbraid.training.contract import check_processes", "from unbraid.methods import VAE"]
    script.write_text("\n".join([*lines, "check_processes([VAE(width=0.1)])"]))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "put what it does under if __name__ == '__main__':" in done.stderr
