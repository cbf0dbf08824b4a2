"""A small finished run of two stages, made once; tests break copies of it."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from small_run import fit_small

from unbraid.training.contract import small_images


@pytest.fixture(scope="session")
def squares_npz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data as a file, so that commands can load them."""
    images, path = small_images(), tmp_path_factory.mktemp("data") / "squares.npz"
    names = np.array([factor.name for factor in images.factor_info])
    np.savez(path, observations=images.observations, factors=images.factors, factor_names=names)
    return path


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, squares_npz: Path) -> Path:
    """The finished run: weights, codes, scores, pictures, report. Nobody writes into it."""
    run = fit_small(tmp_path_factory.mktemp("made") / "run", data=squares_npz)
    run.evaluate(show=False)
    run.report()
    return run.folder


@pytest.fixture
def finished(made: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    return Path(shutil.copytree(made, tmp_path / "run"))
