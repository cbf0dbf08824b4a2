"""`unbraid explore`."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from pathlib import Path

from unbraid.cli.console import out
from unbraid.cli.export import print_page
from unbraid.cli.parsers import command_parser


def explore(words: Sequence[str]) -> None:
    """Open a run's page with sliders in the browser."""
    parser = command_parser("explore", explore, "unbraid explore RUN [--no-open]")
    parser.add_argument("run", type=Path, metavar="RUN", help="a run directory")
    parser.add_argument("--no-open", action="store_true", help="only write the page, RUN/explorer.html")
    known = parser.parse_args(words)

    from unbraid.api import Run
    from unbraid.explore.builder import write_page

    page = known.run / "explorer.html"
    print_page(page, write_page(Run.open(known.run), page))
    if not known.no_open and not webbrowser.open(page.resolve().as_uri()):
        out.print("no browser was found here: open the file in one.")
