"""`unbraid search`."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbraid.cli.console import out, print_table
from unbraid.cli.parsers import ListOf, add_held_out, command_parser, held_out, whole_number
from unbraid.errors import InputError

if TYPE_CHECKING:
    from unbraid.search import Search

SHOWN = 12  # settings that are printed


def search(words: Sequence[str]) -> None:
    """Train many settings and seeds, and say which run to take."""
    parser = command_parser(
        "search",
        search,
        "unbraid search DATA --method NAME [NAME …] [--vary OPTION=A,B,… …] [--seeds N] [--OPTION VALUE …]",
    )
    parser.add_argument("data", metavar="DATA", help="a built-in name (unbraid data list) or a path")
    parser.add_argument(
        "--method", action=ListOf, required=True, metavar="NAME", help="methods to compare with each other"
    )
    parser.add_argument(
        "--then", action=ListOf, default=[], metavar="NAME", help="stages that follow the first in all runs"
    )
    parser.add_argument(
        "--vary", action="append", default=[], metavar="OPTION=…", help="beta=1,2,4 or lr=1e-4..1e-3:log; several times"
    )
    parser.add_argument("--random", type=whole_number, metavar="N", help="draw N settings in place of the whole grid")
    parser.add_argument("--seeds", type=whole_number, default=5, metavar="N", help="runs of each setting (5)")
    parser.add_argument(
        "--steps", action=ListOf, item=int, default=[20_000], metavar="N", help="for all stages or each"
    )
    parser.add_argument("--minutes", type=float, metavar="M", help="for all trials together, in place of --steps")
    add_choice(parser)
    add_place(parser)
    parser.epilog = (
        "Options that all settings share follow as --width 0.25, arguments of the data set as --data.size 32. The "
        "same command goes on where it was; more values or seeds add to what is there."
    )
    known, rest = parser.parse_known_args(words)

    from unbraid import data
    from unbraid.cli import options
    from unbraid.data.label_budget import LabelBudget
    from unbraid.search import search as run_search
    from unbraid.search.engine import executor
    from unbraid.search.space import parse_values
    from unbraid.training.machine import Machine

    vary = dict(named_values(text) for text in known.vary)
    given = list(options.pairs(rest))
    arguments = options.data_arguments([(name[5:], text) for name, text in given if name.startswith("data.")])
    found = run_search(
        data.load(known.data, **arguments),
        known.method,
        vary={name: parse_values(text) for name, text in vary.items()},
        random=known.random,
        then=known.then,
        seeds=known.seeds,
        steps=known.steps,
        minutes=known.minutes,
        by=known.by,
        halving=known.halving,
        measures=known.measure,
        options={name: text for name, text in given if not name.startswith("data.")},
        recipe=known.recipe,
        labels=None if known.labels is None else LabelBudget(known.labels),
        held_out=held_out(known),
        out=known.out,
        on="local"
        if known.on == "local"
        else executor(known.on, workers=known.workers, cores=known.cores, gpus=known.gpus),
        workers=known.workers,
        machine=Machine(known.device, precision=known.precision, checkpoint_seconds=known.save_every),
        keep_best=known.keep_best,
        track=known.track,
        show=not known.quiet,
        command=shlex.join(["unbraid", "search", *words]),
    )
    print_ranking(found)
    out.print(f"search: {found.folder}", soft_wrap=True)
    out.print(f"report: {found.folder / 'report.html'}", soft_wrap=True)


def add_choice(parser: ArgumentParser) -> None:
    """Add the options that say what is measured and how to choose."""
    parser.add_argument(
        "--by",
        default="udr",
        metavar="NAME",
        help="choose by udr, udr_lasso, udr_active, stability, elbo, l2, or mig, dci, … (udr)",
    )
    parser.add_argument("--measure", action=ListOf, default=[], metavar="NAME", help="further scores of each run")
    parser.add_argument(
        "--halving", action="store_true", help="leave settings early that agree least (early is unsure)"
    )
    parser.add_argument("--keep-best", type=whole_number, metavar="N", help="drop the weights of all but N trials")
    parser.add_argument("--recipe", default="fast", choices=("fast", "paper"), help="options that are not named (fast)")
    parser.add_argument("--labels", metavar="N", help="labels that methods may see: 256, 0.5%%, 'first 256', all")
    add_held_out(parser)


def add_place(parser: ArgumentParser) -> None:
    """Add the options that say where trials run."""
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="the search's directory (runs/search-…)")
    parser.add_argument("--on", default="local", metavar="WHERE", help="local, ray or ray://HOST:PORT (local)")
    parser.add_argument("--workers", type=whole_number, metavar="N", help="trials at a time (one a core)")
    parser.add_argument(
        "--cores", type=whole_number, default=1, metavar="N", help="that a trial takes on a cluster (1)"
    )
    parser.add_argument("--gpus", type=float, default=0.0, metavar="X", help="or share of one, on a cluster (0)")
    parser.add_argument("--device", default="cpu", metavar="NAME", help="auto, cpu, cuda, mps (cpu)")
    parser.add_argument(
        "--precision", default="32-true", metavar="NAME", help="32-true, bf16-mixed, auto: what is faster (32-true)"
    )
    parser.add_argument("--save-every", type=float, default=60.0, metavar="S", help="seconds between checkpoints (60)")
    parser.add_argument(
        "--track", nargs="+", default=[], metavar="NAME", help="tensorboard, mlflow, wandb, trackio (none)"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")


def named_values(text: str) -> tuple[str, str]:
    """The option and the values of one `--vary`.

    Example:
        >>> named_values("beta=1,2,4")
        ('beta', '1,2,4')
    """
    name, equals, values = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"--vary needs an option and its values, as in beta=1,2,4, not {text!r}.")
    return name.strip(), values


def print_ranking(found: Search) -> None:
    """Print the settings in order and what to take."""
    from unbraid.search.choice import with_interval
    from unbraid.search.ranking import title

    rows: list[tuple[Any, ...]] = []
    for one in found.settings[:SHOWN]:
        done = sum(row.status == "finished" for row in one.rows)
        score = with_interval(found.by, one.figures[found.by]) if found.by in one.figures else "–"
        failed = next((row.error for row in one.rows if row.error), "")
        rows.append(
            (one.setting.name, score.removeprefix(title(found.by)).strip(), f"{done} of {len(one.rows)}", failed)
        )
    print_table(("setting", title(found.by), "seeds", ""), rows)
    if len(found.settings) > SHOWN:
        out.print(f"… and {len(found.settings) - SHOWN} more in table.csv")
    for sentence in found.recommendation:
        out.print(sentence, soft_wrap=True)
