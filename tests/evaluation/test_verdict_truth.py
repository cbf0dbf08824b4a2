"""Verdicts against the truth of simulated data: as many latents as causes, and PCA's own figure beside the model's."""

from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

import unbraid as ub
from unbraid.cli.main import main
from unbraid.metrics.usage import in_use


def learned(tmp_path: Path, file: Path, *words: str) -> tuple[ub.Run, str, str]:
    """A run of `unbraid fit FILE --method beta-tcvae`, small and short, and what is said of latents and of PCA."""
    out, all_rows = tmp_path / "run", ("--held-out", "0")  # so that PCA's figure can be worked out here
    assert main(["fit", str(file), "--method", "beta-tcvae", "--out", str(out), "--quiet", *all_rows, *words]) == 0
    run = ub.open(out)
    said = [text for _, text in run.verdict()]
    return run, said[0], next(text for text in said if text.startswith("Reconstructions"))


def pca_loses(values: np.ndarray, codes: int) -> str:
    """The part of the variance that PCA leaves, as it is written."""
    return f"{1 - PCA(codes).fit(values).explained_variance_ratio_.sum():.0%}".replace("%", " %")


def strengths(run: ub.Run, causes: np.ndarray) -> np.ndarray:
    """The strongest correlation of each cause with a code in use."""
    table = run.encode(show=False)
    codes = table.codes[:, in_use(table.table())]
    return np.abs(np.corrcoef(codes.T, causes.T)[: codes.shape[1], codes.shape[1] :]).max(0)


def test_three_causes_of_counts_are_three_latents(tmp_path: Path) -> None:
    draws = np.random.default_rng(1)
    causes = draws.uniform(-1, 1, (800, 3))
    rates = np.exp(draws.normal(2, 0.5, 24) + causes @ draws.normal(size=(3, 24)))
    counts = draws.poisson(draws.gamma(5, rates / 5))
    file = tmp_path / "counts.csv"
    header = ",".join(f"gene {k}" for k in range(24))
    np.savetxt(file, counts, delimiter=",", header=header, comments="", fmt="%d")
    run, used, against = learned(tmp_path, file, "--steps", "700", "--width", "0.1", "--adam.lr", "0.01")
    assert used == "3 of 10 latents are used."
    assert against.endswith(f"PCA with as many codes (3) loses {pca_loses(np.log(1 + counts), 3)}."), against
    assert strengths(run, causes).min() > 0.7
    (rates_made,) = run.reconstruct(counts)
    assert np.corrcoef(np.log(rates_made).ravel(), np.log(rates).ravel())[0, 1] > 0.9  # nearer the truth than noise


def test_two_causes_of_signals_are_two_latents(tmp_path: Path) -> None:
    draws, time = np.random.default_rng(2), np.linspace(0, 1, 32)
    causes = draws.uniform(-1, 1, (600, 2))
    shapes = [
        [np.sin(6 * time), 5 * time**2, 0 * time],  # what the first cause does to the three channels
        [0 * time, 40 * np.exp(-20 * (time - 0.5) ** 2), np.cos(9 * time)],
    ]
    signals = np.einsum("nk,kct->nct", causes, np.array(shapes)) + np.array([0.0, 300.0, -2.0])[:, None]
    signals += np.array([0.1, 2.0, 0.1])[:, None] * draws.normal(size=signals.shape)
    file = tmp_path / "signals.npy"
    np.save(file, signals)
    words = ("--steps", "500", "--adam.lr", "0.004")
    run, used, against = learned(tmp_path, file, *words)
    assert used == "2 of 10 latents are used."
    scaled = (signals - signals.mean((0, 2), keepdims=True)) / signals.std((0, 2), keepdims=True)
    assert f"PCA with as many codes (2) loses {pca_loses(scaled.reshape(600, -1), 2)}" in against
    assert strengths(run, causes).min() > 0.7
