"""`unbraid report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unbraid.cli.console import out
from unbraid.cli.outputs import check_replaceable
from unbraid.cli.parsers import command_parser
from unbraid.errors import InputError

SMOOTH = 17  # values that a code takes in an animation


def report(words: Sequence[str]) -> None:
    """Write the page of one run or search, or compare several runs; or write an animation of what a run's codes do."""
    parser = command_parser("report", report, "unbraid report RUN [RUN …] [--out FILE] [--gif [FILE]]")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run directories, or that of a search")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where a comparison goes (comparison.html)")
    parser.add_argument(
        "--gif", nargs="?", type=Path, const=Path(), metavar="FILE", help="what codes do, moving (RUN/traversals.gif)"
    )
    parser.add_argument("--latents", metavar="NAMES", help="of --gif: z1,z3 or given names (those in use)")
    parser.add_argument("--row", type=int, metavar="N", help="of --gif: which observation of the data, from 0")
    known = parser.parse_args(words)
    if known.gif is None and (known.latents is not None or known.row is not None):
        raise InputError("--latents and --row choose what --gif shows: add --gif.")
    if known.gif is not None and len(known.runs) > 1:
        raise InputError("--gif shows one run: name one.")
    comparison = known.out or Path("comparison.html")
    if len(known.runs) > 1:
        check_replaceable(comparison, "--out")

    from unbraid.api import Run
    from unbraid.report import write_comparison, write_search_page

    if len(known.runs) == 1 and (known.runs[0] / "search.json").is_file():
        if known.gif is not None:
            raise InputError("--gif shows one run, and this is a search: name one of its runs.")
        out.print(f"report: {write_search_page(known.runs[0])}", soft_wrap=True)
        return
    runs = [Run.open(folder) for folder in known.runs]
    pages = [run.report() for run in runs]
    page = pages[0] if len(pages) == 1 else write_comparison(known.runs, comparison)
    out.print(f"report: {page}", soft_wrap=True)
    if known.gif is not None:
        target = known.runs[0] / "traversals.gif" if known.gif == Path() else known.gif
        moved = runs[0].traverse(row=known.row, latents=known.latents, steps=SMOOTH)
        out.print(f"gif: {moved.save(target)}", soft_wrap=True)
