"""The main job on embedded data: β-TCVAE finds the pose of toys, MS-VAE gives their detail back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from unbraid.core import Adam
from unbraid.data import load
from unbraid.files import check_folder
from unbraid.fitting import fit
from unbraid.methods import MSVAE, BetaTCVAE

# Chosen for two cores and some minutes; the paper trains far longer, at full width and a lower rate.
FIRST = BetaTCVAE(beta=6.0, width=0.5, adam=Adam(lr=5e-4))
SECOND = MSVAE.fast()
STEPS = (2500, 2400)


def run_demo(folder: Path, machine: Any, out: Console, *, show: bool = True) -> None:
    """Fit, evaluate and report, saying what happens."""

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
    run = fit(data, [FIRST, SECOND], steps=STEPS, out=folder, machine=machine, show=show, command="unbraid demo")
    say("[bold]3/4[/] Measuring both.")
    scores = run.evaluate(show=show)
    say("[bold]4/4[/] Writing the report.")
    page = run.report()
    before, after = scores["stage-1/l2"]["value"], scores["l2"]["value"]
    out.print(f"squared error: {before:.4f} after stage 1, {after:.4f} after stage 2 ({after / before:.2f} of it)")
    mig, votes = scores["mig"]["value"], scores["factor_score"]["value"]
    out.print(f"MIG {mig:.3f}, FactorVAE score {votes:.3f}: of stage 1's codes, which stage 2 leaves as they are")
    out.print(f"[bold]report: {page}[/] (open it in a browser)", soft_wrap=True)
