"""`unbraid methods`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from unbraid.cli.console import first_line, out, print_table
from unbraid.cli.method_list import listed_methods
from unbraid.cli.parsers import command_parser


def methods(words: Sequence[str]) -> None:
    """List the methods, or the options of one."""
    parser = command_parser("methods", methods, "unbraid methods [NAME]")
    parser.add_argument("name", nargs="?", metavar="NAME", help="show the options of this method")
    known = parser.parse_args(words)
    if known.name is None:
        rows = [(method.name, method.summary, method.paper) for method in listed_methods()]
        print_table(("method", "what it is", "paper"), rows)
        out.print("\n[dim]unbraid methods NAME lists the options of one.")
    else:
        show_options(known.name)


def show_options(name: str) -> None:
    """Print what a method is and all its options.

    Args:
        name: the method's name on the command line.
    """
    from unbraid.methods import by_name, recipes
    from unbraid.util.option_paths import describe_options
    from unbraid.util.schema import typed

    config = by_name(name)
    out.print(Text(first_line(config.__doc__), style="bold"), Text(f"({config.paper})" if config.paper else ""))
    if config.when:
        out.print(Text(f"When to use it: {config.when}"), soft_wrap=True)
    if config.conditional:
        out.print("A later stage: it follows another method, as in --method beta-tcvae " + config.name)
    if config.uses_labels:
        out.print("It learns from labels: --labels 256 (or 0.5%) and --label-factors NAME say which it may see.")
    fast = recipes.changes(config)
    if fast:
        changed = " ".join(f"--{typed(option)} {value}" for option, value in fast)
        out.print(Text(f"unbraid fit starts from {changed}; --recipe paper from the defaults below."), soft_wrap=True)
    rows = [(f"--{typed(option)}", str(default), about) for option, default, about in describe_options(config)]
    print_table(("option", "default", "meaning"), rows)
