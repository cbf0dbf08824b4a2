"""Trackers see what the log gets; services are called as they want to be called."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import unbraid as ub
from unbraid.data.factor_data import FactorData
from unbraid.errors import InputError
from unbraid.methods import VAE
from unbraid.training.tracking import PACKAGES, SERVICES, Service, check_service, tracked, trackers

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
    assert not {"mlflow", "wandb", "tensorboard", "trackio"} & set(sys.modules)


class Fails:
    """A service that does not answer."""

    def __init__(self, *given: Any) -> None:
        self.calls: list[str] = []

    def log(self, step: int, figures: Any) -> None:
        self.calls.append("log")
        raise ConnectionError("no answer")

    def end(self) -> None:
        self.calls.append("end")
        raise ConnectionError("no answer")


def test_a_service_that_fails_does_not_fail_the_training(
    squares: FactorData, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails, lines = Fails(), Lines()
    with tracked([fails, lines]):
        ub.fit(squares, SMALL, steps=3, out=tmp_path / "run", show=False)
    assert fails.calls == ["log", "end"], "it is left alone after its first failure"
    assert len(lines.seen) == 3
    assert "Fails follows no more: no answer" in caplog.text

    def refuse(*given: Any) -> Any:
        raise ConnectionError("no answer")

    monkeypatch.setitem(SERVICES, "wandb", refuse)
    assert trackers([Service("wandb", "search")], tmp_path, {}) == []
    assert "wandb does not follow" in caplog.text


USES = {
    "tensorboard": """
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
found = EventAccumulator(str(run / "tensorboard")).Reload()
assert [(one.step, one.value) for one in found.Scalars("stage-2/total")] == [(1, 3.0)]
""",
    "mlflow": """
import mlflow
client = mlflow.MlflowClient()
(found,) = client.search_runs([client.get_experiment_by_name("which-beta").experiment_id])
assert (found.info.run_name, found.info.status, found.data.params) == ("trial", "FINISHED", {"beta": "4"})
history = client.get_metric_history(found.info.run_id, "stage-1/total")
assert [(one.step, one.value) for one in history] == [(1, 5.0), (2, 4.0)]
""",
    "wandb": """
(name,) = {path.name.rsplit("-", 1)[1] for path in Path("wandb").glob("offline-run-*")}
assert name == json.loads((run / "tracking.json").read_text())["wandb"]
assert summary == {"stage-1/total": 4.0, "stage-1/step": 2, "stage-2/total": 3.0, "stage-2/step": 1}, summary
""",
    "trackio": """
from trackio import Api
(found,) = Api().runs("which-beta")
assert found.name == "trial", found
""",
}

FOLLOW = """
import json, sys
from pathlib import Path
from unbraid.training.tracking import prepare, tracked, trackers, follow
run, summary = Path("which-beta/trials/trial"), {}
run.mkdir(parents=True)
service = prepare(sys.argv[1], Path("which-beta"))
for lines in ([("stage-1", 1, 5.0)], [("stage-1", 2, 4.0), ("stage-2", 1, 3.0)]):  # stopped and taken up again
    found = trackers([service], run, {"beta": 4})
    with tracked(found):
        for stage, step, value in lines:
            follow(run / stage / "log.jsonl", step, {"total": value})
        if sys.argv[1] == "wandb":
            summary |= {name: value for name, value in dict(found[0].run.summary).items() if name[0] != "_"}
"""


@pytest.mark.parametrize("service", SERVICES)
def test_the_real_service_shows_what_it_was_told(service: str, tmp_path: Path) -> None:
    package = PACKAGES[service].replace("torch.utils.", "")
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    places = {"WANDB_MODE": "offline", "TRACKIO_DIR": str(tmp_path / "trackio"), "MLFLOW_TRACKING_URI": ""}
    program = [sys.executable, "-c", FOLLOW + USES[service], service]
    done = subprocess.run(program, cwd=tmp_path, env=os.environ | places, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "follow" not in done.stderr, "no warning of a service that is left out"


def test_what_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="did you mean 'mlflow'"):
        check_service("mlfow")
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(InputError, match=r"--track wandb needs wandb: pip install 'unbraid\[tracking\]'"):
        check_service("wandb")
    assert list(SERVICES) == ["tensorboard", "mlflow", "wandb", "trackio"]
