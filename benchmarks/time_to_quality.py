"""CPU seconds against what was learned: our fast recipes, the papers' settings, and pythae's trainer at its defaults.

    OMP_NUM_THREADS=1 python benchmarks/time_to_quality.py --pythae PYTHON_THAT_HAS_PYTHAE

Every contestant has the same CPU seconds of one thread for its first stage, and the first two as many for a second.
Seeds come one after another and contestants take turns within each, so that what was run so far is always a fair
comparison. Each run is written down when it is done, and a repeated command goes on with the next. pythae need not be
there: make an environment with `pip install pythae` and name its Python; without it that contestant is left out.
"""

import argparse
import json
import shutil
import subprocess
import time
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch

import unbraid as ub
from time_to_quality_page import write_page
from unbraid.core import MethodConfig
from unbraid.data.factor_data import FactorData
from unbraid.errors import InputError
from unbraid.methods import MSVAE, BetaTCVAE, recipes
from unbraid.methods.recipes import Recipe, Traits
from unbraid.runs.chain import Chain, means
from unbraid.runs.codes import choose_rows
from unbraid.runs.directory import RunDirectory
from unbraid.runs.plan import Plan
from unbraid.training.loop import Job
from unbraid.training.machine import Machine
from unbraid.training.pace import measure

# Name: what is loaded, and CPU seconds of the first and the second stage.
DATA: dict[str, tuple[str, dict[str, Any], float, float]] = {
    "scenes 32×32": ("scenes", {"size": 32}, 60, 40),
    "sprites 32×32": ("sprites", {"size": 32}, 140, 0),
    "cars3d": ("cars3d", {}, 60, 80),
    "scenes 64×64": ("scenes", {}, 60, 60),
}
CONTESTANTS = ("fast", "paper", "pythae")
MARKS = (0.25, 0.5, 0.75, 1.0)  # parts of a stage after which is looked
CODES, IMAGES = 10_000, 1000  # observations that MIG and errors are of
SLACK = 1.03  # logs and averages of weights beside the steps that are measured
Point = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(DATA), choices=list(DATA))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--contestants", nargs="+", default=list(CONTESTANTS), choices=CONTESTANTS)
    parser.add_argument("--pythae", help="a Python that has pythae")
    parser.add_argument("--out", type=Path, default=Path("runs/time-to-quality"), help="runs, and what was measured")
    parser.add_argument("--page", type=Path, help="the page to write, as docs/time-to-quality.md; its plot beside it")
    given = parser.parse_args()
    torch.set_num_threads(1)
    names = [name for name in given.contestants if name != "pythae" or given.pythae]
    if names != given.contestants:
        print("pythae is left out: pass --pythae with a Python that has it.")
    for seed in given.seeds:
        for data_name in given.data:
            data = None
            for contestant in names:
                place = given.out / f"{data_name.replace('×', 'x').replace(' ', '-')}-{contestant}-{seed}"
                if place.with_suffix(".json").is_file():
                    continue
                data = data if data is not None else loaded(data_name)
                if data is None:
                    break
                shutil.rmtree(place, ignore_errors=True)  # a run that was cut short does not tell its CPU time
                found = run_one(data, DATA[data_name][2:], contestant, seed, place, given.pythae)
                found |= {"data": data_name, "contestant": contestant, "seed": seed}
                place.with_suffix(".json").write_text(json.dumps(found, indent=1))
                print({name: value for name, value in found.items() if name != "stages"}, flush=True)
    results, parts = kept(given.out), kept(given.out / "ablation")
    if given.page and results:
        write_page(given.page, results, {name: DATA[name][2:] for name in DATA}, parts)


