"""What a person sees while something takes longer than a second."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 15.0
SECONDS_BETWEEN_REFRESHES = 0.2


class Steps:
    """A bar with steps/s, time left and the newest figures; plain lines now and then where there is no terminal."""

    def __init__(self, title: str, total: int, *, start: int = 0, show: bool = True, console: Console | None = None):
        self.title, self.total, self.start, self.show = title, total, start, show
        self.console = console or Console(stderr=True)
        self.began = self.last = time.monotonic()
        self.step = start
        self.figures = ""
        self.bar: Progress | None = None
        self.task = TaskID(0)

    def __enter__(self) -> Steps:
        if self.show and self.console.is_terminal:
            self.bar = Progress(
                TextColumn("[bold]{task.description}"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                TextColumn("[dim]{task.fields[figures]}"),
                console=self.console,
                refresh_per_second=1 / SECONDS_BETWEEN_REFRESHES,
            )
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=self.total, completed=self.start, rate="", figures="")
        return self

    def advance(self, step: int, *, note: str | None = None) -> None:
        """`step` steps are done; a note, where there is a new one, is shown beside the bar."""
        self.step = step
        if note is not None:
            self.figures = note
        now = time.monotonic()
        if not self.show or now - self.last < (SECONDS_BETWEEN_REFRESHES if self.bar else SECONDS_BETWEEN_LINES):
            return
        self.last = now
        if self.bar:
            rate = f"{self.rate(now):.1f}/s"
            self.bar.update(self.task, completed=step, total=self.total, rate=rate, figures=self.figures)
        else:
            left = (self.total - step) / max(self.rate(now), 1e-9)
            line = f"{self.title}: {step}/{self.total}, {self.rate(now):.1f}/s, {duration(left)} left"
            self.console.print(f"{line}  {self.figures}".rstrip(), highlight=False, soft_wrap=True)

    def rate(self, now: float) -> float:
        """Steps a second since the start."""
        return (self.step - self.start) / max(now - self.began, 1e-9)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.bar:
            now = time.monotonic()
            self.bar.update(self.task, completed=self.step, rate=f"{self.rate(now):.1f}/s", figures=self.figures)
            self.bar.stop()
        elif self.show and kind is None:
            line = f"{self.title}: done in {duration(time.monotonic() - self.began)}  {self.figures}"
            self.console.print(line.rstrip(), highlight=False, soft_wrap=True)


def duration(seconds: float) -> str:
    """Seconds as people say them.

    Example:
        >>> duration(7), duration(200), duration(7500)
        ('7 s', '3 min 20 s', '2 h 5 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
