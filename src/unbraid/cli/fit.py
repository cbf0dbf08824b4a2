"""`unbraid fit`."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unbraid.cli.console import complain, print_notes, print_places, print_verdict
from unbraid.cli.parsers import (
    ListOf,
    add_data_lists,
    add_held_out,
    add_machine,
    command_parser,
    data_lists,
    held_out,
    machine,
    seed_number,
    whole_number,
)

if TYPE_CHECKING:
    from unbraid.core import MethodConfig


def fit(words: Sequence[str]) -> None:
    """Learn the factors of a data set."""
    parser = command_parser(
        "fit", fit, "unbraid fit DATA [--method NAME …] [--minutes M | --steps N …] [--OPTION VALUE …]"
    )
    parser.add_argument("data", metavar="DATA", help="a built-in name (unbraid data list) or a path")
    parser.add_argument(
        "--method",
        action=ListOf,
        metavar="NAME",
        help="stages in order (unbraid methods); left out: for images beta-tcvae ms-vae, for vectors beta-tcvae",
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, metavar="M", help="for all of it: measures, then chooses the steps")
    length.add_argument("--steps", action=ListOf, item=whole_number, metavar="N", help="for all stages or each (20000)")
    parser.add_argument("--seed", type=seed_number, default=0, metavar="N", help="of weights, batches and noise (0)")
    parser.add_argument(
        "--recipe",
        default="fast",
        choices=("fast", "paper"),
        help="options that are not named: those that learn in minutes (fast) or the paper's",
    )
    parser.add_argument("--labels", metavar="N", help="labels that methods may see: 256, 0.5%%, 'first 256', all")
    parser.add_argument(
        "--label-factors", action=ListOf, metavar="NAME", help="factors whose labels they may see (all)"
    )
    add_held_out(parser)
    parser.add_argument(
        "--train-under",
        metavar="TIES",
        help="tie factors in training but not in scores: shape~size:0.2, 1-pair, 1-to-all",
    )
    add_data_lists(parser)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="the run directory (runs/…)")
    add_machine(parser, precision=None)
    parser.epilog = (
        "Options of the methods follow as --beta 6 (to every stage that has it) or --2.latents 5 (to the second "
        "stage); unbraid methods NAME lists them. Arguments of the data set follow as --data.size 32. A command "
        "that was stopped or killed goes on where it was when it is repeated."
    )
    began = time.monotonic()
    known, rest = parser.parse_known_args(words)

    from unbraid import data, methods
    from unbraid.api import fit as fit_run
    from unbraid.cli import options
    from unbraid.data.label_budget import LabelBudget
    from unbraid.methods import budgets
    from unbraid.methods.recipes import IMAGE, Traits
    from unbraid.runs.budget import Budget, chain_sentence

    given = list(options.pairs(rest))
    own_options = list(vars(known))  # which may have been meant by a misspelt one
    chosen = [pair for pair in given if not pair[0].startswith("data.")]

    def stages(traits: Traits) -> list[MethodConfig]:
        chain = [type(stage) for stage in budgets.default_chain(traits)]
        types = [methods.by_name(name) for name in known.method] if known.method else chain
        return options.configure(types, chosen, own_options, known.recipe, traits)

    stages(IMAGE)  # what is misspelt is said before data are loaded
    budget = None
    if known.minutes is not None:
        budget = Budget(known.minutes, tuple(name for name, _ in chosen) if known.recipe == "fast" else "all", began)
    arguments = options.data_arguments([(name[5:], text) for name, text in given if name.startswith("data.")])
    arguments |= data_lists(known)
    arguments |= {} if known.train_under is None else {"train_under": known.train_under}
    by_table = known.method is None or budget is not None
    known.precision = known.precision or ("auto" if by_table else "32-true")
    where = machine(known)
    limited = known.labels is not None or known.label_factors is not None
    amount = "all" if known.labels is None else known.labels
    loaded = data.load(known.data, **arguments)
    print_notes(loaded.notes)
    traits = Traits.of(loaded)
    configs, steps = stages(traits), known.steps
    if known.method is None and budget is None:
        steps = steps or budgets.default_steps(traits, len(loaded))
        if not known.quiet and len(steps) in (1, len(configs)):
            complain(chain_sentence(configs, steps * len(configs) if len(steps) == 1 else steps))
    run = fit_run(
        loaded,
        configs,
        steps=steps[0] if steps and len(steps) == 1 else steps,
        minutes=budget,
        seed=known.seed,
        labels=LabelBudget(amount, tuple(known.label_factors or ())) if limited else None,
        held_out=held_out(known),
        out=known.out,
        machine=where,
        show=not known.quiet,
        command=None if by_table else shlex.join(["unbraid", "fit", *words]),
    )
    run.evaluate(show=not known.quiet)
    print_verdict(run.verdict())
    print_places(run.folder, run.report())
