"""A run as notebooks show it: a line of text, or a small piece of HTML from the files that are there."""

from __future__ import annotations

from pathlib import Path

from unbraid.report.read.content import RunFiles
from unbraid.report.read.directory import read_run
from unbraid.report.render import render
from unbraid.report.sections import facts
from unbraid.report.sections.pictures import reconstructions
from unbraid.report.sections.scores import value_text

FRAME = 64  # pixels of a picture's side
NAMED = 4  # scores in a line of text
TABLES = 3  # rows of a table that are shown beside their reconstructions


def run_line(folder: Path) -> str:
    """What a run is and how it scores, in one line.

    Args:
        folder: a run directory.
    """
    run = read_run(folder)
    unfinished = [stage.number for stage in run.stages if stage.parameters is None]
    parts = [f"Run({str(folder)!r}: {facts.title(run)}"]
    parts += [f"stage {unfinished[0]} is not finished"] if unfinished else []
    parts += [f"{name} {value}" for name, value in score_values(run)[:NAMED]]
    return ", ".join(parts) + ")"


def run_html(folder: Path) -> str:
    """Title, verdict, reconstructions and scores of a run, as far as its directory holds them.

    Args:
        folder: a run directory.

    Returns:
        HTML that fetches nothing and needs no style sheet.
    """
    run = read_run(folder)
    shown = reconstructions(run, target=FRAME)
    return render(
        "notebook.html.j2",
        title=facts.title(run),
        folder=str(folder),
        verdict=run.verdict,
        strips=shown.strips if shown is not None else (),
        tables=shown.panels[:TABLES] if shown is not None and run.columns is not None else (),
        scores=score_values(run),
    ).decode("utf-8")


def score_values(run: RunFiles) -> list[tuple[str, str]]:
    """Scores by name, as text."""
    return [(score.name, value_text(score.display, score.value)) for score in run.metrics]
