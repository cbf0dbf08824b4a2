"""Studies: run once, resumed, written down with the paper beside them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from unbraid.api import Run
from unbraid.errors import InputError
from unbraid.methods import MSVAE, VAE, BetaVAE
from unbraid.papers import STUDIES, Finished, Scale, Study, Trial, reproduce
from unbraid.papers.reproduce import NOTES, tasks
from unbraid.papers.settings import by_seed
from unbraid.papers.tables import differences, with_interval
from unbraid.search.engine import Queue
from unbraid.util.intervals import mean_and_interval

DATA = {"size": 32, "stride": 16}


def trials(scale: Scale) -> list[Trial]:
    configs = (VAE(width=0.05, batch_size=8), BetaVAE(width=0.05, batch_size=8))
    return [Trial(config.name, "sprites", (config,), (2,), 0, DATA) for config in configs]


def count(run: Run) -> float:
    calls = run.folder / "calls"
    calls.write_text(calls.read_text() + "x" if calls.exists() else "x")
    return float(len(calls.read_text()))


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    return "\n".join(["# Tiny", "", *(f"{one.trial.group} {one.figures['count']:g}" for one in finished)])


TINY = {"tiny/one": Study("tiny/one", "two runs", trials, {"count": count}, page)}


def test_a_study_runs_once_and_keeps_what_was_written_by_hand(tmp_path: Path) -> None:
    def go() -> str:
        made = reproduce(
            "tiny/one", "smoke", out=tmp_path / "runs", results=tmp_path / "docs", workers=1, show=False, studies=TINY
        )
        assert made == tmp_path / "docs" / "tiny-one-smoke.md"
        return made.read_text(encoding="utf-8")

    first = go()
    title, _, account, _, *figures = first.splitlines()
    assert title == "# Tiny"
    assert account.startswith("`unbraid reproduce tiny/one --scale smoke`: 2 runs, 0 minutes of training")
    assert figures[:2] == ["vae 1", "beta-vae 1"]
    weights = sorted((tmp_path / "runs").rglob("weights.safetensors"))
    times = [path.stat().st_mtime_ns for path in weights]
    page_file = tmp_path / "docs" / "tiny-one-smoke.md"
    page_file.write_text(first + "\nWhat we found.\n", encoding="utf-8")
    again = go()
    assert again.splitlines()[4:6] == ["vae 1", "beta-vae 1"], "nothing is measured twice"
    assert [path.stat().st_mtime_ns for path in weights] == times, "nothing is trained twice"
    assert again.endswith("What we found.\n")
    assert again.count(NOTES) == 1


def test_a_file_that_is_no_page_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "tiny-one.md"
    mine.write_text("# My own notes\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"tiny-one.md' is there and was not written by unbraid"):
        reproduce("tiny/one", "desk", out=tmp_path / "runs", results=tmp_path, show=False, studies=TINY)
    assert mine.read_text(encoding="utf-8") == "# My own notes\n"
    assert not (tmp_path / "runs").exists(), "refused before anything is trained"


def test_a_page_can_be_written_from_what_is_finished(tmp_path: Path) -> None:
    options: dict[str, Any] = {"out": tmp_path / "runs", "results": tmp_path / "docs", "show": False, "studies": TINY}
    with pytest.raises(InputError, match="no run of tiny/one is finished"):
        reproduce("tiny/one", "smoke", train=False, **options)
    one = [Study("tiny/one", "one run", lambda scale: trials(scale)[:1], {"count": count}, page)]
    reproduce("tiny/one", "smoke", workers=1, **(options | {"studies": {"tiny/one": one[0]}}))
    made = reproduce("tiny/one", "smoke", train=False, **options)
    lines = made.read_text(encoding="utf-8").splitlines()
    assert "1 of 2 runs are finished" in lines[2]
    assert lines[4:6] == ["vae 1", ""]


def test_different_settings_have_directories_of_their_own() -> None:
    one, two = trials("smoke")
    other = Trial(one.group, one.data, one.stages, (3,), one.seed, one.arguments)
    assert len({one.folder, two.folder, other.folder}) == 3


def test_unknown_names_are_answered_with_known_ones() -> None:
    with pytest.raises(InputError, match="did you mean 'beta-tcvae/strength'"):
        reproduce("beta-tcvae/strengths", "smoke")
    with pytest.raises(InputError, match="scale"):
        reproduce("beta-tcvae/strength", "huge")


def test_intervals_are_students() -> None:
    mean, low, high = mean_and_interval([1.0, 2.0, 3.0])
    assert mean == 2.0
    assert high - mean == pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    assert mean - low == pytest.approx(high - mean)
    assert with_interval([0.5]) == "0.500"


def test_differences_are_taken_seed_by_seed() -> None:
    """Seeds far apart, rows close together: the interval of either mean would hide what every seed says."""
    scores = {"VAE": {0: 0.1, 1: 0.5, 2: 0.9}, "β-VAE": {2: 0.95, 0: 0.13, 7: 5.0}, "alone": {9: 1.0}}
    runs = [
        Finished(Trial(group, "sprites", (VAE(),), (1,), seed), Path("nowhere"), {"mig": value}, 1.0)
        for group, found in scores.items()
        for seed, value in found.items()
    ]
    lines = differences(runs, {"mig": ("MIG", 3)}, "VAE").splitlines()
    assert lines[0] == "|  | seeds | MIG |"
    assert lines[2:] == ["| β-VAE | 2 | 0.040 [-0.087, 0.167] |"], "t of one degree of freedom: 12.706 · 0.01"
    assert by_seed(["a", "b"], 1, {"b": 3}) == [(0, "a"), (0, "b"), (1, "b"), (2, "b")]


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_runs_at_smoke_scale(name: str, tmp_path: Path) -> None:
    made = reproduce(name, "smoke", out=tmp_path / "runs", results=tmp_path / "docs", workers=1, show=False)
    text = made.read_text(encoding="utf-8")
    again = reproduce(name, "smoke", out=tmp_path / "runs", results=tmp_path / "docs", train=False, show=False)
    assert again.read_text(encoding="utf-8") == text, "the page can be made from the runs alone"
    assert "smoke" in text
    assert "| here | paper |" in text
    assert "paper" in text
    for line in text.splitlines():
        if line.startswith("!["):
            assert (made.parent / line.split("(")[1].rstrip(")")).is_file()


def test_no_first_stage_is_trained_twice_at_once() -> None:
    one, two = trials("smoke")
    longer = Trial("longer", one.data, (*one.stages, MSVAE()), (*one.steps, 3), one.seed, one.arguments)

    def at_once(*planned: Trial) -> list[str]:
        """What an engine with room for all would begin before anything has ended."""
        supply = iter(Queue(tasks(TINY["tiny/one"], planned, Path("runs"))))
        return [task.name for task in iter(lambda: next(supply), None)]

    assert at_once(one, two, longer) == [one.folder, two.folder]
    assert at_once(longer, one) == [longer.folder]
