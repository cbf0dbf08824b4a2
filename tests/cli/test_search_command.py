"""`unbraid search` as people type it."""

from pathlib import Path

import pytest

from unbraid.cli import main

SMALL = ("--network", "mlp", "--width", "0.05", "--batch-size", "8", "--latents", "3")


def go(data: Path, *words: str) -> int:
    return main(["search", str(data), "--workers", "1", "--quiet", *words])


def test_a_search_says_what_to_take_and_where_it_is(
    squares_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "found"
    words = ("--method", "beta-vae", "--vary", "beta=1,-2", "--seeds", "2", "--steps", "3", *SMALL, "--out", str(out))
    assert go(squares_file, *words) == 0
    said = capsys.readouterr().out
    assert "beta-vae, beta 1: UDR" in said
    assert "0 of 2" in said
    assert f"report: {out}/report.html" in said.replace("\n", "")
    page = (out / "report.html").read_text()
    assert "4 trials of 2 settings" in page
    assert "--beta of beta-vae must be at least 0, not -2." in page
    assert main(["report", str(out)]) == 0
    assert "report.html" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--method", "beta-vea"), "did you mean 'beta-vae'"),
        (("--method", "beta-vae", "--vary", "beta"), "--vary needs an option and its values"),
        (("--method", "beta-vae", "--vary", "beta=1..4"), "say how many settings with --random N"),
        (("--method", "beta-vae", "--vary", "bata=1"), "did you mean 'beta'"),
        (("--method", "beta-vae", "--track", "wandbb"), "did you mean 'wandb'"),
        (("--method", "beta-vae", "--held-out-by", "patient"), "patient"),
        (("--method", "beta-vae", "--minutes", "-1"), "--minutes must be greater than 0"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    words: tuple[str, ...], sentence: str, squares_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert go(squares_file, *words, *SMALL, "--out", str(tmp_path / "new")) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
