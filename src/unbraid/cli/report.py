"""`unbraid report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unbraid.cli.console import out
from unbraid.cli.outputs import check_replaceable
from unbraid.cli.parsers import command_parser


def report(words: Sequence[str]) -> None:
    """Write the page of one run or search, or compare several runs."""
    parser = command_parser("report", report, "unbraid report RUN [RUN …] [--out FILE]")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run directories, or that of a search")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where a comparison goes (comparison.html)")
    known = parser.parse_args(words)
    comparison = known.out or Path("comparison.html")
    if len(known.runs) > 1:
        check_replaceable(comparison, "--out")

    from unbraid.api import Run
    from unbraid.report import write_comparison, write_search_page

    if len(known.runs) == 1 and (known.runs[0] / "search.json").is_file():
        out.print(f"report: {write_search_page(known.runs[0])}", soft_wrap=True)
        return
    pages = [Run.open(folder).report() for folder in known.runs]
    page = pages[0] if len(pages) == 1 else write_comparison(known.runs, comparison)
    out.print(f"report: {page}", soft_wrap=True)
