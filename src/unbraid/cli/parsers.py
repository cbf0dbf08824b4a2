"""Shared argparse helpers."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from unbraid.errors import InputError
from unbraid.util.lists import split_list

if TYPE_CHECKING:
    from unbraid.data.held_out import HeldOut
    from unbraid.training.machine import Machine


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise `InputError` instead of printing the usage and leaving the process."""
        raise InputError(f"{message}; see {self.prog} --help.")


class ListOf(argparse.Action):
    """An option with a list as its value, written `a,b` or `a b`; `item` makes an item of its text."""

    def __init__(self, option_strings: Sequence[str], dest: str, item: Callable[[str], Any] = str, **options: Any):
        super().__init__(option_strings, dest, nargs="+", **options)
        self.item = item

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        """Take the words apart and keep the items."""
        try:
            setattr(namespace, self.dest, [self.item(text) for text in split_list(values)])
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, str(error)) from None
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise argparse.ArgumentError(self, f"invalid {self.item.__name__} value in {values!r}") from None


def command_parser(name: str, function: Callable[[Sequence[str]], None], usage: str) -> Parser:
    """The parser of a command.

    Args:
        name: the command's name.
        function: the command, whose docstring describes it.
        usage: the line that its help starts with.

    Returns:
        A parser without arguments, in which options cannot be abbreviated.
    """
    return Parser(prog=f"unbraid {name}", usage=usage, description=function.__doc__, allow_abbrev=False)


def add_held_out(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which observations no training sees; `held_out` reads them."""
    parser.add_argument(
        "--held-out",
        type=part_of_data,
        metavar="PART",
        help="of the data that no training sees (0.1 of your own, else 0)",
    )
    parser.add_argument("--held-out-by", metavar="NAME", help="a factor whose values stay together: patient, day, …")


def held_out(known: argparse.Namespace) -> HeldOut | float | None:
    """What `add_held_out`'s options ask for; None: nothing was said."""
    from unbraid.data.held_out import SHARE, HeldOut

    part: float | None = known.held_out
    return HeldOut(SHARE if part is None else part, known.held_out_by) if known.held_out_by else part


def add_machine(parser: argparse.ArgumentParser, *, precision: str | None = "32-true") -> None:
    """Add the options that say where to compute; `machine` reads them.

    Args:
        parser: of a command that trains.
        precision: what is used where none is named; None if the command finds that out itself.
    """
    usual = precision or "32-true; auto without --method or with --minutes"
    parser.add_argument("--device", default="auto", metavar="NAME", help="auto, cpu, cuda, mps (auto)")
    parser.add_argument(
        "--devices", type=whole_number, default=1, metavar="N", help="processes that train together (1)"
    )
    parser.add_argument(
        "--precision",
        default=precision,
        metavar="NAME",
        help=f"32-true, bf16-mixed, … or auto: whichever of these two is faster here ({usual})",
    )
    parser.add_argument("--threads", type=whole_number, metavar="N", help="CPU threads (as many as cores)")
    parser.add_argument("--save-every", type=float, default=60.0, metavar="S", help="seconds between checkpoints (60)")
    parser.add_argument("--quiet", action="store_true", help="no progress")


DATA_LISTS = {
    "factors": "columns, or arrays of an .npz, that are labels",
    "exclude": "columns of a table to leave out",
    "log1p": "columns of which to learn from log(1 + value), or all",
}


def add_data_lists(parser: argparse.ArgumentParser) -> None:
    """Add the lists of names that most tables need: short for `--data.factors` and the like."""
    for name, about in DATA_LISTS.items():
        parser.add_argument(f"--{name}", action=ListOf, metavar="NAME", help=about)


def data_lists(known: argparse.Namespace) -> dict[str, list[str]]:
    """Those lists of `add_data_lists` that were given."""
    return {name: getattr(known, name) for name in DATA_LISTS if getattr(known, name) is not None}


def machine(known: argparse.Namespace) -> Machine:
    """Where to compute, as the options of `add_machine` say; sets the number of threads of this process.

    Args:
        known: the parsed options.

    Returns:
        Device, processes, precision and seconds between checkpoints.
    """
    import torch

    from unbraid.training.machine import Machine

    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)  # its import has set another
    if known.threads:
        torch.set_num_threads(known.threads)
    return Machine(known.device, known.devices, known.precision, known.save_every)


def whole_number(text: str) -> int:
    """Parse a count: 1, 2, 3, …

    Args:
        text: as typed.

    Returns:
        The number; anything below 1 is an error of the argument.

    Example:
        >>> whole_number("3")
        3
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, not {text!r}")
    return int(text)


def seed_number(text: str) -> int:
    """Parse a seed: 0, 1, 2, …"""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 on, not {text!r}")
    return int(text)


def part_of_data(text: str) -> float:
    """Parse a part of the data, from 0 to below 1.

    Example:
        >>> part_of_data("0.1")
        0.1
    """
    try:
        part = float(text)
    except ValueError:
        part = -1.0
    if not 0 <= part < 1:
        raise argparse.ArgumentTypeError(f"must be a part of the data from 0 to below 1, such as 0.1, not {text}")
    return part
