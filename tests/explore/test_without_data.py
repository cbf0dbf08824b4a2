"""A run that leaves its data behind still becomes a page, graphs and a card."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from unbraid import methods
from unbraid.api import Run, fit
from unbraid.cli.main import main
from unbraid.data import load
from unbraid.errors import DataMissing
from unbraid.explore.material import NO_PICTURES
from unbraid.explore.sharing import SHARED
from unbraid.runs import kept_observations
from unbraid.training.contract import small_images


@pytest.fixture
def lost(tmp_path: Path) -> Run:
    """A run that was never encoded, and whose data are gone."""
    np.save(tmp_path / "squares.npy", small_images().observations)
    config = methods.BetaTCVAE(width=0.1, latents=4)
    made = fit(load(str(tmp_path / "squares.npy")), config, steps=3, out=tmp_path / "run", show=False)
    (tmp_path / "squares.npy").unlink()
    return Run.open(made.folder)


def model_of(page: Path) -> dict[str, Any]:
    text = re.search(r'id="model-data">(.*?)</script>', page.read_text()).group(1)
    return json.loads(zlib.decompress(base64.b85decode(text.replace(",", "<"))))


def test_a_run_stands_on_its_own(lost: Run, tmp_path: Path) -> None:
    with pytest.raises(DataMissing):
        lost.data  # noqa: B018
    folder = str(lost.folder)
    assert main(["export", folder, "--onnx", str(tmp_path / "onnx"), "--card", str(tmp_path / "card")]) == 0
    checked = json.loads((tmp_path / "onnx" / "model.json").read_text())["checked"]
    assert checked == {"observations": len(small_images()), "tolerance": 1e-4}
    shown = model_of(tmp_path / "card" / "explorer.html")["observations"]
    assert shown["count"] == len(small_images())
    assert shown["sprites"]["type"] == "image/png"
    assert (tmp_path / "card" / "observations.npz").is_file()
    assert (tmp_path / "card" / "preprocessing.json").is_file()
    assert main(["report", folder, "--gif", str(tmp_path / "moving.gif"), "--latents", "z3,z1", "--row", "2"]) == 0
    with Image.open(tmp_path / "moving.gif") as gif:
        assert (gif.format, gif.n_frames) == ("GIF", 32)


def test_a_run_that_kept_no_observations_has_a_page_without_pictures(tmp_path: Path) -> None:
    np.save(tmp_path / "squares.npy", small_images().observations)
    config = methods.BetaTCVAE(width=0.1, latents=4)
    run = fit(load(str(tmp_path / "squares.npy")), config, steps=3, out=tmp_path / "run", show=False)
    run.encode(show=False)
    (tmp_path / "squares.npy").unlink()
    (run.folder / kept_observations.FILE).unlink()
    assert main(["export", str(run.folder), "--html", str(tmp_path / "page.html")]) == 0
    shown = model_of(tmp_path / "page.html")["observations"]
    assert shown["absent"] == NO_PICTURES
    assert "sprites" not in shown
    assert len(shown["map"]) == shown["count"] > 0


def test_kept_observations_are_rows_of_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_observations, "BYTES", 30 * 16 * 16 * 3)
    data = small_images()
    run = fit(data, methods.VAE(width=0.1), steps=1, out=tmp_path / "run", show=False)
    kept = kept_observations.read_observations(run)
    assert len(kept.rows) == 30  # as many as fit
    np.testing.assert_array_equal(kept.x, data.observations[kept.rows])
    np.testing.assert_array_equal(kept.factors, data.factors[kept.rows])
    path = run.folder / kept_observations.FILE
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + b"?" + content[len(content) // 2 + 1 :])
    assert kept_observations.read_observations(run) is None  # damaged
    assert kept_observations.some_observations(run) is not None  # the data are there


def test_what_a_page_needs_is_shared() -> None:
    for name in ("observations.npz", "codes-without-labels.npz", "preprocessing.json", "stage-2/stage.json"):
        assert SHARED.fullmatch(name)
    assert not SHARED.fullmatch("../observations.npz")
