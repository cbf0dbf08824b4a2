"""Codes of other models, from the files that people have them in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unbraid.cli.main import main
from unbraid.errors import InputError
from unbraid.evaluation.code_tables import ForeignCodes, read_codes
from unbraid.evaluation.evaluate import evaluate_table


def written(path: Path, head: str) -> Path:
    draws = np.random.default_rng(0)
    shape = draws.integers(3, size=200)
    lines = [f"obs{i},{shape[i] + 0.1 * draws.normal():.3f},{draws.normal():.3f},{'abc'[shape[i]]}" for i in range(200)]
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return path


def test_columns_called_like_codes_are_codes_and_the_rest_are_factors(tmp_path: Path) -> None:
    found = read_codes(written(tmp_path / "a.csv", "name,z1,z2,shape"))
    assert isinstance(found, ForeignCodes)
    assert found.columns == ("z1", "z2")
    assert found.names == ("shape",)
    assert found.kinds == ("categorical",)
    assert found.factors.shape == (200, 1)


def test_named_factors_leave_the_others_to_be_codes(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "name,height,noise,shape")
    scores = evaluate_table(path, ["mig", "mcc"], factors=["shape"], show=False)
    assert scores["mig"]["value"] > 0.7
    assert scores["mig"]["details"]["latent"] == {"shape": "height"}
    with pytest.raises(InputError, match="no column is left for codes"):
        read_codes(path)
    with pytest.raises(InputError, match="shap"):
        read_codes(path, ["shap"])


def test_parquet_and_anndata_give_the_same_scores_as_csv(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    path = written(tmp_path / "a.csv", "name,z1,z2,shape")
    expected = evaluate_table(path, ["mig", "sap"], show=False)
    columns = pandas.read_csv(path)
    parquet.write_table(pyarrow.Table.from_pandas(columns), tmp_path / "a.parquet")
    assert evaluate_table(tmp_path / "a.parquet", ["mig", "sap"], show=False) == expected
    codes = columns[["z1", "z2"]].to_numpy()
    made = anndata.AnnData(np.zeros((200, 4)), obs=columns[["name", "shape"]].set_index("name"), obsm={"X_vae": codes})
    made.write_h5ad(tmp_path / "a.h5ad")
    scores = evaluate_table(tmp_path / "a.h5ad", ["mig", "sap"], show=False)
    assert scores["mig"]["value"] == expected["mig"]["value"]
    assert scores["mig"]["details"]["latent"] == {"shape": "X_vae 1"}
    with pytest.raises(InputError, match="X_va"):
        read_codes(tmp_path / "a.h5ad", key="X_va")


def test_the_command_line_reads_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "a.csv", "name,height,noise,shape")
    words = ["evaluate", "--codes", str(path), "--factors", "shape", "--metrics", "mig", "--quiet"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "chance" in shown
    assert "mig" in shown
    (tmp_path / "a.txt").write_text("no codes", encoding="utf-8")
    assert main(["evaluate", "--codes", str(tmp_path / "a.txt")]) == 2
    assert "give .npz, .csv, .parquet or .h5ad" in capsys.readouterr().err
