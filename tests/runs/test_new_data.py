"""What a run makes of whatever people pass, and that it needs none of its training data for that."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import unbraid as ub
from unbraid.api import Run
from unbraid.data.factor_data import FactorData
from unbraid.data.own.arrays import from_arrays
from unbraid.methods import MSVAE, BetaVAE
from unbraid.runs.new_data import read_new
from unbraid.util.files import read_json, write_json

TINY = BetaVAE(width=0.1, latents=3)
TABLE = BetaVAE(width=0.1, latents=2, likelihood="gaussian")


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Colour images of 24×16, which a run brings to 16×16."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(12):
        pixels = np.random.default_rng(number).integers(0, 256, (16, 24, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:02}.png")
    return folder


@pytest.fixture
def photo_run(photos: Path, tmp_path: Path) -> Run:
    ub.fit(ub.data.load(photos, resize=16), TINY, steps=2, out=tmp_path / "run", show=False)
    return Run.open(tmp_path / "run")


@pytest.fixture
def measurements(tmp_path: Path) -> Path:
    """Columns in very different units, with a label in words."""
    draws = np.random.default_rng(0)
    rows = [f"{5000 + 100 * a:.3f},{b:.5f},{('red', 'blue')[int(a > 0)]}" for a, b in draws.normal(size=(40, 2))]
    path = tmp_path / "measured.csv"
    path.write_text("height,acid,kind\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def table_run(measurements: Path, tmp_path: Path) -> Run:
    ub.fit(ub.data.load(measurements, factors=["kind"]), TABLE, steps=2, out=tmp_path / "run", show=False)
    return Run.open(tmp_path / "run")


def test_raw_rows_get_the_codes_that_the_same_rows_had_in_the_data(table_run: Run, measurements: Path) -> None:
    expected = table_run.encode(show=False).codes
    raw = np.genfromtxt(measurements, delimiter=",", skip_header=1, usecols=(0, 1))
    measurements.unlink()
    np.testing.assert_allclose(table_run.encode(raw).codes, expected, atol=1e-5)
    np.testing.assert_allclose(table_run.encode(raw[3]).codes, expected[3:4], atol=1e-5)


def test_reconstructions_and_decoded_vectors_are_in_their_own_units(table_run: Run) -> None:
    raw = np.array([[5000.0, 0.0], [5100.0, 1.0]])
    how = table_run.preprocessing
    assert how.columns == ("height", "acid")
    stored = table_run.reconstruct(FactorData("same", how.standardized(raw.astype(np.float32)), np.zeros((2, 0))))[0]
    np.testing.assert_array_equal(table_run.reconstruct(raw)[0], stored)
    method: Any = table_run.stage(1)
    codes = np.array([[0.5, -1.0]], dtype=np.float32)
    by_hand = method.decode({"z": torch.from_numpy(codes)}).numpy() * np.array(how.scale) + np.array(how.mean)
    np.testing.assert_allclose(table_run.decode(codes)[0], by_hand, rtol=1e-5)
    assert 4000 < table_run.decode(codes)[0][0, 0] < 6000


def test_a_table_is_read_by_column_names_with_its_labels(table_run: Run, measurements: Path, tmp_path: Path) -> None:
    measurements.unlink()
    new = tmp_path / "new.csv"
    new.write_text("kind,id,acid,height\nred,7,0.5,5100\nviolet,8,0.1,4900\n")
    found = table_run.encode(new)
    np.testing.assert_array_equal(found.codes, table_run.encode(np.array([[5100, 0.5], [4900, 0.1]])).codes)
    np.testing.assert_array_equal(found.factors, [[1.0], [np.nan]])  # blue is 0, red is 1, violet was never seen
    mapping = {"acid": [0.5, 0.1], "height": [5100, 4900]}
    np.testing.assert_array_equal(table_run.encode(mapping).codes, found.codes)
    new.write_text("acid\n0.5\n")
    with pytest.raises(ub.InputError, match="no column 'height'"):
        table_run.encode(new)


def test_a_dataframe_is_read_by_its_columns(table_run: Run) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"acid": [0.5, 0.1], "height": [5100, 4900]}, index=["a", "b"])
    found = table_run.encode(frame)
    np.testing.assert_array_equal(found.codes, table_run.encode(np.array([[5100, 0.5], [4900, 0.1]])).codes)
    shown = found.to_pandas()
    assert list(shown.index) == ["a", "b"]
    assert list(shown.columns) == ["z1", "z2"]
    np.testing.assert_array_equal(shown.to_numpy(), found.codes)


def test_older_runs_read_their_standardisation_from_their_configuration(table_run: Run) -> None:
    how = table_run.preprocessing
    (table_run.folder / "preprocessing.json").unlink()
    again = Run.open(table_run.folder).preprocessing
    assert (again.mean, again.scale) == (how.mean, how.scale)
    raw = np.array([5100.0, 0.5])
    np.testing.assert_array_equal(Run.open(table_run.folder).encode(raw).codes, table_run.encode(raw).codes)


def test_files_folders_pictures_and_arrays_of_one_image_have_the_same_codes(photo_run: Run, photos: Path) -> None:
    file = photos / "03.png"
    image = ub.data.load(photos, resize=16).observations[3]
    expected = photo_run.encode(image).codes
    assert expected.shape == (1, 3)
    with Image.open(file) as picture:
        kinds = [file, str(file), [file], picture, [picture], image[None], image / 255, image.transpose(2, 0, 1)]
        kinds += [torch.from_numpy(image / 255).permute(2, 0, 1).float()[None]]
        for given in kinds:
            np.testing.assert_array_equal(photo_run.encode(given).codes, expected)
    folder = photo_run.encode(photos)
    np.testing.assert_allclose(folder.codes[3:4], expected, atol=1e-5)
    assert folder.names[3] == "03.png"


def test_an_image_of_another_size_or_colour_is_refused_with_a_remedy(tmp_path: Path, squares: FactorData) -> None:
    run = ub.fit(squares, TINY, steps=2, out=tmp_path / "run", show=False)
    with pytest.raises(ub.InputError, match="20×10 pixels and the run was trained on 16×16"):
        run.encode(Image.new("RGB", (20, 10)))
    with pytest.raises(ub.InputError, match="is grey and the run was trained on colour"):
        run.encode(Image.new("L", (16, 16)))
    with pytest.raises(ub.InputError, match="no file or folder"):
        run.encode(tmp_path / "nowhere.png")


def test_bytes_of_zeros_and_ones_are_read_as_they_were_in_training(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 2, (8, 16, 16), dtype=np.uint8)
    run = ub.fit(from_arrays(images), TINY, steps=2, out=tmp_path / "run", show=False)
    again = Run.open(run.folder)
    np.testing.assert_array_equal(read_new(again, images).observations[..., 0], images * 255)
    np.testing.assert_array_equal(read_new(again, images * 255).observations[..., 0], images * 255)
    dark = ub.fit(from_arrays(images * 200), TINY, steps=2, out=tmp_path / "dark", show=False)
    np.testing.assert_array_equal(read_new(dark, images).observations[..., 0], images)  # bytes: nearly black


def test_everything_but_new_scores_works_without_the_data(photo_run: Run, photos: Path, tmp_path: Path) -> None:
    photo_run.encode(show=False)
    photo_run.report()
    image = ub.data.load(photos, resize=16).observations[:2]
    moved = photo_run.folder.rename(tmp_path / "elsewhere")
    photos.rename(tmp_path / "gone")
    run = Run.open(moved)
    codes = run.encode(show=False).codes
    assert codes.shape == (12, 3)
    assert run.reconstruct(image)[0].shape == image.shape
    assert run.traverse(image, steps=3)[0].shape == (3, 3, 16, 16, 3)
    assert run.report().is_file()
    np.testing.assert_array_equal(run.decode(run.encode(image))[0], run.reconstruct(image)[0])
    with pytest.raises(ub.InputError, match=r"this needs the data that .*photos' is not there"):
        run.evaluate(["l2"], show=False)
    with pytest.raises(ub.InputError, match="this needs the data"):
        run.encode(rows=5, show=False)  # other rows than those that are stored


def test_codes_are_decoded_as_one_array_a_list_a_table_or_columns(tmp_path: Path, squares: FactorData) -> None:
    second = MSVAE(width=0.1, latents=2, z_prior="normal")
    run = ub.fit(squares, [TINY, second], steps=2, out=tmp_path / "run", show=False)
    table = run.encode(squares.observations[:3])
    first, final = run.decode(table)
    expected = run.reconstruct(squares.observations[:3])
    np.testing.assert_array_equal(first, expected[0])
    np.testing.assert_array_equal(final, expected[1])
    both = run.decode([table.codes, table.arrays["stage-2/codes"]])
    np.testing.assert_array_equal(both[1], final)
    write_json(run.folder / "names.json", {"z2": "hue", "stage-2/z1": "texture"})
    named = run.encode(squares.observations[:3]).code_columns(all_stages=True)
    assert list(named) == ["z1", "hue", "z3", "stage-2/texture", "stage-2/z2"]
    np.testing.assert_array_equal(run.decode(named)[1], final)
    alone = run.decode(table.codes)
    np.testing.assert_array_equal(alone[0], first)
    np.testing.assert_array_equal(alone[1], run.decode([table.codes, np.zeros((3, 2))])[1])
    with pytest.raises(ub.InputError, match=r"codes of stage 1 must be \[n, 3\]"):
        run.decode(np.zeros((2, 4)))


def test_the_record_does_not_change_keys(photo_run: Run) -> None:
    assert "preprocessing" not in read_json(photo_run.folder / "config.json")["data"]
    assert read_json(photo_run.folder / "preprocessing.json")["resize"] == [16, 16]
    assert photo_run.is_finished(1)


def test_a_run_shows_itself_in_text_and_in_notebooks(photo_run: Run) -> None:
    assert "on photos" in repr(photo_run)
    photo_run.evaluate("l2", show=False)
    photo_run.report()
    photo_run.verdict()
    value = read_json(photo_run.folder / "metrics.json")["l2"]["value"]
    assert f"l2 {value:.3f}"[:7] in repr(photo_run)
    html = photo_run._repr_html_()
    assert html.count('<img src="data:image/') == 2  # originals and reconstructions
    assert "These scores are of training data" in html
    assert '<td style="text-align: left">l2</td>' in html


def test_the_package_lists_what_it_has() -> None:
    assert {"fit", "open", "Run", "Disentangler", "data", "methods", "metrics"} <= set(dir(ub))
    assert all(hasattr(ub, name) for name in dir(ub))


def test_anndata_holds_codes_names_and_factors(table_run: Run, measurements: Path) -> None:
    pytest.importorskip("anndata")
    write_json(table_run.folder / "names.json", {"z1": "size"})
    made = table_run.encode(measurements).to_anndata()
    assert list(made.var_names) == ["size", "z2"]
    np.testing.assert_array_equal(made.X, table_run.encode(measurements).codes)
    assert list(made.obs.columns) == ["kind"]
