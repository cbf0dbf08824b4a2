"""`unbraid demo`: β-TCVAE finds the pose of toys, MS-VAE gives their detail back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unbraid.cli.console import out
from unbraid.cli.parsers import add_machine, command_parser, machine
from unbraid.util.files import check_folder

if TYPE_CHECKING:
    from unbraid.core import MethodConfig
    from unbraid.training.machine import Machine

STEPS = (2500, 2400)


def demo(words: Sequence[str]) -> None:
    """Show the main job on embedded data: a few minutes."""
    parser = command_parser("demo", demo, "unbraid demo [--out FOLDER]")
    parser.add_argument("--out", type=Path, default=Path("runs/demo"), metavar="FOLDER", help="where to (runs/demo)")
    add_machine(parser, precision="auto")
    known = parser.parse_args(words)
    run_demo(known.out, machine(known), show=not known.quiet)


def demo_stages() -> list[MethodConfig]:
    """Both stages, chosen for two cores and some minutes: the paper trains far longer, wider and at a lower rate."""
    from unbraid.core import Adam
    from unbraid.methods import MSVAE, BetaTCVAE

    return [
        BetaTCVAE(beta=6.0, width=0.5, adam=Adam(lr=5e-4)),
        MSVAE.fast(),
    ]


def run_demo(folder: Path, machine: Machine, *, show: bool = True) -> None:
    """Fit, evaluate and report, saying what happens.

    Args:
        folder: the run directory.
        machine: where to compute.
        show: whether to print each step and its progress; the results are printed anyway.
    """
    from unbraid.api import fit
    from unbraid.data import load

    def say(text: str) -> None:
        if show:
            out.print(text)

    check_folder(folder)
    say("[bold]1/4[/] Data: 200 toys of simple solids, each seen from 24 × 4 directions (drawn once, then kept).")
    data = load("toys")
    say(
        "[bold]2/4[/] Learning. β-TCVAE looks for independent factors and blurs the rest; MS-VAE then learns what was\n"
        "    blurred, without touching the factors. A few minutes; Ctrl-C is safe, the same command goes on."
    )
    run = fit(data, demo_stages(), steps=STEPS, out=folder, machine=machine, show=show, command="unbraid demo")
    say("[bold]3/4[/] Measuring both.")
    scores = run.evaluate(show=show)
    say("[bold]4/4[/] Writing the report.")
    page = run.report()
    before, after = scores["stage-1/l2"]["value"], scores["l2"]["value"]
    out.print(f"squared error: {before:.4f} after stage 1, {after:.4f} after stage 2 ({after / before:.2f} of it)")
    mig, votes = scores["mig"]["value"], scores["factor_score"]["value"]
    out.print(f"MIG {mig:.3f}, FactorVAE score {votes:.3f}: of stage 1's codes, which stage 2 leaves as they are")
    out.print(f"[bold]report: {page}[/] (open it in a browser)", soft_wrap=True)
