"""`unbraid data`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from unbraid.cli.console import out, print_table
from unbraid.cli.outputs import check_replaceable
from unbraid.cli.parsers import command_parser
from unbraid.errors import InputError, unknown

ACTIONS = ("list", "get", "info")


def data(words: Sequence[str]) -> None:
    """List data sets, get one, or look at one before an hour is spent on it."""
    usage = "unbraid data list | get NAME | info NAME|PATH [--picture FILE] [--ARGUMENT VALUE …]"
    parser = command_parser("data", data, usage)
    parser.add_argument("action", metavar="list|get|info", help="what to do")
    parser.add_argument("name", nargs="?", metavar="NAME", help="a data set's name, or a path")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="info: draw some of the observations here, PNG")
    known, rest = parser.parse_known_args(words)
    if known.action not in ACTIONS:
        raise unknown("action of unbraid data", known.action, ACTIONS)
    if known.action == "list":
        list_data()
        return
    if known.name is None:
        raise InputError(f"unbraid data {known.action} needs a name; unbraid data list shows them.")
    if known.picture is not None:
        check_replaceable(known.picture, "--picture")

    from unbraid import data as library
    from unbraid.cli import options

    arguments = options.data_arguments([(name.removeprefix("data."), text) for name, text in options.pairs(rest)])
    if known.action == "get" and known.name not in library.BUILT_IN:
        library.get(known.name, **arguments)
    seen = library.info(known.name, **arguments)
    for line in seen.lines():
        out.print(Text(line), soft_wrap=True)
    if known.picture is not None and seen.data is not None:
        out.print(f"picture: {library.contact_sheet(seen.data, known.picture)}", soft_wrap=True)


def list_data() -> None:
    """Print every data set, where it is, and what it is."""
    from unbraid.data import BUILT_IN, catalogue

    rows = [(name, "built in", about) for name, about in BUILT_IN.items()]
    rows += [(e.name, "here" if e.here else "to get", f"{e.title}; {e.licence}") for e in catalogue().values()]
    print_table(("data", "where", "what it is"), rows)
