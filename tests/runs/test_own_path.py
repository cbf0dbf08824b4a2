"""From people's own files to their pipeline: info, fit, lose the data, open elsewhere, encode, decode, export."""

import base64
import csv
import json
import re
import shutil
import zlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import unbraid as ub
from unbraid.cli.main import main
from unbraid.data.preprocessing import Preprocessing

ROWS, NEW = 60, 3
KNOWS_SIGNALS = "signal" in {field.name for field in fields(Preprocessing)}


def images(place: Path, rows: int, seed: int) -> Path:
    """A folder of colour photos, one folder for each of two kinds."""
    draws = np.random.default_rng(seed)
    for number in range(rows):
        file = place / ("cats", "dogs")[number % 2] / f"{number}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(draws.integers(0, 256, (20, 24, 3), dtype=np.uint8)).save(file)
    return place


def table(place: Path, rows: int, seed: int) -> Path:
    """A CSV with measurements in their own units and a column of words."""
    a, b = np.random.default_rng(seed).normal(size=(2, rows))
    lines = [f"{900 + 50 * u:.4f},{v / 100:.6f},{('red', 'white')[int(v > 0)]}" for u, v in zip(a, b, strict=True)]
    path = place.with_suffix(".csv")
    path.write_text("proline,acid,kind\n" + "\n".join(lines) + "\n")
    return path


def counts(place: Path, rows: int, seed: int) -> Path:
    """A CSV of counts, as of words or of transcripts."""
    draws = np.random.default_rng(seed)
    values = draws.poisson(np.exp(3 + draws.normal(size=(rows, 1)) * [1.0, -1.0, 0.5, 0.0]))
    path = place.with_suffix(".csv")
    path.write_text("a,b,c,d\n" + "\n".join(",".join(map(str, row)) for row in values) + "\n")
    return path


def signals(place: Path, rows: int, seed: int) -> Path:
    """Three channels over time, each on a scale of its own, as an array."""
    time, phase = np.linspace(0, 1, 32), np.random.default_rng(seed).uniform(0, 6, (rows, 1))
    path = place.with_suffix(".npy")
    parts = [np.sin(9 * time + phase), 100 + 20 * np.cos(9 * time + phase), 1e-3 * (time + phase)]
    np.save(path, np.stack(parts, axis=1))
    return path


@dataclass(frozen=True)
class Kind:
    """One kind of data: how it is written, what is said of it, and how raw values are read back from it."""

    write: Callable[[Path, int, int], Path]
    words: tuple[str, ...] = ()
    methods: tuple[str, ...] = ("beta-vae",)
    columns: tuple[str, ...] = ()


KINDS = {
    "images": Kind(images, ("--data.resize", "16"), ("beta-vae", "ms-vae")),
    "table": Kind(table, ("--data.factors", "kind"), columns=("proline", "acid")),
    "counts": Kind(counts, columns=("a", "b", "c", "d")),
    "signals": Kind(signals),
}
LATER = {"signals": pytest.mark.skipif(not KNOWS_SIGNALS, reason="signals of several channels cannot be read yet")}


def made_values(folder: Path, kind: Kind) -> NDArray[np.float64]:
    """What `unbraid decode` wrote: values by column, or pictures."""
    if kind.write is images:
        files = sorted(folder.rglob("*.png"))
        return np.stack([np.asarray(Image.open(file), dtype=np.float64) for file in files])
    if (folder / "observations.npy").exists():  # signals keep their channels
        return np.asarray(np.load(folder / "observations.npy"), dtype=np.float64)
    rows = list(csv.DictReader((folder / "observations.csv").open()))
    return np.array([[float(row[name]) for name in row if name != "name"] for row in rows])


@pytest.mark.parametrize("name", [pytest.param(name, marks=LATER.get(name, ())) for name in KINDS])
def test_the_whole_path(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kind = KINDS[name]
    data, run = kind.write(tmp_path / "data", ROWS, 0), tmp_path / "run"
    assert main(["data", "info", str(data), *kind.words]) == 0
    assert f"{ROWS}" in capsys.readouterr().out
    likelihood = () if kind.write is images else ("--likelihood", "gaussian")
    small = ("--width", "0.1", "--latents", "3", "--steps", "4", "--quiet")
    assert main(["fit", str(data), *kind.words, "--method", *kind.methods, *likelihood, *small, "--out", str(run)]) == 0
    said = capsys.readouterr().out
    assert "held-out observations" in said, "a tenth was held out"
    trained = ub.open(run).encode(show=False)
    assert trained.held_out is not None
    assert trained.held_out.sum() == ROWS // 10

    # The data go, and the run goes elsewhere.
    gone, elsewhere = data.rename(tmp_path / f"gone{data.suffix}"), tmp_path / "far" / "away"
    shutil.copytree(run, elsewhere)
    shutil.rmtree(run)
    new = kind.write(tmp_path / "new", NEW, 1)
    codes, made = tmp_path / "codes.csv", tmp_path / "made"
    assert main(["encode", str(elsewhere), str(new), "--out", str(codes)]) == 0
    opened = ub.open(elsewhere)
    expected = opened.encode(new)
    rows = list(csv.DictReader(codes.open()))
    assert len(rows) == NEW
    np.testing.assert_allclose([float(row["z2"]) for row in rows], expected.codes[:, 1], rtol=1e-5, atol=1e-7)
    # What was learned from is encoded as it was then: nothing of the preprocessing has been lost.
    np.testing.assert_allclose(opened.encode(gone).codes, trained.codes, atol=1e-5)

    assert main(["decode", str(elsewhere), str(codes), "--out", str(made)]) == 0
    values = made_values(made, kind)
    assert len(values) == NEW
    assert np.isfinite(values).all()
    for column, word in enumerate(kind.columns):
        raw = np.array([float(row[word]) for row in csv.DictReader(gone.open())])
        assert abs(values[:, column].mean() - raw.mean()) < 3 * raw.std() + 1e-6, "in its own units"

    assert main(["report", str(elsewhere)]) == 0
    page = (elsewhere / "report.html").read_text()
    assert "held out" in page
    assert main(["export", str(elsewhere), "--onnx", str(tmp_path / "onnx")]) == 0
    model = json.loads((tmp_path / "onnx" / "model.json").read_text())
    assert [stage["method"] for stage in model["stages"]] == list(kind.methods)
    assert all((tmp_path / "onnx" / str(stage["decoder"])).is_file() for stage in model["stages"])
    if name == "table":  # once: tests of the page look at the others
        assert main(["export", str(elsewhere), "--html", str(tmp_path / "page.html")]) == 0
        packed = re.search(r'id="model-data">(.*?)</script>', (tmp_path / "page.html").read_text())
        assert packed is not None
        assert b"proline" in zlib.decompress(base64.b85decode(packed[1].replace(",", "<")))
