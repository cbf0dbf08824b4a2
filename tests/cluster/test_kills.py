"""A search whose processes and machines are killed ends with the same bits, and trains nothing twice."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from searches import TRIALS, contents, finished, search, wait_for

from unbraid.errors import InputError
from unbraid.search.cluster import TOKEN, RayExecutor, pack, unpack
from unbraid.search.engine import run_tasks
from unbraid.search.local import LocalExecutor
from unbraid.search.tasks import Task

ray = pytest.importorskip("ray")
SCRIPT = Path(__file__).with_name("searches.py")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("undisturbed")
    search(folder, workers=1)
    found = contents(folder)
    assert len(found) == 2 * TRIALS
    return found


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, str(SCRIPT), str(folder), "2"], start_new_session=True)


def workers_of(process: int) -> list[int]:
    """Processes that work for this one; its resource tracker has no trial."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields, command = path.read_text().rsplit(")", 1)[1].split(), (path.parent / "cmdline").read_text()
        except OSError:
            continue
        if int(fields[1]) == process and "loky" in command and "resource_tracker" not in command:
            found.append(int(path.parent.name))
    return found


def test_a_killed_worker_costs_nothing(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    driver = start(tmp_path)
    done = wait_for(tmp_path, 4)
    victims = workers_of(driver.pid)
    assert victims
    os.kill(victims[0], signal.SIGKILL)
    assert driver.wait(240) == 0, "the search goes on by itself"
    after = finished(tmp_path)
    assert len(after) == TRIALS
    assert {name: after[name] for name in done} == done
    assert contents(tmp_path) == undisturbed


def test_a_killed_driver_goes_on_when_repeated(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    driver = start(tmp_path)
    done = wait_for(tmp_path, 6)
    driver.kill()
    driver.wait()
    search(tmp_path, workers=1)
    after = finished(tmp_path)
    assert len(after) == TRIALS
    assert {name: after[name] for name in done} == done, "what was finished is not trained again"
    assert contents(tmp_path) == undisturbed


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    # Workers must find what this process finds.
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    ray.init(address=made.address, log_to_driver=False, logging_level="error")
    yield made
    ray.shutdown()
    made.shutdown()


def test_a_machine_that_goes_away_costs_nothing(tmp_path: Path, cluster: Any, undisturbed: dict[str, bytes]) -> None:
    leaving = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    gone: list[dict[str, tuple[int, int]]] = []

    def leave() -> None:
        done = wait_for(tmp_path, 4)
        cluster.remove_node(leaving, allow_graceful=False)
        gone.append(done)

    thread = threading.Thread(target=leave)
    thread.start()
    search(tmp_path, on="ray")
    thread.join()
    after = finished(tmp_path)
    assert len(after) == TRIALS
    assert {name: after[name] for name in gone[0]} == gone[0]
    assert contents(tmp_path) == undisturbed


def make_file(folder: Path, shared: Any) -> str:
    (folder / "made").write_text(f"{shared}")
    return str(folder)


def test_what_is_made_on_another_disk_comes_back(tmp_path: Path, cluster: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("unbraid.search.cluster.write_token", lambda folder: "of another disk")
    tasks = [Task(name, tmp_path / name, make_file) for name in ("one", "two")]
    found = {one.name: one for one in run_tasks(tasks, RayExecutor(), 7, title="tasks", show=False)}
    assert [(tmp_path / name / "made").read_text() for name in ("one", "two")] == ["7", "7"]
    assert all(not Path(str(one.value)).is_relative_to(tmp_path) for one in found.values())
    assert not list(tmp_path.glob(TOKEN))


def test_an_archive_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "made" / "deep").mkdir(parents=True)
    (tmp_path / "made" / "deep" / "file").write_text("new")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "rest").write_text("old")
    unpack(pack(tmp_path / "made"), tmp_path / "old")
    assert [str(path.relative_to(tmp_path)) for path in sorted((tmp_path / "old").rglob("*"))] == [
        "old/deep",
        "old/deep/file",
    ]


def die_once(folder: Path, shared: Any) -> int:
    """Killed in the middle, as the system does when memory runs out; the second time it ends."""
    if not (folder / "begun").exists():
        (folder / "begun").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 1


def die(folder: Path, shared: Any) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def live(folder: Path, shared: Any) -> int:
    return 1


def test_a_task_that_kills_its_process_each_time_is_told_from_its_neighbours(tmp_path: Path) -> None:
    works = {"a": live, "b": die_once, "c": live, "d": die, "e": live}
    tasks = [Task(name, tmp_path / name, work) for name, work in works.items()]
    found = {one.name: one.error or one.value for one in run_tasks(tasks, LocalExecutor(2), title="tasks", show=False)}
    assert found.pop("d").startswith("begun 3 times, and its process was killed each time")
    assert found == dict.fromkeys("abce", 1)


def test_a_cluster_that_is_not_there_is_said_at_once() -> None:
    ray.shutdown()
    with pytest.raises(InputError, match=r"there is no Ray cluster at ray://127.0.0.1:1 \("):
        RayExecutor("ray://127.0.0.1:1")
    with pytest.raises(InputError, match="there is no Ray cluster at ray://nowhere"):
        RayExecutor("ray://nowhere")
