"""The page: a run directory in, one self-contained HTML file out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unbraid.metrics.keys import HEADS
from unbraid.report.read.content import RunFiles
from unbraid.report.read.directory import read_run
from unbraid.report.render import render
from unbraid.report.sections import facts
from unbraid.report.sections.classes import classes
from unbraid.report.sections.curves import curve_groups
from unbraid.report.sections.heat import heat_map
from unbraid.report.sections.pictures import reconstructions, traversals
from unbraid.report.sections.scores import SERIES, score_rows
from unbraid.util.files import write_bytes


def write_report(run_directory: Path) -> Path:
    """Write `report.html` into a run directory from the files that are there; no model is loaded.

    Args:
        run_directory: what `fit` and `evaluate` wrote; only config.json must be there.

    Returns:
        The page, one file that fetches nothing from elsewhere.
    """
    run = read_run(Path(run_directory))
    return write_bytes(run.directory / "report.html", render("page.html.j2", **context(run)))


def context(run: RunFiles) -> dict[str, Any]:
    """Everything that the page shows of a run."""
    heat = heat_map(run)
    return {
        "title": facts.title(run),
        "methods": facts.methods(run),
        "data": facts.data_name(run),
        "name": run.name,
        "seed": run.config.get("seed"),
        "command": run.config.get("command"),
        "cards": facts.cards(run),
        "headlines": facts.headlines(run),
        "verdict": run.verdict,
        "reconstructions": reconstructions(run),
        "traversals": traversals(run),
        "classes": classes(run),
        "scores": score_rows(run),
        "label_columns": list(zip(HEADS, SERIES, strict=True)) if run.reads_labels else [],
        "heat": heat,
        "curves": curve_groups(run),
        "scales": facts.scales(run),
        "conventions": facts.conventions(run, heat),
        "environment": facts.environment(run),
        "several": len(run.stages) > 1,
    }
