"""The whole path of people's own data: look, fit, lose the data, open elsewhere, encode new files, decode, report."""

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import unbraid as ub
from unbraid.cli.main import main

SMALL = ["--width", "0.1", "--latents", "3", "--steps", "4", "--quiet"]


def test_a_folder_of_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draws = np.random.default_rng(0)
    for name in [f"{kind}/{number}.png" for kind in ("cats", "dogs") for number in range(8)]:
        (tmp_path / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(draws.integers(0, 256, (20, 30, 3), dtype=np.uint8)).save(tmp_path / "photos" / name)
    photos, run, new = tmp_path / "photos", tmp_path / "run", tmp_path / "new"
    assert main(["data", "info", str(photos), "--data.resize", "16"]) == 0
    fit = ["fit", str(photos), "--data.resize", "16", "--method", "beta-vae", "ms-vae", *SMALL, "--out", str(run)]
    assert main(fit) == 0
    photos.rename(tmp_path / "gone")
    run = run.rename(tmp_path / "elsewhere")
    new.mkdir()
    for number in range(3):
        Image.fromarray(draws.integers(0, 256, (40, 25), dtype=np.uint8)).convert("RGB").save(new / f"{number}.jpg")
    codes, made = tmp_path / "codes.csv", tmp_path / "made"
    assert main(["encode", str(run), str(new), "--out", str(codes)]) == 0
    rows = list(csv.DictReader(codes.open()))
    assert [row["name"] for row in rows] == ["0.jpg", "1.jpg", "2.jpg"]
    expected = ub.open(run).encode(new)
    assert float(rows[1]["z2"]) == pytest.approx(float(expected.codes[1, 1]))
    assert main(["decode", str(run), str(codes), "--out", str(made)]) == 0
    assert sorted(path.name for path in made.iterdir()) == ["0.png", "1.png", "2.png"]
    with Image.open(made / "1.png") as picture:
        np.testing.assert_allclose(np.asarray(picture, int), ub.open(run).reconstruct(new)[-1][1].astype(int), atol=1)
    assert main(["report", str(run)]) == 0
    assert main(["encode", str(run), str(new), "--out", str(codes)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["evaluate", str(run), "--metrics", "sap"]) == 0  # from the codes that are there
    assert main(["evaluate", str(run), "--metrics", "elbo_terms"]) == 2
    assert "this needs the data" in capsys.readouterr().err


def test_a_table_with_words_in_it(tmp_path: Path) -> None:
    draws = np.random.default_rng(1)
    rows = [f"{900 + 50 * a:.4f},{b / 100:.6f},{('red', 'white')[int(b > 0)]}" for a, b in draws.normal(size=(30, 2))]
    table, run = tmp_path / "wine.csv", tmp_path / "run"
    table.write_text("proline,acid,kind\n" + "\n".join(rows) + "\n")
    assert main(["data", "info", str(table), "--data.factors", "kind"]) == 0
    words = ["fit", str(table), "--data.factors", "kind", "--method", "beta-vae", "--likelihood", "gaussian"]
    assert main([*words, *SMALL, "--out", str(run)]) == 0
    stored = ub.open(run).encode(show=False)
    table.rename(tmp_path / "moved.csv")  # what was seen in training, under another name
    run = run.rename(tmp_path / "elsewhere")
    for suffix in ("csv", "npz"):
        codes, made = tmp_path / f"codes.{suffix}", tmp_path / f"made-{suffix}"
        assert main(["encode", str(run), str(tmp_path / "moved.csv"), "--out", str(codes)]) == 0
        assert main(["decode", str(run), str(codes), "--out", str(made)]) == 0
        back = list(csv.DictReader((made / "observations.csv").open()))
        assert set(back[0]) == {"name", "proline", "acid"}
        assert np.mean([float(row["proline"]) for row in back]) == pytest.approx(900, abs=60)  # in its own units
    with np.load(tmp_path / "codes.npz") as file:
        np.testing.assert_allclose(file["codes"], stored.codes, atol=1e-5)
        np.testing.assert_array_equal(file["factors"], stored.factors)
    assert main(["report", str(run)]) == 0


@pytest.mark.parametrize(("suffix", "package"), [("parquet", "pyarrow"), ("h5ad", "anndata")])
def test_codes_are_written_for_other_tools(tmp_path: Path, suffix: str, package: str) -> None:
    pytest.importorskip(package)
    values = np.random.default_rng(2).normal(size=(20, 3)).astype(np.float32)
    np.save(tmp_path / "values.npy", values)
    words = ["fit", str(tmp_path / "values.npy"), "--method", "beta-vae", "--likelihood", "gaussian"]
    assert main([*words, *SMALL, "--out", str(tmp_path / "run")]) == 0
    codes = tmp_path / f"codes.{suffix}"
    assert main(["encode", str(tmp_path / "run"), str(tmp_path / "values.npy"), "--out", str(codes)]) == 0
    expected = ub.open(tmp_path / "run").encode(values).codes
    if suffix == "parquet":
        import pyarrow.parquet

        assert pyarrow.parquet.read_table(codes).column("z2").to_pylist() == expected[:, 1].tolist()
    else:
        import anndata

        np.testing.assert_array_equal(anndata.read_h5ad(codes).X, expected)
