"""`unbraid reproduce`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unbraid.cli.console import out, print_table
from unbraid.cli.parsers import command_parser, whole_number
from unbraid.cli.study_list import listed_studies
from unbraid.errors import unknown


def reproduce(words: Sequence[str]) -> None:
    """Run a result of the papers again, at a scale that suits the machine."""
    usage = "unbraid reproduce [PAPER[/RESULT]] [--scale smoke|desk|paper] [--page]"
    parser = command_parser("reproduce", reproduce, usage)
    parser.add_argument("name", nargs="?", metavar="PAPER/RESULT", help="left out: list them")
    parser.add_argument(
        "--scale", default="desk", choices=("smoke", "desk", "paper"), help="seconds, hours, or the paper's"
    )
    parser.add_argument("--out", type=Path, default=Path("runs"), metavar="FOLDER", help="where runs go (runs)")
    parser.add_argument("--results", type=Path, default=Path("docs/results"), metavar="FOLDER", help="where pages go")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--workers", type=whole_number, metavar="N", help="processes at a time (one a core)")
    parser.add_argument("--on", default="local", metavar="WHERE", help="local, ray or ray://HOST:PORT (local)")
    how.add_argument("--page", action="store_true", help="write the page from finished runs, train nothing")
    known = parser.parse_args(words)

    if known.name is None:
        print_table(("study", "what it shows"), list(listed_studies().items()))
        return

    from unbraid import papers

    chosen = [name for name in papers.STUDIES if name == known.name or name.startswith(f"{known.name}/")]
    if not chosen:
        raise unknown("study", known.name, papers.STUDIES)
    for name in chosen:
        page = papers.reproduce(
            name,
            known.scale,
            out=known.out,
            results=known.results,
            workers=known.workers,
            on=known.on,
            train=not known.page,
        )
        out.print(f"result: {page}", soft_wrap=True)
