"""No command writes a file that was not asked for, or over one that it did not write."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unbraid.cli.main import main


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path / "cache"))
    folder = tmp_path / "photos"
    folder.mkdir()
    for shade in (0, 100, 200):
        Image.fromarray(np.full((8, 8, 3), shade, np.uint8)).save(folder / f"{shade}.png")
    return folder


def test_info_writes_a_picture_only_where_it_is_told_to(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = set(photos.parent.iterdir())
    assert main(["data", "info", "photos"]) == 0
    assert "3 observations" in capsys.readouterr().out
    assert set(photos.parent.iterdir()) - before <= {photos.parent / "cache"}
    assert main(["data", "info", "photos", "--picture", "sheet.png"]) == 0
    assert "picture: sheet.png" in capsys.readouterr().out
    assert Image.open("sheet.png").width > 8
    assert main(["data", "info", "photos", "--picture", "sheet.png"]) == 0  # its own: may be made again


def test_info_leaves_a_file_that_it_did_not_write(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    precious = photos / "100.png"
    before = precious.read_bytes()
    assert main(["data", "info", "photos", "--picture", str(precious)]) == 2
    assert "was not written by unbraid; name another file with --picture" in capsys.readouterr().err
    assert precious.read_bytes() == before


def test_a_comparison_leaves_a_page_that_it_did_not_write(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = photos.parent / "comparison.html"
    mine.write_text("<p>my own notes</p>")
    assert main(["report", "run-1", "run-2"]) == 2
    assert "'comparison.html' is there and was not written by unbraid" in capsys.readouterr().err
    mine.write_text('<meta name="generator" content="unbraid 0.1">')
    assert main(["report", "run-1", "run-2"]) == 2
    assert "run-1" in capsys.readouterr().err  # now it is the run that is missing
