"""`log.jsonl`: a line of figures every few steps."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from unbraid.training.tracking import follow
from unbraid.util.files import cannot_write, check_regular, write_text

LOG_POINTS = 200  # lines that a run should have, at least
WATCHED_POINTS = 50  # lines with losses of held-out rows, at most
WATCHED_APART = 25  # steps between two of them, at least: a look at held-out rows takes the time of a step or more
FEWEST_WATCHED = 20  # lines that a short run has all the same, for its verdict to tell whether the loss has turned


def log_interval(steps: int) -> int:
    """Steps between two lines of the log."""
    return max(1, min(100, steps // LOG_POINTS))


def is_watched(step: int, steps: int) -> bool:
    """Whether the losses of held-out rows are logged after this step: less often than those of training.

    Example:
        >>> [step for step in range(1, 11) if is_watched(step, 10)], is_watched(20_000, 20_000)
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], True)
        >>> [step for step in range(1, 101) if is_watched(step, 400)]
        [20, 40, 60, 80, 100]
    """
    each = log_interval(steps)
    apart = max(steps // WATCHED_POINTS, min(WATCHED_APART, steps // FEWEST_WATCHED))
    return step % (each * max(1, apart // each)) == 0


class Log:
    """`log.jsonl`: a line of figures every few steps. A resumed run drops the lines that it will write again."""

    def __init__(self, path: Path, start: int, *, write: bool) -> None:
        self.path, self.write, self.earlier = path, write, 0.0
        if not write:
            return
        kept = [line for line in read_log(path) if line["step"] <= start]
        self.earlier = kept[-1]["seconds"] if kept else 0.0
        # A new file, never the old one rewritten: that one may be another run's too.
        write_text(path, "".join(json.dumps(line) + "\n" for line in kept))
        self.file = path.open("a", encoding="utf-8")

    def __enter__(self) -> Log:
        self.began = time.monotonic()
        return self

    def line(self, step: int, figures: dict[str, float]) -> None:
        """Add a line, on disk at once."""
        if self.write:
            follow(self.path, step, figures)
            seconds = round(self.earlier + time.monotonic() - self.began, 3)
            try:
                self.file.write(json.dumps({"step": step, "seconds": seconds, **figures}) + "\n")
                self.file.flush()
            except OSError as error:
                raise cannot_write(self.path, error) from error

    def __exit__(self, *_: object) -> None:
        if self.write:
            try:
                self.file.close()
            except OSError as error:  # what a full disk has not taken yet
                raise cannot_write(self.path, error) from error


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a log up to the first that is broken: a kill cuts the last one short."""
    lines: list[dict[str, Any]] = []
    if not path.exists():
        return lines
    check_regular(path)
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            break
        if not (isinstance(line, dict) and _is_number(line.get("step")) and _is_number(line.get("seconds"))):
            break
        lines.append(line)
    return lines


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
