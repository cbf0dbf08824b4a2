"""`unbraid demo`: β-TCVAE finds the factors of drawn scenes, MS-VAE gives their detail back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbraid.cli.console import out, print_verdict
from unbraid.cli.parsers import add_machine, command_parser, machine
from unbraid.util.files import check_folder

if TYPE_CHECKING:
    from unbraid.training.machine import Machine

ROWS = 2_000  # observations that errors and M1 to M4 are taken of
SCORES = ("mig", "factor_score", "l1", "l2", "conditioning")


def demo(words: Sequence[str]) -> None:
    """Show the main job on embedded data: a few minutes."""
    parser = command_parser("demo", demo, "unbraid demo [--out FOLDER] [--seed N]")
    parser.add_argument("--out", type=Path, default=Path("runs/demo"), metavar="FOLDER", help="where to (runs/demo)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of weights, batches and noise (0)")
    add_machine(parser, precision="auto")
    known = parser.parse_args(words)
    run_demo(known.out, machine(known), seed=known.seed, show=not known.quiet)


def run_demo(folder: Path, machine: Machine, *, seed: int = 0, show: bool = True) -> None:
    """Fit, evaluate and report, saying what happens.

    Args:
        folder: the run directory.
        machine: where to compute.
        seed: of weights, batches and noise.
        show: whether to print each step and its progress; the results are printed anyway.
    """
    from unbraid.api import fit
    from unbraid.data import load
    from unbraid.methods import budgets, recipes

    def say(text: str) -> None:
        if show:
            out.print(text)

    check_folder(folder)
    say("[bold]1/4[/] Data: 20,000 scenes, a toy on a floor under a sky (drawn once, then kept).")
    data = load("scenes")
    say(
        "[bold]2/4[/] Learning, without labels. β-TCVAE looks for independent factors and blurs the rest; MS-VAE then\n"
        "    learns what was blurred, without touching the factors. Ctrl-C is safe: the same command goes on."
    )
    traits = recipes.Traits.of(data)
    stages, steps = budgets.default_chain(traits), budgets.default_steps(traits, len(data))  # some four minutes
    run = fit(data, stages, steps=steps, seed=seed, out=folder, machine=machine, show=show, command="unbraid demo")
    say("[bold]3/4[/] Measuring both, with the labels that training did not see.")
    scores = run.evaluate(SCORES, show=show, rows=ROWS)
    say("[bold]4/4[/] Writing the report.")
    verdict = run.verdict()
    page = run.report()
    for line in findings(scores):
        out.print(line, highlight=False)
    print_verdict(verdict)
    out.print(f"[bold]report: {page}[/] (open it in a browser)", soft_wrap=True)


def findings(scores: Mapping[str, Any]) -> list[str]:
    """What the demo found, in words.

    Args:
        scores: entries of metrics.json.

    Returns:
        A line each for the factors, for the detail, and for whether the detail keeps to the factors.
    """
    gaps = scores["mig"]["details"]["per_factor"]
    found = ", ".join(f"{name} {gap:.2f}" for name, gap in gaps.items())
    before, after = scores["stage-1/l2"]["value"], scores["l2"]["value"]
    parts = {name: scores[f"conditioning/{name}"]["value"] for name in ("M1", "M2", "M3", "M4")}
    return [
        f"factors: MIG {scores['mig']['value']:.2f} ({found}), FactorVAE score {scores['factor_score']['value']:.2f}",
        f"detail:  squared error {before:.4f} after stage 1, {after:.4f} after stage 2 ({after / before:.2f} of it)",
        "kept:    " + ", ".join(f"{name} {value:.2f}" for name, value in parts.items()) + " (the paper's M1 to M4)",
    ]
