"""Settings that are left early, and those that go on to the same bits."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import unbraid as ub
from unbraid.data.factor_data import FactorData
from unbraid.errors import InputError
from unbraid.methods import BetaVAE
from unbraid.search.budget import steps_for
from unbraid.search.figures import codes_file
from unbraid.search.halving import RECORD, Halving
from unbraid.search.results import Search
from unbraid.search.space import Setting
from unbraid.search.tasks import Outcome, Task
from unbraid.search.trial import Trial
from unbraid.training.machine import Machine
from unbraid.util.files import read_json

SMALL = BetaVAE(width=0.05, batch_size=8, latents=3, network="mlp")


def go(data: FactorData, folder: Path, *, halving: bool) -> Search:
    vary = {"beta": [1, 2, 3, 4]}
    return ub.search(data, SMALL, vary=vary, seeds=2, steps=6, out=folder, workers=1, show=False, halving=halving)


def weights(folder: Path) -> dict[str, bytes]:
    return {path.parts[-3]: path.read_bytes() for path in folder.glob("trials/*/stage-1/weights.safetensors")}


def test_those_that_agree_go_on_as_if_nothing_had_been(squares: FactorData, tmp_path: Path) -> None:
    whole, halved = go(squares, tmp_path / "whole", halving=False), go(squares, tmp_path / "halved", halving=True)
    kept = weights(tmp_path / "halved")
    assert len(kept) == 4, "two settings of four, with two seeds each"
    assert {name: weights(tmp_path / "whole")[name] for name in kept} == kept
    (on,) = read_json(tmp_path / "halved" / RECORD)["gone_on"]
    assert len(on) == 2
    assert {row.setting.name for row in whole.rows if row.name in kept} == set(on)
    assert {row.status for row in halved.rows if row.setting.name in on} == {"finished"}
    assert {row.status for row in halved.rows if row.setting.name not in on} == {"left at step 2"}
    again = go(squares, tmp_path / "halved", halving=True)
    assert [row.status for row in again.rows] == [row.status for row in halved.rows]
    assert "left at step 2" in (tmp_path / "halved" / "report.html").read_text()


class Rehearsal:
    """Nine settings with known scores on an engine whose tasks end in the order that a test wants."""

    def __init__(self, folder: Path, scores: list[float]) -> None:
        self.folder = folder
        self.groups = {
            f"β {n}": [Trial(Setting("beta-vae", {"beta": n}, (BetaVAE(beta=n + 1.0),)), (9,), seed) for seed in (0, 1)]
            for n in range(len(scores))
        }
        self.scores = dict(zip(self.groups, scores, strict=True))
        self.setting = {trial.name: name for name, trials in self.groups.items() for trial in trials}
        self.ended: list[tuple[str, int]] = []  # settings and the steps they got to, in this order

    def begin(self) -> Halving:
        return Halving(self.folder, self.groups, self.place, self.score, Machine("cpu"), self.finish)

    def place(self, trial: Trial) -> Path:
        return self.folder / trial.name

    def score(self, folders: Sequence[Path], step: int) -> float:
        assert len(folders) == 2, "a setting is judged when all of its seeds are there"
        return self.scores[self.setting[folders[0].name]]

    def finish(self, trial: Trial) -> Task | None:
        done = (self.place(trial) / "done").exists()
        return None if done else Task(trial.name, self.place(trial), lambda folder, shared: None)

    def run(self, halving: Halving, slots: int, choose: Callable[[list[Task]], int], most: int = 10_000) -> None:
        supply, underway = iter(halving), list[Task]()
        for _ in range(most):
            while len(underway) < slots and (task := next(supply, None)) is not None:
                underway.append(task)
            if not underway:
                return
            task = underway.pop(choose(underway))
            step = getattr(task.work, "keywords", {}).get("machine", Machine("cpu", pause=9)).pause
            task.folder.mkdir(parents=True, exist_ok=True)
            (task.folder / ("done" if step == 9 else codes_file(step))).touch()
            self.ended.append((self.setting[task.name], step))
            halving.ended(Outcome(task.name))


SCORES = [0.3, 0.9, 0.1, 0.5, 0.8, 0.2, 0.7, 0.4, 0.6]


@pytest.mark.parametrize("slots", [1, 3, 40])
@pytest.mark.parametrize("seed", range(4))
def test_whatever_ends_first_the_best_third_goes_on(slots: int, seed: int, tmp_path: Path) -> None:
    rehearsal, draws = Rehearsal(tmp_path, SCORES), np.random.default_rng(seed)
    halving = rehearsal.begin()
    assert halving.rungs == [1, 3]
    rehearsal.run(halving, slots, lambda tasks: int(draws.integers(len(tasks))))
    reached = {step: {name for name, to in rehearsal.ended if to == step} for step in (1, 3, 9)}
    assert len(reached[1]) == 9
    assert {"β 1", "β 4", "β 6"} <= reached[3], "the best third of all"
    assert {"β 1", "β 4"} <= reached[9], "at least two go on to the end"
    assert len(rehearsal.ended) == len(set(rehearsal.ended)) * 2, "nothing is done twice: two seeds of each"
    left = halving.stopped
    assert {rehearsal.setting[name] for name in left} == set(rehearsal.groups) - reached[9]
    assert {left[trial.name] for trial in rehearsal.groups["β 2"]} <= {1, 3}
    again = rehearsal.begin()
    assert (list(again), again.stopped) == ([], left), "a repeated command decides the same"


def test_nobody_waits_for_the_slowest(tmp_path: Path) -> None:
    rehearsal = Rehearsal(tmp_path, SCORES)
    halving = rehearsal.begin()
    slowest = halving.new[0]  # one of its seeds is the first task, and ends when there is no other
    rehearsal.run(halving, 2, lambda tasks: len(tasks) - 1)
    assert rehearsal.ended.index(("β 1", 9)) < rehearsal.ended.index(
        (slowest, 1), 1 + rehearsal.ended.index((slowest, 1))
    )
    assert slowest != "β 1"


def test_what_was_let_on_stays_so_after_a_kill(tmp_path: Path) -> None:
    rehearsal = Rehearsal(tmp_path, SCORES)
    rehearsal.run(rehearsal.begin(), 1, lambda tasks: 0, most=9)
    on = read_json(tmp_path / RECORD)["gone_on"][0]
    assert len(on) == 1
    assert ("β 1", 3) not in rehearsal.ended
    rehearsal.scores = {name: 1 - score for name, score in rehearsal.scores.items()}
    halving = rehearsal.begin()
    rehearsal.run(halving, 1, lambda tasks: 0)
    assert next(iter(halving.gone_on[0])) == on[0], "though it would not be let on now"
    assert (on[0], 3) in rehearsal.ended


def test_what_has_reached_a_later_rung_is_known_after_a_kill(tmp_path: Path) -> None:
    for most in range(1, 40):
        rehearsal = Rehearsal(tmp_path / str(most), SCORES)
        rehearsal.run(rehearsal.begin(), 1, lambda tasks: 0, most=most)
        again = rehearsal.begin()
        for rung, step in enumerate((1, 3)):
            there = {name for name, to in rehearsal.ended if rehearsal.ended.count((name, to)) == 2 and to == step}
            assert set(again.reached[rung]) == there


def test_halving_needs_what_can_be_known_early(squares: FactorData, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--halving compares settings by udr, .*, stability, not by mig"):
        ub.search(squares, SMALL, by="mig", halving=True, out=tmp_path / "new", workers=1, show=False)


def test_minutes_become_steps_that_a_repeated_call_keeps(squares: FactorData, tmp_path: Path) -> None:
    def steps(minutes: float) -> int:
        found = ub.search(squares, SMALL, seeds=2, minutes=minutes, out=tmp_path, workers=1, show=False)
        return found.trials[0].steps[0]

    first = steps(0.01)
    assert first >= 10
    assert steps(0.01) == first
    with pytest.raises(InputError, match="are too few for 2 trials: give at least"):
        steps(1e-7)


def test_steps_share_the_time_between_all_trials() -> None:
    # 0.7 of 2 · 600 s, at 0.05 s for a step of both trials.
    assert steps_for(10, [0.02, 0.03], 2) == 16_000
    with pytest.raises(InputError, match="greater than 0"):
        steps_for(0, [1.0], 1)
