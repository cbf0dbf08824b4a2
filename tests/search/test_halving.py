"""Settings that are left early, and those that go on to the same bits."""

from pathlib import Path

import pytest

import unbraid as ub
from unbraid.data.factor_data import FactorData
from unbraid.errors import InputError
from unbraid.methods import BetaVAE
from unbraid.search.agreement import agreement
from unbraid.search.budget import steps_for
from unbraid.search.results import Search

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
    early = {
        setting: agreement(
            [tmp_path / "halved" / "trials" / row.name for row in whole.rows if row.setting.name == setting], 2
        )
        for setting in dict.fromkeys(row.setting.name for row in whole.rows)
    }
    best = sorted(early, key=lambda name: -early[name]["udr"].value)[:2]
    assert {row.setting.name for row in halved.rows if row.status == "finished"} == set(best)
    assert {row.status for row in halved.rows if row.setting.name not in best} == {"left at step 2"}
    again = go(squares, tmp_path / "halved", halving=True)
    assert [row.status for row in again.rows] == [row.status for row in halved.rows]
    assert "left at step 2" in (tmp_path / "halved" / "report.html").read_text()


def test_halving_needs_what_can_be_known_early(squares: FactorData, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--halving compares settings by udr, udr_lasso, stability, not by mig"):
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