def kept(folder: Path) -> list[dict[str, Any]]:
    """What was written down in a folder so far."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def loaded(name: str) -> FactorData | None:
    """The data set, or a sentence why it is left out."""
    try:
        return ub.data.load(DATA[name][0], **DATA[name][1])
    except InputError as error:
        print(f"{name} is left out: {error}")
        return None


def run_one(
    data: FactorData, seconds: tuple[float, float], contestant: str, seed: int, place: Path, python: str | None
) -> dict[str, Any]:
    """One contestant on one data set with one seed: MIG and errors at each mark."""
    place.mkdir(parents=True)
    if contestant == "pythae":
        assert python is not None
        return run_pythae(data, seconds[0], seed, place, python)
    return run_ours(data, seconds, "fast" if contestant == "fast" else "paper", seed, place)


def run_ours(data: FactorData, seconds: tuple[float, float], recipe: Recipe, seed: int, place: Path) -> dict[str, Any]:
    """Both stages by one recipe, the second only where it has time."""
    chain = [recipes.start(method, recipe, Traits.of(data)) for method in (BetaTCVAE, MSVAE)]
    machine = Machine("cpu", precision="auto" if recipe == "fast" else "32-true")
    steps: list[int] = []
    marks: list[list[int]] = []
    spent: list[float] = []
    for number, time_left in enumerate(seconds, 1):
        if not time_left:
            break
        steps.append(steps_within(data, chain[:number], machine, seed, place, time_left))
        marks.append(sorted({max(1, round(part * steps[-1])) for part in MARKS}))
        keeping = Machine("cpu", precision=machine.precision, keep=tuple(marks[-1]))
        began = time.process_time()
        run = ub.fit(data, chain[:number], steps=steps, seed=seed, out=place / str(number), machine=keeping, show=False)
        spent.append(time.process_time() - began)
    first = [
        {"seconds": spent[0] * step / steps[0], **scores(run, data, Chain([run.stage_after(1, step)]), seed)}
        for step in marks[0]
    ]
    stages = [{"steps": steps[0], "points": first}]
    final: dict[str, Any] = {"mig": first[-1]["mig"], "seconds": spent[0]}
    if len(steps) > 1:
        later = [
            {
                "seconds": sum(spent[:1]) + spent[1] * step / steps[1],
                "l2": error(run, data, Chain([run.stage(1), run.stage_after(2, step)]), seed),
            }
            for step in marks[1]
        ]
        stages.append({"steps": steps[1], "points": later})
        found = run.evaluate(["conditioning"], rows=IMAGES, show=False)
        final |= {name: found[f"conditioning/{name}"]["value"] for name in ("M1", "M2", "M3", "M4")}
        final |= {"l2_part": later[-1]["l2"] / first[-1]["l2"], "seconds": sum(spent)}
    return {**final, "stages": stages}


def steps_within(
    data: FactorData, chain: list[MethodConfig], machine: Machine, seed: int, place: Path, seconds: float
) -> int:
    """How many steps of the last stage of a chain so many CPU seconds allow, by the pace of a copy."""
    number = len(chain)
    run = RunDirectory(place / "pace", Plan.check(data, chain, [1] * number, seed), data)
    source = run.training_data(number, data.observations if number > 1 else None)
    job = Job(run.plan.stages[-1][0], source, 1, seed, "", place / "pace")  # planned: its likelihood is chosen
    return max(1, int(seconds / (measure(job, machine, 2.0, time.process_time).step * SLACK)))


def scores(run: ub.Run, data: FactorData, chain: Chain, seed: int) -> Point:
    """MIG of a first stage's codes and the squared error of what it makes of the data."""
    rows = choose_rows(len(data), CODES, seed)
    parts = [means(chain.encode(x, labels)[0])["z"].cpu().numpy() for x, labels in run.batches(rows, "", show=False)]
    gap = ub.metrics.mig(np.concatenate(parts), data.factors[rows], replicates=0)
    return {"mig": gap.value, "l2": error(run, data, chain, seed)}


def error(run: ub.Run, data: FactorData, chain: Chain, seed: int) -> float:
    """The mean squared error of a chain's reconstructions."""
    rows = choose_rows(len(data), IMAGES, seed)
    parts = [
        float(((chain.reconstruct(x, labels)[-1] - x) ** 2).sum()) for x, labels in run.batches(rows, "", show=False)
    ]
    return sum(parts) / (len(rows) * prod(data.shape))


def run_pythae(data: FactorData, seconds: float, seed: int, place: Path, python: str) -> dict[str, Any]:
    """The first stage by pythae, in a process of its own."""
    rows = choose_rows(len(data), CODES, seed)
    np.save(place / "images.npy", np.asarray(data.observations))
    np.save(place / "rows.npy", rows)
    script = Path(__file__).with_name("pythae_trainer.py")
    files = [str(place / name) for name in ("images.npy", "rows.npy", "found.npz")]
    marks = [str(part * seconds) for part in MARKS]
    words = [python, str(script), *files, "--seed", str(seed), "--marks", *marks]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (place / "images.npy").unlink()
    found = np.load(place / "found.npz")
    points = [
        {
            "seconds": float(found[f"seconds/{number}"]),
            "mig": ub.metrics.mig(found[f"codes/{number}"], data.factors[rows], replicates=0).value,
            "l2": float(found[f"l2/{number}"]),
        }
        for number in range(len(MARKS))
    ]
    stages = [{"steps": int(found[f"steps/{len(MARKS) - 1}"]), "points": points}]
    return {"mig": points[-1]["mig"], "seconds": points[-1]["seconds"], "stages": stages}


if __name__ == "__main__":
    main()
