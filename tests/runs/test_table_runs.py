"""A table with words, counts and awkward columns, from the file to new rows and back."""

from pathlib import Path

import numpy as np
import pytest

import unbraid as ub
from unbraid.api import Run
from unbraid.cli.main import main
from unbraid.data.own.tables import read_table


@pytest.fixture
def table(tmp_path: Path) -> Path:
    draws = np.random.default_rng(0)
    rows = [
        f"{k};{5000 + 100 * a:.2f};{('red', 'blue', 'green')[k % 3]};{int(50 * b * b)};x".replace(".", ",")
        for k, (a, b) in enumerate(draws.normal(size=(40, 2)))
    ]
    path = tmp_path / "plants.csv"
    path.write_text("id;height;colour;seeds;site\n" + "\n".join(rows) + "\n")
    return path


def test_new_rows_go_through_the_same_and_come_back_as_they_were(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--method", "beta-vae", "--width", "0.1", "--latents", "2", "--likelihood", "gaussian", "--steps", "2"]
    assert main(["fit", str(table), *small, "--log1p", "seeds", "--out", str(tmp_path / "run"), "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "· left out: id (id), site (constant)" in said
    assert "· a value for each category of colour (3)" in said
    rows = read_table(table)
    codes = ub.open(tmp_path / "run").encode(show=False).codes
    table.unlink()
    run = Run.open(tmp_path / "run")
    new = {"seeds": [rows["seeds"][4]], "colour": ["blue"], "height": [rows["height"][4]]}
    np.testing.assert_allclose(run.encode(new).codes, codes[4:5], atol=1e-5)
    (tmp_path / "new.csv").write_text(
        f"height;colour;seeds\n{rows['height'][4].replace('.', ',')};blue;{rows['seeds'][4]}\n"
    )
    np.testing.assert_allclose(run.encode(tmp_path / "new.csv").codes, codes[4:5], atol=1e-5)
    with pytest.raises(ub.InputError, match="column 'colour' has 'mauve' in row 1"):
        run.encode(new | {"colour": ["mauve"]})
    with pytest.raises(ub.InputError, match="column 'height' has no value in row 1, 1 row has gaps; fill or remove"):
        run.encode(new | {"height": [""]})
    # What comes back is in the table's own units: raw = expm1 of the standardised logarithm undone.
    how = run.preprocessing
    stored = run.reconstruct(new)[0]
    assert 4000 < stored[0, 0] < 6000
    np.testing.assert_allclose(how.raw(how.standardized(stored)), stored, rtol=1e-3)
    assert main(["encode", str(tmp_path / "run"), str(tmp_path / "new.csv"), "--out", str(tmp_path / "z.csv")]) == 0
    assert main(["decode", str(tmp_path / "run"), str(tmp_path / "z.csv"), "--out", str(tmp_path / "made")]) == 0
    made = read_table(tmp_path / "made" / "observations.csv")
    assert list(made) == ["name", "height", "colour", "seeds"]
    assert made["colour"][0] in ("red", "blue", "green")
    np.testing.assert_allclose(float(made["height"][0]), stored[0, 0], rtol=1e-4)
