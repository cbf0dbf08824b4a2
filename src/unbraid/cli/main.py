"""The table of commands, and what happens when one fails."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence

from unbraid._version import __version__
from unbraid.cli.console import complain, first_line, out
from unbraid.cli.data import data
from unbraid.cli.decode import decode
from unbraid.cli.demo import demo
from unbraid.cli.encode import encode
from unbraid.cli.evaluate import evaluate
from unbraid.cli.explore import explore
from unbraid.cli.export import export
from unbraid.cli.fit import fit
from unbraid.cli.methods import methods
from unbraid.cli.metrics import metrics
from unbraid.cli.report import report
from unbraid.cli.reproduce import reproduce
from unbraid.cli.search import search
from unbraid.cli.streams import make_printable
from unbraid.errors import InputError, Interrupted, unknown

# Each command imports what it computes with only when it runs, so that help and lists appear at once.
COMMANDS: dict[str, Callable[[Sequence[str]], None]] = {
    "demo": demo,
    "fit": fit,
    "search": search,
    "encode": encode,
    "decode": decode,
    "evaluate": evaluate,
    "report": report,
    "explore": explore,
    "export": export,
    "data": data,
    "reproduce": reproduce,
    "methods": methods,
    "metrics": metrics,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: the words after `unbraid`; those of this process by default.

    Returns:
        The exit code: 0, 2 for bad input, 130 for a run that was asked to stop.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    make_printable()
    # Before torch starts: its idle threads would otherwise spin, at the cost of whatever else the machine does.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    logging.basicConfig(format="unbraid: %(message)s", level=logging.WARNING)
    logging.getLogger("unbraid").setLevel(logging.INFO)
    if not words or words[0] in ("-h", "--help", "help"):
        print_help()
        return 0
    if words[0] == "--version":
        out.print(f"unbraid {__version__}")
        return 0
    try:
        if words[0] not in COMMANDS:
            raise unknown("command", words[0], COMMANDS)
        COMMANDS[words[0]](words[1:])
    except InputError as error:
        complain(str(error))
        return 2
    except KeyboardInterrupt:
        complain("stopped.")
        return 130
    except Interrupted as stopped:
        complain(str(stopped))
        return 130
    return 0


def print_help() -> None:
    """Print what the tool is and what it can do, on one screen."""
    out.print("[bold]unbraid[/] learns the independent factors behind images and signals,")
    out.print("keeps reconstructions sharp, measures both, and shows the result.\n")
    for name, function in COMMANDS.items():
        out.print(f"  [bold]unbraid {name:<10}[/] {first_line(function.__doc__)}")
    out.print("\n[dim]unbraid COMMAND --help says more. Start with: unbraid demo")
