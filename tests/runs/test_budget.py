"""A budget in minutes: what is chosen by the pace of a few steps, and that it is chosen once."""

import json
import logging
import shlex
from pathlib import Path

import numpy as np
import pytest
import torch

import unbraid as ub
from unbraid.cli.main import main
from unbraid.data.factor_data import FactorData
from unbraid.errors import InputError
from unbraid.methods import MSVAE, VAE, BetaTCVAE, budgets
from unbraid.methods.budgets import Stage
from unbraid.runs import budget
from unbraid.runs.budget import OVERHEAD, PAGE_SECONDS, PASS_SHARE, Budget, choose
from unbraid.runs.directory import RunDirectory
from unbraid.runs.plan import Plan
from unbraid.training import pace
from unbraid.training.machine import Machine
from unbraid.training.pace import Pace

FIRST, SECOND = BetaTCVAE(width=0.1, batch_size=32), MSVAE(width=0.1, batch_size=16)
CPU = Machine("cpu")


def paces(*steps: float, light: float = 0.5):
    """A machine on which each stage takes so many seconds a step, and its lighter forms a part of that."""

    def measured(number: int, config) -> Pace:
        return Pace(steps[number - 1] * (light if config.width < 0.1 else 1.0), "32-true")

    return measured


def steps_of(chosen) -> list[int]:
    return [choice.steps for choice in chosen]


def test_time_is_divided_by_the_shares_after_what_comes_later_is_taken_off() -> None:
    tried = [Stage(BetaTCVAE, 1, share=0.4), Stage(MSVAE, 1, share=0.6)]
    found = choose([[FIRST], [SECOND]], tried, 1000, lambda: 600.0, paces(0.02, 0.05))
    after = PAGE_SECONDS + PASS_SHARE * 2000 * (0.02 / 32 + 0.05 / 16)
    expected = [0.4 * (600 - after) / (0.02 * OVERHEAD), 0.6 * (600 - after) / (0.05 * OVERHEAD)]
    assert steps_of(found) == pytest.approx(expected, rel=0.1)
    assert all(count % 100 == 0 for count in steps_of(found))
    assert 560 < after + sum(choice.seconds for choice in found) <= 600


def test_a_busy_machine_takes_longer_for_the_page_too() -> None:
    idle, busy = ([(FIRST, Pace(0.001, "32-true", factor))] for factor in (1.0, 4.0))
    assert budget.seconds_after(busy, 10) - budget.seconds_after(idle, 10) == pytest.approx(3 * PAGE_SECONDS)


def test_what_a_stage_cannot_use_falls_to_the_next() -> None:
    tried = [Stage(BetaTCVAE, 1, share=0.5, most=1000), Stage(MSVAE, 1, share=0.5)]
    found = choose([[FIRST], [SECOND]], tried, 10, lambda: 500.0 + PAGE_SECONDS, paces(0.02, 0.05))
    assert steps_of(found)[0] == 1000
    assert steps_of(found)[1] == pytest.approx((500 - 20 * OVERHEAD) / (0.05 * OVERHEAD), rel=0.1)


def test_too_few_steps_make_a_stage_lighter_and_enough_leave_it() -> None:
    light = BetaTCVAE(width=0.05, batch_size=32)
    tried = [Stage(BetaTCVAE, 1, least=1000)]
    assert choose([[FIRST, light]], tried, 10, lambda: 100.0, paces(0.5))[0].config == light
    assert choose([[FIRST, light]], tried, 10, lambda: 1000.0, paces(0.5))[0].config == FIRST


def test_the_pace_is_the_mean_of_the_times_after_a_warm_up() -> None:
    ticks = iter(np.cumsum([1000, 2, 3, 90, 4, 5]))  # one step had to wait; those of the warm-up are not timed
    calls: list[int] = []
    found = pace.mean_seconds(lambda: calls.append(1), 103.0, lambda: float(next(ticks)))
    assert (found, len(calls)) == (104 / 5, 5 + pace.WARM_UP)


def test_a_few_steps_are_timed_however_long_they_take() -> None:
    ticks = iter(np.cumsum([0, 50, 60, 70]))
    assert pace.mean_seconds(lambda: None, 1.0, lambda: float(next(ticks))) == 60.0


