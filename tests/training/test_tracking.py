"""Trackers see what the log gets; services are called as they want to be called."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import unbraid as ub
from unbraid.data.factor_data import FactorData
from unbraid.errors import InputError
from unbraid.methods import VAE
from unbraid.training.tracking import SERVICES, check_service, tracked, tracker

SMALL = VAE(width=0.05, batch_size=8, latents=2, network="mlp")


class Lines:
    def __init__(self) -> None:
        self.seen: list[tuple[int, dict[str, float]]] = []
        self.ended = 0

    def log(self, step: int, figures: Any) -> None:
        self.seen.append((step, dict(figures)))

    def end(self) -> None:
        self.ended += 1


def test_a_tracker_sees_every_line_of_the_log(squares: FactorData, tmp_path: Path) -> None:
    lines = Lines()
    with tracked([lines]):
        ub.fit(squares, SMALL, steps=3, out=tmp_path / "run", show=False)
    ub.fit(squares, SMALL, steps=4, out=tmp_path / "other", show=False)
    written = [json.loads(line) for line in (tmp_path / "run" / "stage-1" / "log.jsonl").read_text().splitlines()]
    assert [step for step, _ in lines.seen] == [line["step"] for line in written] == [1, 2, 3]
    for (_, figures), line in zip(lines.seen, written, strict=True):
        assert figures == {f"stage-1/{name}": line[name] for name in line if name not in ("step", "seconds")}
    assert lines.ended == 1


def test_nothing_is_imported_unless_asked_for() -> None:
    assert not {"mlflow", "wandb", "tensorboard"} & set(sys.modules)


def test_mlflow_and_wandb_get_runs_steps_and_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def told(name: str) -> Any:
        def call(*given: Any, **named: Any) -> SimpleNamespace:
            calls.append((name, given, named))
            return SimpleNamespace(log=told("run.log"), finish=told("run.finish"))

        return call

    names = ("set_experiment", "start_run", "log_params", "log_metrics", "end_run", "init")
    for module in ("mlflow", "wandb"):
        monkeypatch.setitem(sys.modules, module, SimpleNamespace(**{name: told(name) for name in names}))
    folder = tmp_path / "search" / "trial"
    for service in ("mlflow", "wandb"):
        one = tracker(service, folder, {"beta": 4})
        one.log(7, {"total": 0.5})
        one.end()
    assert [(name, named) for name, _, named in calls] == [
        ("set_experiment", {}),
        ("start_run", {"run_name": "trial"}),
        ("log_params", {}),
        ("log_metrics", {"step": 7}),
        ("end_run", {}),
        ("init", {"project": "unbraid", "name": "trial", "config": {"beta": 4}, "resume": "allow"}),
        ("run.log", {"step": 7}),
        ("run.finish", {}),
    ]
    assert [given for name, given, _ in calls if name.endswith(("log_metrics", "run.log"))] == [({"total": 0.5},)] * 2


def test_what_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="did you mean 'mlflow'"):
        check_service("mlfow")
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(InputError, match=r"--track wandb needs wandb: pip install 'unbraid\[tracking\]'"):
        check_service("wandb")
    assert list(SERVICES) == ["tensorboard", "mlflow", "wandb"]
