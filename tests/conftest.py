"""Small data that many tests share."""

from pathlib import Path

import numpy as np
import pytest

from unbraid.data.factor_data import FactorData
from unbraid.training.contract import small_images

collect_ignore_glob = ["*conftest.py"]  # examples in docstrings are looked for in modules, and these share a name


@pytest.fixture
def squares() -> FactorData:
    """48 images of 16×16 with two factors."""
    return small_images()


@pytest.fixture
def squares_file(tmp_path: Path) -> Path:
    """The same images as a file, for commands."""
    path = tmp_path / "squares.npy"
    np.save(path, small_images().observations)
    return path