@pytest.fixture
def fake_pace(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Steps of three seconds, whatever is trained; and how often that was asked."""
    asked: list[int] = []

    def measure(*given: object) -> Pace:
        asked.append(1)
        return Pace(3.0, "32-true")

    monkeypatch.setattr(budget, "measure", measure)
    monkeypatch.setattr(budget, "seconds_after", lambda *_: 0.0)
    return asked


def test_a_real_measurement_leaves_the_folder_and_random_numbers_alone(squares: FactorData, tmp_path: Path) -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    asked = RunDirectory(tmp_path / "run", Plan.check(squares, [FIRST, SECOND], [1, 1], 0), squares)
    for number, config in ((1, FIRST), (2, SECOND)):
        assert 0 < budget.measurer(asked, CPU, 0.01)(number, config).step < 5
    assert torch.equal(torch.get_rng_state(), before)
    assert not (tmp_path / "run").exists()


def test_what_was_chosen_is_kept_and_not_measured_again(
    squares: FactorData, tmp_path: Path, fake_pace: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ub.fit(squares, [FIRST, SECOND], minutes=1.1, out=tmp_path / "run", machine=CPU, show=False)
    assert [count for _, count in run.plan.stages] == [8, 12]  # 0.4 of 66 seconds, then the rest
    assert len(fake_pace) == 2
    kept = json.loads((tmp_path / "run" / "config.json").read_text())
    assert kept["budget"]["minutes"] == 1.1
    weights = (run.stage_folder(2) / "weights.safetensors").read_bytes()
    (run.stage_folder(2) / "stage.json").unlink()
    (run.stage_folder(2) / "weights.safetensors").unlink()
    monkeypatch.setattr(budget, "measure", lambda *_: pytest.fail("measured again"))
    again = ub.fit(squares, [FIRST, SECOND], minutes=1.1, out=tmp_path / "run", machine=CPU, show=False)
    assert again.plan == run.plan
    assert (again.stage_folder(2) / "weights.safetensors").read_bytes() == weights


def test_the_same_request_finds_its_folder_whatever_was_measured(
    squares: FactorData, tmp_path: Path, fake_pace: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = ub.fit(squares, FIRST, minutes=0.5, machine=CPU, show=False)
    assert "0.5min" in run.folder.name
    monkeypatch.setattr(budget, "measure", lambda *_: Pace(0.001, "32-true"))
    assert ub.fit(squares, FIRST, minutes=0.5, machine=CPU, show=False).folder == run.folder
    other = ub.fit(squares, VAE(width=0.1), minutes=0.001, machine=CPU, show=False)
    assert other.folder != run.folder


def test_sentences_on_budgets_that_cannot_be(squares: FactorData, tmp_path: Path, fake_pace: list[int]) -> None:
    place = tmp_path / "run"
    with pytest.raises(InputError, match=r"0\.01 minutes are too few to learn anything here: pass --minutes 1 or more"):
        ub.fit(squares, FIRST, minutes=0.01, out=place, machine=CPU, show=False)
    assert not place.exists()
    with pytest.raises(InputError, match="--minutes chooses the steps: leave --steps out"):
        ub.fit(squares, FIRST, minutes=1, steps=3, out=place, show=False)
    with pytest.raises(InputError, match="--minutes must be greater than 0, not nan"):
        ub.fit(squares, FIRST, minutes=float("nan"), out=place, show=False)
    with pytest.raises(InputError, match=r"works on codes that stage 1 has yet to find.* pass --steps"):
        ub.fit(squares, [FIRST, MSVAE(content="codes", width=0.1)], minutes=1, out=place, show=False)
    ub.fit(squares, FIRST, minutes=0.1, out=place, machine=CPU, show=False)
    with pytest.raises(InputError, match=r"holds another run, of 0\.1 minutes: choose another --out"):
        ub.fit(squares, FIRST, minutes=0.2, out=place, show=False)
    ub.fit(squares, FIRST, steps=1, out=tmp_path / "other", machine=CPU, show=False)
    with pytest.raises(InputError, match="holds another run, begun without --minutes"):
        ub.fit(squares, FIRST, minutes=1, out=tmp_path / "other", show=False)


def test_a_budget_that_is_not_used_up_says_why() -> None:
    one = budget.Choice(FIRST, 1000, Pace(0.02, "32-true"))
    said = budget.sentence(10, [one], unused=500.0)
    assert "beta-tcvae 1,000 steps, width 0.1, batches of 32 (20 ms each, 21 seconds)" in said
    assert said.endswith("8.3 minutes of it are left over.")
    assert budget.sentence(10, [one], unused=30.0).endswith("then codes, scores and the page.")


def test_a_fit_that_takes_hours_says_so_first(
    squares: FactorData, tmp_path: Path, fake_pace: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    def said(steps: int) -> list[str]:
        plan = Plan.check(squares, [FIRST, SECOND], [steps, steps], 0)
        return budget.hours_ahead(RunDirectory(tmp_path / "run", plan, squares), CPU)

    assert said(1200) == [
        "at the pace of its first steps this takes about 2.1 hours: --minutes 10 (or 60) chooses what fits into so "
        "many, and --steps takes fewer."
    ]
    assert said(100) == []  # not worth a look


def chosen_stages(folder: Path) -> list[tuple[str, int]]:
    return [(stage["method"], stage["steps"]) for stage in json.loads((folder / "config.json").read_text())["stages"]]


def test_fit_without_a_method_takes_the_table_s_chain(
    squares: FactorData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    short = budgets.Tried("images", (Stage(BetaTCVAE, 3, 0.4), Stage(MSVAE, 2, 0.6)))
    monkeypatch.setattr(budgets, "TABLE", (short, *budgets.TABLE[1:]))
    with caplog.at_level(logging.INFO):
        run = ub.fit(squares, out=tmp_path / "run", machine=CPU)
    assert chosen_stages(run.folder) == [("beta-tcvae", 3), ("ms-vae", 2)]
    assert "no method is named, so it is beta-tcvae (3 steps), then ms-vae (2 steps)" in caplog.text


def test_the_command_of_a_budget_is_one_that_makes_the_same_run(
    squares_file: Path, tmp_path: Path, fake_pace: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = tmp_path / "one", tmp_path / "b" / "other"
    small = ["--width", "0.1", "--precision", "32-true", "--quiet"]
    assert main(["fit", str(squares_file), "--minutes", "0.3", *small, "--out", str(one)]) == 0
    assert [name for name, _ in chosen_stages(one)] == ["beta-tcvae", "ms-vae"]
    command = json.loads((one / "config.json").read_text())["command"]
    assert main([*shlex.split(command)[1:], "--quiet", "--out", str(other)]) == 0
    assert chosen_stages(other) == chosen_stages(one)
    weights = [(folder / "stage-2" / "weights.safetensors").read_bytes() for folder in (one, other)]
    assert weights[0] == weights[1]


def test_options_that_were_typed_stay_as_they_are() -> None:
    stage = Stage(BetaTCVAE, 1, lighter=({"width": 0.05},))
    assert len(Budget(1, keep=("beta",)).forms([FIRST], [stage])[0]) == 2
    for keep in (("width",), ("1.width",), "all"):
        assert Budget(1, keep=keep).forms([FIRST], [stage]) == [[FIRST]]
