"""The command line as a user meets it."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unbraid.cli.main import COMMANDS, main
from unbraid.training.contract import small_images

SMALL = ["--width", "0.1", "--steps", "3", "--quiet"]


def said(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return captured.err.strip()


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"unbraid {name}" in text for name in COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    assert f"unbraid {name}" in capsys.readouterr().out


def test_from_data_to_report_in_one_command(squares_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert main(["fit", str(squares_file), "--method", "beta-tcvae", "ms-vae", *SMALL, "--out", str(out)]) == 0
    assert (out / "report.html").stat().st_size > 10_000
    assert {path.name for path in out.iterdir()} >= {"config.json", "environment.json", "codes.npz", "metrics.json"}
    assert main(["report", str(out)]) == 0
    assert main(["evaluate", str(out), "--metrics", "l1", "--quiet"]) == 0
    assert main(["evaluate", str(out), "--quiet"]) == 0  # these data have no factors: errors only


def test_options_reach_the_stage_they_name(squares_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["fit", str(squares_file), "--method", "beta-vae", "ms-vae", *SMALL, "--out", str(out)]
    assert main([*words, "--2.latents", "3", "--1.beta=2.5", "--adam.lr", "1e-3"]) == 0
    from unbraid.api import Run

    (first, _), (second, _) = Run.open(out).plan.stages
    assert (first.latents, first.beta, first.adam.lr) == (10, 2.5, 1e-3)  # type: ignore[attr-defined]
    assert (second.latents, second.adam.lr) == (3, 1e-3)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["fti"], "there is no command 'fti'; did you mean 'fit'?"),
        (["fit", "toys", "--method", "beta-tcvea"], "did you mean 'beta-tcvae'?"),
        (["fit", "toyz", "--method", "vae"], "did you mean 'toys'?"),
        (["fit", "toys", "--method", "beta-vae", "--bta", "4"], "did you mean 'beta'?"),
        (["fit", "toys", "--method", "beta-vae", "--beta", "four"], "--beta must be a number, not 'four'"),
        (["fit", "toys", "--method", "beta-vae", "--beta"], "--beta needs a value"),
        (["fit", "toys", "--method", "beta-vae", "--3.beta", "4"], "names stage 3, but there are 1"),
        (["fit", "toys", "--method", "vae", "--likelihood", "normal"], "there is no value for --likelihood"),
        (["fit", "toys", "--method", "vae", "--data.colour", "1"], "no option 'colour'; choose one of objects, size"),
        (
            ["fit", "toys", "--method", "vae", "--data.size", "big"],
            "'size' of 'toys' must be a whole number, not 'big'",
        ),
        (["data", "info", "toys", "--data.objects", "0"], "objects=0 is out of range"),
        (["data", "info", "sprites", "--stride", "foo"], "must be a whole number or names with values"),
        (["fit", "toys", "--method", "vae", "--device", "gpu9"], "there is no device 'gpu9'"),
        (["fit", "toys", "--method", "vae", "--precision", "8"], "there is no precision '8'"),
        (["fit", "toys", "--method", "vae", "--devices", "0"], "must be a whole number from 1 on, not '0'"),
        (["fit", "toys", "--method", "vae", "--threads", "-3"], "must be a whole number from 1 on, not '-3'"),
        (["fit", "toys", "--method", "vae", "--save-every", "0"], "--save-every must be greater than 0"),
        (["fit", "toys", "--method", "vae", "--adam.lr", "-1"], "--adam.lr of vae must be at least 0, not -1"),
        (
            ["fit", "toys", "--method", "vae", "--adam.beta1", "2"],
            "--adam.beta1 of vae must be at least 0 and less than 1, not 2",
        ),
        (["fit", "toys", "--method", "parted-vae", "--label", "100"], "did you mean 'labels'?"),
        (["fit", "no/such/folder", "--method", "vae"], "no/such/folder"),
        (["fit", "--steps", "3"], "the following arguments are required: DATA"),
        (["fit", "toys", "--minutes", "0"], "--minutes must be greater than 0, not 0."),
        (["fit", "toys", "--minutes", "5", "--steps", "3"], "not allowed with argument"),
        (["evaluate"], "name a run directory or --codes"),
        (["evaluate", "no-such-run"], "'no-such-run' is not a run directory"),
        (["data", "show"], "there is no action of unbraid data 'show'"),
        (["methods", "gan"], "there is no method 'gan'"),
        (["reproduce", "beta-tcvae/strenght"], "did you mean 'beta-tcvae/strength'?"),
        (["reproduce", "beta-tcvae/strength", "--workers", "0"], "must be a whole number from 1 on, not '0'"),
        (["reproduce", "beta-tcvae/strength", "--workers", "two"], "must be a whole number from 1 on, not 'two'"),
        (["reproduce", "beta-tcvae/strength", "--page", "--workers", "2"], "not allowed with argument --page"),
        (["reproduce", "beta-tcvae/strength", "--page"], "no run of beta-tcvae/strength is finished"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path / "data"))
    assert main(words) == 2
    text = said(capsys)
    assert text.startswith("unbraid: ")
    assert sentence in text
    assert len(text.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("words", "workers", "train"), [([], None, True), (["--workers", "3"], 3, True), (["--page"], None, False)]
)
def test_reproduce_passes_on_how_many_processes_and_whether_to_train(
    words: list[str], workers: int | None, train: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: dict[str, object] = {}

    def note(name: str, scale: str, **options: object) -> Path:
        asked.update(options, name=name, scale=scale)
        return tmp_path / "page.md"

    monkeypatch.setattr("unbraid.papers.reproduce", note)
    assert main(["reproduce", "beta-tcvae/strength", "--scale", "smoke", *words]) == 0
    assert (asked["name"], asked["scale"]) == ("beta-tcvae/strength", "smoke")
    assert (asked["workers"], asked["train"]) == (workers, train)


def write_images(folder: Path, count: int = 3, size: int = 16) -> None:
    folder.mkdir()
    for number in range(count):
        Image.fromarray(small_images(count, size).observations[number]).save(folder / f"{number}.png")


@pytest.mark.parametrize("kind", ["empty", "broken", "mixed", "nan"])
def test_bad_data_gets_one_sentence_and_exit_code_2(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, expected = tmp_path / "photos", kind
    if kind == "empty":
        place.mkdir()
        expected = "photos"
    elif kind == "broken":
        write_images(place)
        (place / "1.png").write_bytes(b"not an image")
        expected = "1.png"
    elif kind == "mixed":
        write_images(place)
        Image.new("RGB", (9, 9)).save(place / "odd.png")
        expected = "odd.png"
    else:
        place = tmp_path / "signals.npy"
        values = np.zeros((5, 3), dtype=np.float32)
        values[2, 1] = np.nan
        np.save(place, values)
        expected = "NaN"
    words = ["fit", str(place), "--method", "vae", "--likelihood", "gaussian", "--out", str(tmp_path / "run"), *SMALL]
    assert main(words) == 2
    text = said(capsys)
    assert expected in text
    assert len(text.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_table_of_any_model_can_be_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    factors = np.stack(np.meshgrid(np.arange(5), np.arange(6)), axis=-1).reshape(-1, 2).repeat(20, axis=0)
    np.savez(tmp_path / "codes.npz", codes=factors.astype(float), factors=factors)
    assert main(["evaluate", "--codes", str(tmp_path / "codes.npz"), "--metrics", "mig", "--quiet"]) == 0
    assert "1.0000" in capsys.readouterr().out
    assert main(["evaluate", "--codes", str(tmp_path / "codes.npz"), "--quiet"]) == 0
    assert "factor_score" in capsys.readouterr().out
