"""Counts from a file to rates: told from measurements, learned by their own likelihood, used without the file."""

from pathlib import Path

import numpy as np
import pytest

import unbraid as ub
from unbraid.cli.main import main
from unbraid.data import load
from unbraid.data.counts import looks_like_counts
from unbraid.data.own.arrays import from_arrays
from unbraid.errors import InputError
from unbraid.methods import MSVAE, VAE, BetaTCVAE, InfoGAN
from unbraid.methods.traits import Traits
from unbraid.runs.count_scales import comparable
from unbraid.util.files import read_json

DRAWS = np.random.default_rng(0)
CAUSE = np.linspace(-1, 1, 120)[:, None]
COUNTS = DRAWS.poisson(np.exp(2 + CAUSE * np.array([1.5, -1.5, 1.0, 2.0])))


def written(path: Path, values: np.ndarray = COUNTS) -> Path:
    np.savetxt(path, values, delimiter=",", header="a,b,c,d", comments="", fmt="%g")
    return path


def test_tables_of_counts_are_kept_as_they_are(tmp_path: Path) -> None:
    data = load(written(tmp_path / "counts.csv"))
    np.testing.assert_array_equal(data.observations, COUNTS)
    assert data.arguments is not None
    assert data.arguments["kind"] == "counts"
    assert data.counts is not None
    assert data.counts.rates == pytest.approx(COUNTS.mean(0))
    assert data.counts.library == np.median(COUNTS.sum(1))
    again = load(data.name, **data.arguments)
    assert again.fingerprint == data.fingerprint
    assert again.counts == data.counts


def test_values_can_be_forced_and_other_tables_stay_standardised(tmp_path: Path) -> None:
    path = written(tmp_path / "counts.csv")
    values = load(path, kind="values")
    assert values.counts is None
    assert values.observations.std(0) == pytest.approx([1] * 4, rel=1e-4)
    assert load(path, standardize={"mean": [0] * 4, "scale": [2] * 4}).counts is None  # as older runs recorded it
    for other in (COUNTS + 0.5, COUNTS - 3, COUNTS + 1000, COUNTS % 10):
        assert not looks_like_counts(other)
    with pytest.raises(InputError, match=r"counts must be whole numbers from 0 on; pass kind='values'"):
        load(written(tmp_path / "halves.csv", COUNTS / 2), kind="counts")


def test_arrays_of_counts_are_told_too() -> None:
    assert from_arrays(COUNTS).counts is not None
    assert from_arrays(COUNTS, standardize=True).counts is None
    assert from_arrays(np.minimum(COUNTS, 9)).counts is None  # digits are levels, unless it is said
    assert from_arrays(np.minimum(COUNTS, 9), kind="counts").counts is not None


def test_variance_by_mean_tells_poisson_from_negative_binomial() -> None:
    steady = DRAWS.poisson(5.0, (4000, 3))
    assert Traits.of(from_arrays(steady, kind="counts")).likelihood == "poisson"
    wide = Traits.of(from_arrays(COUNTS))
    ratio = np.median(COUNTS.var(0) / COUNTS.mean(0))
    assert wide.dispersion == pytest.approx(ratio, rel=1e-5)
    assert wide.likelihood == "negative-binomial"
    assert wide.because.endswith(f"counts with variance {ratio:.2g} times their mean")


def test_what_has_no_model_of_counts_says_so() -> None:
    data = from_arrays(COUNTS, name="cells")
    for config in (InfoGAN(), MSVAE(likelihood="auto")):
        chain = [config] if not config.conditional else [VAE(likelihood="auto"), config]
        with pytest.raises(InputError, match=rf"cells holds counts, which {config.name} has no model of: read them as"):
            ub.fit(data, chain, steps=1, show=False)
    with pytest.raises(InputError, match=r"counts, which --likelihood gaussian is not for: leave it out, or read them"):
        ub.fit(data, BetaTCVAE(likelihood="gaussian"), steps=1, show=False)


