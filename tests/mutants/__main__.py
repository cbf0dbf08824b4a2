"""Mutation testing: `make mutants`, and `make mutants-sample` for a fixed few.

python -m mutants [--rooms ops …] [--files ops/gaussian.py …] [--per-file 40] [--draw 0] [--jobs 2] [--wrong] [--report]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from functools import cache, partial
from pathlib import Path
from typing import Any

from .listed import out_of_date, wrong_mutants
from .mutant import Mutant, chosen
from .operators import mutants_of
from .scores import known_survivors, print_scores
from .session import ROOT, SOURCE, Session, digest_of, in_fork, try_mutant, with_session

ROOMS = {
    "ops": ("ops",),
    "methods": ("methods",),
    "metrics": ("metrics",),
    "nets": ("nets",),
    "training": (
        "training/averaging.py",
        "training/batches.py",
        "training/loop.py",
        "training/watching.py",
        "core/method.py",
        "core/terms.py",
        "runs/chain.py",
        "runs/codes.py",
        "runs/conditioning.py",
        "runs/directory.py",
        "runs/held_out.py",
        "runs/label_access.py",
    ),
    "measures": tuple(
        f"evaluation/{name}.py"
        for name in (
            "conditioning", "identity", "identifiability", "classes", "class_priors", "downstream", "reconstruction",
            "inception", "leakage", "lpips", "table", "generalisation", "held_out_course", "loss_course", "verdict",
        )
    ),
    "data": tuple(
        f"data/{name}.py" for name in ("pairs", "train_under", "reweight", "label_budget", "held_out")
    ),
    "search": (
        *(f"search/{name}.py" for name in ("agreement", "ranking", "effects", "halving", "budget")),
        "util/intervals.py",
        "papers/measures/rank_agreement.py",
    ),
}  # fmt: skip
# Lists, records and words: nothing is computed there.
LEFT_OUT = (
    "metrics/record.py",
    "metrics/keys.py",
    "metrics/load.py",
    "metrics/_shared/examples.py",
    "methods/budgets.py",
    "methods/recipes.py",
)
# Where tests are looked for, the room's own first.
TESTS = {
    "ops": ("tests/ops", "src/unbraid/ops", "tests/methods", "tests/nets"),
    "methods": (
        "tests/methods",
        "src/unbraid/methods",
        "tests/nets",
        "tests/ops/test_batch_bias.py",
        "tests/training/test_training_means.py",
        "tests/training/test_method_contract.py::test_method_keeps_the_contract",
    ),
    "metrics": (
        "tests/metrics",
        "src/unbraid/metrics",
        "tests/evaluation/test_stage_measures.py::test_stages_that_know_one_factor_each_know_both_together",
    ),
    "nets": ("tests/nets", "src/unbraid/nets", "tests/methods"),
    "training": (
        "tests/training/test_training_means.py",
        "tests/training/test_contract_violations.py",
        "tests/training/test_held_out_batches.py",
        "tests/training/test_loop_by_hand.py",
        "tests/training/test_logged_terms.py",
        "tests/training/test_players_by_hand.py",
        "tests/runs/test_chain_by_hand.py",
        "tests/runs/test_what_stages_see.py",
        "tests/runs/test_held_out_run.py",
        "tests/training/test_weight_decay.py",
        "tests/methods/test_updates.py",
        "tests/methods/staged/test_stages.py",
        "tests/evaluation/test_stage_measures.py",
        "tests/evaluation/test_evaluate_labels.py",
        "src/unbraid/core",
        "src/unbraid/runs",
        "src/unbraid/training",
    ),
    "measures": ("tests/evaluation", "tests/nets/test_inception.py"),
    "data": (
        "tests/data/test_chances_by_hand.py",
        "tests/data/test_pairs.py",
        "tests/data/test_train_under.py",
        "tests/data/test_reweight.py",
        "tests/data/test_label_budget.py",
        "tests/data/test_held_out.py",
        *(f"src/unbraid/data/{name}.py" for name in ("pairs", "train_under", "reweight", "label_budget", "held_out")),
    ),
    "search": ("tests/search", "tests/papers/test_rank_agreement.py", "src/unbraid/search", "src/unbraid/util"),
}
# For the sample: operations and losses, against tests that take milliseconds.
SAMPLE_TESTS = (
    "tests/ops",
    "tests/methods/test_updates.py",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests" / "methods").glob("test_loss_*.py"))),
)
MOST_SECONDS = 30.0  # of tests that a mutant is given; those of its own room first, then the others, fast ones first
CACHE = ROOT / ".mutants"


def files_of(rooms: list[str], only: list[str]) -> dict[str, list[str]]:
    """The files of each room, relative to the package."""
    found: dict[str, list[str]] = {}
    for room in rooms:
        paths = [
            path
            for part in ROOMS[room]
            for path in sorted((SOURCE / part).rglob("*.py") if not part.endswith(".py") else [SOURCE / part])
        ]
        names = [str(path.relative_to(SOURCE)) for path in paths]
        found[room] = [name for name in names if name not in LEFT_OUT and (not only or name in only)]
    return found


@cache
def source_digest(name: str) -> str:
    """What a file of the package holds; empty where it is gone."""
    path = SOURCE / name
    return digest_of(path) if path.is_file() else ""


def sources_of(entry: dict[str, Any]) -> dict[str, str]:
    """The files whose functions a test enters: one that has changed may call what it did not call before."""
    return {name: source_digest(name) for name in sorted({place.split(":")[0] for place in entry["functions"]})}


class Coverage:
    """Which test enters which function, kept from run to run while the test file and what it enters are the same."""

    def __init__(self, session: Session, folder: Path) -> None:
        self.path = folder / "coverage.jsonl"
        self.session = session
        kept = self.read()
        digests: dict[str, str] = {}
        for name in session.items:
            file = name.split("::")[0]
            digests.setdefault(file, digest_of(ROOT / file))
        self.digests = digests
        current = {
            entry["test"]: entry
            for entry in kept
            if entry["test"] in session.items
            and entry["digest"] == digests[entry["test"].split("::")[0]]
            and entry.get("sources") == sources_of(entry)
            and not entry["failed"]
        }
        missing = [name for name in session.items if name not in current]
        if missing:
            print(f"watching {len(missing)} tests", flush=True)
            raw = folder / f"watched-{os.getpid()}.jsonl"
            raw.unlink(missing_ok=True)
            in_fork(lambda: session.watch(missing, raw), quiet=True)
            for line in raw.read_text().splitlines():
                entry = json.loads(line)
                of_test = digests[entry["test"].split("::")[0]]
                current[entry["test"]] = entry | {"digest": of_test, "sources": sources_of(entry)}
            raw.unlink()
            others = [
                e for e in self.read() if e["test"] not in session.items
            ]  # another room's run may have added some
            self.path.write_text("".join(json.dumps(e) + "\n" for e in (*current.values(), *others)))
        self.failing = sorted(e["test"] for e in current.values() if e["failed"])
        self.seconds = {e["test"]: e["seconds"] for e in current.values()}
        self.by_function: dict[str, list[str]] = defaultdict(list)
        self.by_file: dict[str, list[str]] = defaultdict(list)
        for entry in current.values():
            if not entry["failed"]:
                for place in entry["functions"]:
                    self.by_function[place].append(entry["test"])
                for file in {place.split(":")[0] for place in entry["functions"]}:
                    self.by_file[file].append(entry["test"])

    def read(self) -> list[dict[str, Any]]:
        """What is on file."""
        return [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.is_file() else []

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that enter a mutant's function: its room's first, and of these the fast ones."""
        name = mutant.function or (mutant.target.split("(")[0] if mutant.target.endswith(")") else "")
        of_values = [test for test in self.seconds if "/test_defaults" in test or "/test_options" in test]
        found = self.by_function[f"{mutant.file}:{name}"] if name else self.by_file[mutant.file]
        if not mutant.function:  # a value; tests that only look at defaults enter nothing
            found = list(dict.fromkeys([*found, *of_values]))
        room = mutant.file.split("/")[0]
        ordered = sorted(found, key=lambda test: (f"/{room}/" not in test, self.seconds[test]))
        taken: list[str] = []
        total = 0.0
        for test in ordered:
            total += self.seconds[test]
            if total > MOST_SECONDS and taken:
                break
            taken.append(test)
        return taken


