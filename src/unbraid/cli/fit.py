"""`unbraid fit`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from unbraid.cli.console import print_places, print_verdict
from unbraid.cli.parsers import add_machine, command_parser, machine


def fit(words: Sequence[str]) -> None:
    """Learn the factors of a data set."""
    parser = command_parser("fit", fit, "unbraid fit DATA --method NAME [NAME …] [--steps N [N …]] [--OPTION VALUE …]")
    parser.add_argument("data", metavar="DATA", help="a built-in name (unbraid data list) or a path")
    parser.add_argument("--method", nargs="+", required=True, metavar="NAME", help="stages in order (unbraid methods)")
    parser.add_argument("--steps", nargs="+", type=int, default=[20_000], metavar="N", help="for all stages or each")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of weights, batches and noise (0)")
    parser.add_argument(
        "--recipe",
        default="fast",
        choices=("fast", "paper"),
        help="options that are not named: those that learn in minutes (fast) or the paper's",
    )
    parser.add_argument("--labels", metavar="N", help="labels that methods may see: 256, 0.5%%, 'first 256', all")
    parser.add_argument("--label-factors", nargs="+", metavar="NAME", help="factors whose labels they may see (all)")
    parser.add_argument(
        "--held-out", type=float, metavar="PART", help="of the data that no training sees (0.1 of your own, else 0)"
    )
    parser.add_argument("--held-out-by", metavar="NAME", help="a factor whose values stay together: patient, day, …")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="the run directory (runs/…)")
    add_machine(parser)
    parser.epilog = (
        "Options of the methods follow as --beta 6 (to every stage that has it) or --2.latents 5 (to the second "
        "stage); unbraid methods NAME lists them. Arguments of the data set follow as --data.size 32. A command "
        "that was stopped or killed goes on where it was when it is repeated."
    )
    known, rest = parser.parse_known_args(words)

    from unbraid import data, methods
    from unbraid.api import fit as fit_run
    from unbraid.cli import options
    from unbraid.data.held_out import SHARE, HeldOut
    from unbraid.data.label_budget import LabelBudget
    from unbraid.methods.recipes import Traits

    given = list(options.pairs(rest))
    stages = [methods.by_name(name) for name in known.method]
    own_options = list(vars(known))  # which may have been meant by a misspelt one
    chosen = [pair for pair in given if not pair[0].startswith("data.")]
    options.configure(stages, chosen, own_options, known.recipe)  # what is misspelt is said before data are loaded
    arguments = options.data_arguments([(name[5:], text) for name, text in given if name.startswith("data.")])
    where = machine(known)
    steps = known.steps[0] if len(known.steps) == 1 else known.steps
    limited = known.labels is not None or known.label_factors is not None
    amount = "all" if known.labels is None else known.labels
    by = known.held_out_by or ""
    loaded = data.load(known.data, **arguments)
    run = fit_run(
        loaded,
        options.configure(stages, chosen, own_options, known.recipe, Traits.of(loaded)),
        steps=steps,
        seed=known.seed,
        labels=LabelBudget(amount, tuple(known.label_factors or ())) if limited else None,
        held_out=HeldOut(SHARE if known.held_out is None else known.held_out, by) if by else known.held_out,
        out=known.out,
        machine=where,
        show=not known.quiet,
        command=shlex.join(["unbraid", "fit", *words]),
    )
    run.evaluate(show=not known.quiet)
    print_verdict(run.verdict())
    print_places(run.folder, run.report())
