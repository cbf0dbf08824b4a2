"""A pytest session that is collected once, in which tests are run in forks: on the program as it is, or on a mutant."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from .live import find_functions, put_in
from .mutant import Mutant

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "unbraid"
PASSED, FAILED, BROKEN = 0, 1, 3
GIGABYTE = 2**30


class Session:
    """What pytest has collected, and how to run some of it in a fork."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        self.items = {item.nodeid: item for item in items}

    def run(self, names: Sequence[str], usual: Mapping[str, float]) -> str:
        """The first of these tests that fails, or takes ten times as long as usual; nothing if none does."""
        items = [self.items[name] for name in names if name in self.items]
        signal.signal(signal.SIGPROF, _too_long)
        for item, following in zip(items, [*items[1:], None], strict=True):
            signal.setitimer(signal.ITIMER_PROF, 5 + 10 * usual.get(item.nodeid, 0.0))
            reports = runtestprotocol(item, nextitem=following, log=False)
            signal.setitimer(signal.ITIMER_PROF, 0)
            if any(report.failed for report in reports):
                return item.nodeid
        return ""

    def watch(self, names: Sequence[str], into: Path) -> None:
        """For each test: its seconds, and the functions of the package that it enters. One line each, as JSON."""
        items = [self.items[name] for name in names]
        with into.open("a", encoding="utf-8") as file:
            for item, following in zip(items, [*items[1:], None], strict=True):
                seen: set[CodeType] = set()

                def entered(frame: FrameType, event: str, _: Any, seen: set[CodeType] = seen) -> None:
                    if event == "call":
                        seen.add(frame.f_code)

                began = time.process_time()
                sys.setprofile(entered)
                reports = runtestprotocol(item, nextitem=following, log=False)
                sys.setprofile(None)
                failed = any(report.failed for report in reports)
                seconds = round(time.process_time() - began, 3)
                functions = sorted({place for code in seen if (place := place_of(code))})
                entry = {"test": item.nodeid, "seconds": seconds, "failed": failed, "functions": functions}
                file.write(json.dumps(entry) + "\n")
                file.flush()


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TimeoutError("a mutant that does not come to an end")


def place_of(code: CodeType) -> str:
    """`ops/gaussian.py:kl` of the code of a function of the package, or of one inside it; empty for others."""
    if not code.co_filename.startswith(str(SOURCE)):
        return ""
    function = code.co_qualname.split(".<locals>")[0]
    return f"{Path(code.co_filename).relative_to(SOURCE)}:{function}"


def in_fork(do: Callable[[], int | None], seconds: float = 7200, wall: float = 72000, quiet: bool = False) -> int:
    """The exit code of `do` in a child that may use so many seconds of a processor; negative if it was killed."""
    child = os.fork()
    if child == 0:
        try:
            if quiet:
                nothing = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nothing, 1)
                os.dup2(nothing, 2)
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
            resource.setrlimit(resource.RLIMIT_DATA, (6 * GIGABYTE, 6 * GIGABYTE))  # some mutants ask for all there is
            code = do() or PASSED
        except BaseException:
            traceback.print_exc()
            code = FAILED
        os._exit(code)
    ends = time.monotonic() + wall
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > ends:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -signal.SIGKILL
        time.sleep(0.002)


def try_mutant(
    session: Session, mutant: Mutant, tests: Sequence[str], usual: Mapping[str, float], note: Path
) -> tuple[str, str]:
    """Run a mutant against its tests.

    Args:
        session: where they are collected.
        mutant: what to put in.
        tests: their names, in order.
        usual: seconds that each takes on the program as it is.
        note: a file for what the child has to say.

    Returns:
        "killed", "timeout", "survived" or "broken" (it could not be put in), and the test that killed it.
    """
    note.write_text("")

    def child() -> int:
        try:
            put_in(mutant, SOURCE / mutant.file)
        except Exception:
            note.write_text(traceback.format_exc())
            return BROKEN
        killer = session.run(tests, usual)
        note.write_text(killer)
        return FAILED if killer else PASSED

    seconds = 4 * sum(usual.get(test, 0.0) for test in tests) + 10
    code = in_fork(child, seconds, wall=10 * seconds, quiet=True)
    if code == PASSED:
        return "survived", ""
    if code == BROKEN:
        return "broken", note.read_text().strip().splitlines()[-1]
    return ("timeout" if code < 0 else "killed"), note.read_text()


def with_session(paths: Sequence[str], do: Callable[[Session], None]) -> None:
    """Collect these test files and hand the session over."""

    class Plugin:
        def pytest_runtestloop(self, session: pytest.Session) -> bool:
            for module in modules():
                importlib.import_module(module)
            find_functions()
            do(Session(session.items))
            return True

    os.chdir(ROOT)
    options = [
        "-q",
        "-s",
        "--no-header",
        "--no-summary",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-p",
        "no:randomly",
    ]
    pytest.main([*options, *paths], plugins=[Plugin()])


def modules() -> Iterable[str]:
    """Every module of the rooms that are mutated: a mutant needs its functions to be there."""
    for room in ("ops", "nets", "methods", "metrics", "evaluation", "training", "data", "search", "papers/measures"):
        for path in sorted((SOURCE / room).rglob("*.py")):
            yield ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


def digest_of(path: Path) -> str:
    """A digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else ""