def run(options: argparse.Namespace, session: Session) -> None:
    """Try every mutant that was asked for and has no current result."""
    CACHE.mkdir(exist_ok=True)
    (CACHE / ".gitignore").write_text("*\n")
    coverage = Coverage(session, CACHE)
    if coverage.failing:
        print("these tests fail on the program as it is, and are left out:", *coverage.failing, sep="\n  ")
    mutants = planned(options)
    if options.sample:
        of_losses = [m for m in mutants if m.file.startswith("ops/") or m.function.endswith("loss")]
        mutants = chosen([m for m in of_losses if m.function and coverage.tests(m)], options.sample)
        (CACHE / "sample.json").write_text(json.dumps([mutant.key for mutant in mutants]))
    for number in range(options.jobs):
        if options.jobs == 1 or os.fork() == 0:
            work(session, coverage, mutants[number :: options.jobs], CACHE / f"note-{number}", options)
            if options.jobs > 1:
                os._exit(0)
    if options.jobs > 1:
        for _ in range(options.jobs):
            os.wait()


def planned(options: argparse.Namespace) -> list[Mutant]:
    """The mutants that were asked for."""
    names = [name for names in files_of(options.rooms, options.files).values() for name in names]
    sources = {name: (SOURCE / name).read_text(encoding="utf-8") for name in names}
    if options.wrong:
        return wrong_mutants(sources)
    return [
        one
        for name, source in sources.items()
        for one in chosen(mutants_of(name, source), options.per_file, options.draw)
    ]


