"""`unbraid explore`."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unbraid.cli.console import out
from unbraid.cli.export import print_page
from unbraid.cli.parsers import command_parser
from unbraid.errors import InputError

if TYPE_CHECKING:
    from unbraid.api import Run


def explore(words: Sequence[str]) -> None:
    """Open a run's page with sliders in the browser."""
    parser = command_parser("explore", explore, "unbraid explore RUN [--no-open] [--serve [--port N]]")
    parser.add_argument("run", type=Path, metavar="RUN", help="a run directory")
    parser.add_argument("--no-open", action="store_true", help="only write the page, RUN/explorer.html")
    parser.add_argument(
        "--serve", action="store_true", help="leave the model here, for models too large for a page, and wait"
    )
    parser.add_argument("--port", type=int, metavar="N", help="of --serve (any that is free)")
    known = parser.parse_args(words)
    if known.port is not None and not known.serve:
        raise InputError("--port is where --serve waits: add --serve.")

    from unbraid.api import Run

    run = Run.open(known.run)
    if known.serve:
        serve(run, known.port or 0, opens=not known.no_open)
        return
    from unbraid.explore.builder import write_page

    page = known.run / "explorer.html"
    print_page(page, write_page(run, page))
    if not known.no_open:
        open_browser(page.resolve().as_uri())


def serve(run: Run, port: int, *, opens: bool) -> None:
    """Answer the browser until Ctrl-C.

    Args:
        run: whose page it is.
        port: 0 for any that is free.
        opens: whether to open the page.
    """
    from unbraid.explore.server import ExplorerServer

    with ExplorerServer(run, port) as server:
        out.print(f"explorer: {server.address} (on this machine alone; Ctrl-C ends it)", soft_wrap=True)
        if opens:
            open_browser(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            out.print("ended.")


def open_browser(address: str) -> None:
    """Open a page, or say that there is no browser."""
    if not webbrowser.open(address):
        out.print("no browser was found here: open the address in one.")