@pytest.mark.parametrize("library", [False, True], ids=["rates", "shares"])
def test_a_run_of_counts_stands_on_its_own(tmp_path: Path, library: bool) -> None:
    path = written(tmp_path / "counts.csv")
    words = ["fit", str(path), "--method", "vae", "--steps", "150", "--width", "0.05", "--latents", "2", "--quiet"]
    extra = ["--adam.lr", "0.005", "--library-size", str(library), "--out", str(tmp_path / "run")]
    assert main([*words, *extra]) == 0
    config = read_json(tmp_path / "run" / "config.json")
    assert config["stages"][0]["options"]["likelihood"] == "negative-binomial"
    path.unlink()
    run = ub.open(tmp_path / "run")
    new = np.array([[12, 3, 9, 20], [3, 30, 4, 1], [60, 15, 45, 100]])
    codes = run.encode(new).codes
    np.testing.assert_array_equal(
        codes, run.encode({"d": new[:, 3], "c": new[:, 2], "b": new[:, 1], "a": new[:, 0]}).codes
    )
    (rates,) = run.reconstruct(new)
    assert rates.shape == (3, 4)
    assert (rates > 0).all()
    if library:  # the third has five times the first one's counts: the same codes, and five times its rates
        np.testing.assert_allclose(codes[2], codes[0], atol=1e-4)
        np.testing.assert_allclose(rates.sum(1), new.sum(1), rtol=1e-4)
        np.testing.assert_allclose(rates[2], 5 * rates[0], rtol=1e-3)
        np.testing.assert_allclose(run.decode(codes)[0].sum(1), np.median(COUNTS.sum(1)), rtol=1e-4)
        shares = COUNTS[:5] / COUNTS[:5].sum(1, keepdims=True)
        expected = np.log(1 + shares * np.median(COUNTS.sum(1)))
        np.testing.assert_allclose(comparable(run, COUNTS[:5].astype(np.float32)), expected, rtol=1e-5)
    else:
        np.testing.assert_allclose(run.decode(codes)[0], rates, rtol=1e-5)
        np.testing.assert_allclose(comparable(run, new), np.log(1 + new), rtol=1e-6)
    assert rates[0, 0] > rates[0, 1]
    assert rates[1, 0] < rates[1, 1]
    with pytest.raises(InputError, match="trained on counts, and the observations have values below 0"):
        run.encode(-new)


def test_cells_and_sparse_matrices_are_counts_too(tmp_path: Path) -> None:
    anndata, sparse = pytest.importorskip("anndata"), pytest.importorskip("scipy.sparse")
    pandas = pytest.importorskip("pandas")
    obs = pandas.DataFrame({"tissue": ["liver", "skin"] * 60}, index=[f"cell {k}" for k in range(120)])
    var = pandas.DataFrame(index=["g1", "g2", "g3", "g4"])
    cells = anndata.AnnData(sparse.csr_matrix(COUNTS.astype(np.float32)), obs=obs, var=var)
    cells.layers["halves"] = COUNTS / 2
    cells.write_h5ad(tmp_path / "cells.h5ad")
    data = load(tmp_path / "cells.h5ad", factors="tissue")
    np.testing.assert_array_equal(data.observations, COUNTS)
    assert data.counts is not None
    assert data.preprocessing.columns == ("g1", "g2", "g3", "g4")
    assert data.factor_info[0].values == ("liver", "skin")
    assert load(tmp_path / "cells.h5ad", layer="halves").counts is None
    sparse.save_npz(tmp_path / "matrix.npz", sparse.csr_matrix(COUNTS))
    assert load(tmp_path / "matrix.npz").fingerprint == load(tmp_path / "cells.h5ad").fingerprint
    run = ub.fit(data, "vae", steps=1, out=tmp_path / "run", show=False)
    turned = cells[:9, ["g4", "g2", "g3", "g1"]]
    turned.write_h5ad(tmp_path / "turned.h5ad")
    np.testing.assert_allclose(run.encode(tmp_path / "turned.h5ad").codes, run.encode(COUNTS[:9]).codes, rtol=1e-5)
    cells[:, ["g1", "g2", "g3"]].write_h5ad(tmp_path / "few.h5ad")
    with pytest.raises(InputError, match=r"has no variable 'g4', which the run was trained on"):
        run.encode(tmp_path / "few.h5ad")
    (tmp_path / "broken.h5ad").write_bytes(b"no")
    with pytest.raises(InputError, match=r"not a readable \.h5ad file"):
        load(tmp_path / "broken.h5ad")
