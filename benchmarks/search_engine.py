"""What a search costs beside training: the engine for each trial, memory, and the table and page of 1,000 trials.

python benchmarks/search_engine.py [--trials 1000] [--workers 2]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import unbraid as ub
from unbraid.methods import BetaVAE
from unbraid.report import write_search_page
from unbraid.search.conduct import begin, plan_trials
from unbraid.search.engine import run_tasks
from unbraid.search.figures import CODES
from unbraid.search.local import LocalExecutor
from unbraid.search.results import TRIALS, Search
from unbraid.search.tasks import Task
from unbraid.search.trial import RECORD
from unbraid.util.files import write_arrays, write_json

CODES_SHAPE = (5_000, 10)


def work(folder: Path, shared: Any, seconds: float) -> float:
    """A method that takes this long, with the memory of its process as its result."""
    time.sleep(seconds)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def engine(folder: Path, trials: int, workers: int, seconds: float) -> None:
    tasks = [Task(f"{n}", folder / f"{n}", partial(work, seconds=seconds)) for n in range(trials)]
    memory: list[float] = []
    here: list[float] = []
    warm = [Task(f"warm-{n}", folder / f"warm-{n}", partial(work, seconds=0.5)) for n in range(workers)]
    list(run_tasks(warm, LocalExecutor(workers), title="warm", show=False))  # starting processes counts for all trials
    began = time.monotonic()
    for outcome in run_tasks(tasks, LocalExecutor(workers), title="tasks", show=False):
        memory.append(outcome.value)
        here.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    took = time.monotonic() - began
    own = (took - trials * seconds / workers) / trials * 1000
    tenth = max(1, trials // 10)
    print(
        f"engine: {trials} trials of {seconds:g} s on {workers} processes in {took:.1f} s: {own:.1f} ms of its own each"
    )
    print(f"memory: driver {here[tenth]:.0f} MB after {tenth} trials, {here[-1]:.0f} MB after all;", end=" ")
    print(f"workers {max(memory[:tenth]):.0f} MB, {max(memory):.0f} MB")


def page(folder: Path, trials: int) -> None:
    """Fabricate the files that finished trials leave, and make the table and the page of them."""
    data = ub.data.FactorData("noise", np.zeros((50, 8, 8, 1), np.uint8), np.zeros((50, 0)))
    vary = {"beta": [float(n) for n in range(1, trials // 5 + 1)]}
    plan = plan_trials(data, BetaVAE(), vary, None, (), 5, 10, {}, "paper", None)
    begin(folder, data, plan, vary, "udr", (), None)
    chance = np.random.default_rng(0)
    for trial in plan:
        place = folder / TRIALS / trial.name
        codes = chance.normal(size=CODES_SHAPE).astype(np.float32)
        rows = {"codes": codes, "information": np.ones(CODES_SHAPE[1]), "rows": np.arange(CODES_SHAPE[0])}
        write_arrays(place / CODES, rows)
        figures = {name: float(chance.random()) for name in ("elbo", "reconstruction", "l2", "codes_used", "mig")}
        write_json(place / RECORD, {"format": 1, "figures": figures, "seconds": 1.0})
    began, busy = time.monotonic(), time.process_time()
    found = Search(folder, plan, "udr", data)
    found.write()
    table = time.process_time() - busy
    size = write_search_page(folder).stat().st_size / 1e6
    total = time.process_time() - busy
    print(f"table of {len(plan)} trials: {table:.1f} s of one core; page: {total - table:.1f} s, {size:.1f} MB;")
    print(f"both took {time.monotonic() - began:.1f} s here")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.0, help="that a trial takes")
    known = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        engine(Path(folder) / "engine", known.trials, known.workers, known.seconds)
        page(Path(folder) / "page", known.trials)


if __name__ == "__main__":
    main()