def work(session: Session, coverage: Coverage, mutants: list[Mutant], note: Path, options: argparse.Namespace) -> None:
    """Try mutants one after another; each result is written down at once."""
    results = read_results()
    for mutant in mutants:
        tests = coverage.tests(mutant)
        given = "".join(sorted({coverage.digests[test.split("::")[0]] for test in tests}))
        if not options.again and is_current(results.get(mutant.key), given):
            continue
        began = time.monotonic()
        status, killer = ("survived", "") if not tests else try_mutant(
            session, mutant, tests, coverage.seconds, note
        )  # fmt: skip
        entry = {
            "key": mutant.key, "mutant": str(mutant), "file": mutant.file, "kind": mutant.kind, "status": status,
            "killer": killer, "killer_digest": digest_of(ROOT / killer.split("::")[0]) if killer else "",
            "tests": len(tests), "given": given, "seconds": round(time.monotonic() - began, 2),
        }  # fmt: skip
        with (CACHE / "results.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        if status != "killed":
            print(f"{status:9} {mutant}", flush=True)


def is_current(entry: dict[str, str] | None, given: str) -> bool:
    """Whether a result still holds: a kill while its test is the same, a survival while all its tests are."""
    if entry is None or entry["status"] == "broken":
        return False
    if entry["status"] == "killed" and entry["killer"]:
        return entry["killer_digest"] == digest_of(ROOT / entry["killer"].split("::")[0])
    return entry["status"] in ("timeout", "killed") or entry["given"] == given


def read_results() -> dict[str, dict[str, str]]:
    """The last result of each mutant."""
    path = CACHE / "results.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return {entry["key"]: entry for entry in map(json.loads, lines)}


def main() -> int:
    """Run, print the score, and say by the exit code whether a mutant survived that is not known to be equivalent."""
    parser = argparse.ArgumentParser(prog="make mutants", description="Mutation testing.")
    parser.add_argument("--rooms", nargs="+", default=list(ROOMS), choices=list(ROOMS))
    parser.add_argument("--files", nargs="+", default=[], help="only these, as ops/gaussian.py")
    parser.add_argument("--per-file", type=int, default=40, help="at most so many mutants of a file, drawn by lot")
    parser.add_argument("--draw", type=int, default=0, help="another lot: tests that were written against one are not")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--sample", type=int, default=0, help="so many of all mutants, always the same")
    parser.add_argument("--again", action="store_true", help="try those that have a result too")
    parser.add_argument("--wrong", action="store_true", help="the list of wrong equations in place of operators'")
    parser.add_argument("--report", action="store_true", help="only print the score of the results that are there")
    options = parser.parse_args()
    every = [name for names in files_of(list(ROOMS), []).values() for name in names]
    if options.wrong and (sentences := out_of_date(SOURCE, every)):
        print("The list of wrong equations is out of date:", *sentences, sep="\n  ")
        return 2
    if not options.report:
        rooms = options.rooms
        for part in [rooms] if options.sample else [[room] for room in rooms]:
            options.rooms = part
            paths = SAMPLE_TESTS if options.sample else TESTS[part[0]]
            in_fork(partial(with_session, list(paths), partial(run, options)))
        options.rooms = rooms
    mutants = planned(options)
    if options.sample:
        keys = set(json.loads((CACHE / "sample.json").read_text()))
        mutants = [mutant for mutant in mutants if mutant.key in keys]
    return print_scores(mutants, read_results(), files_of(options.rooms, options.files), known_survivors())


if __name__ == "__main__":
    sys.exit(main())
