"""`unbraid report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unbraid.cli.console import out
from unbraid.cli.outputs import check_replaceable
from unbraid.cli.parsers import command_parser


def report(words: Sequence[str]) -> None:
    """Write the page of one run, or compare several."""
    parser = command_parser("report", report, "unbraid report RUN [RUN …] [--out FILE]")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run directories")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where a comparison goes (comparison.html)")
    known = parser.parse_args(words)
    comparison = known.out or Path("comparison.html")
    if len(known.runs) > 1:
        check_replaceable(comparison, "--out")

    from unbraid.api import Run
    from unbraid.report import write_comparison

    pages = [Run.open(folder).report() for folder in known.runs]
    page = pages[0] if len(pages) == 1 else write_comparison(known.runs, comparison)
    out.print(f"report: {page}", soft_wrap=True)
