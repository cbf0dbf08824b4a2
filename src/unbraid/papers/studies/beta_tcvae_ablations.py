"""Chen et al. 2018, figs. S1, S2, S3 and S15: the estimator, α = 0, a flow prior, and the size of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import mannwhitneyu, ttest_ind

from unbraid.api import Run
from unbraid.methods import BetaTCVAE, BetaVAE, FlowBetaTCVAE
from unbraid.methods.vae.gaussian import GaussianConfig
from unbraid.ops.batch_bias import acting_beta, tc_slope
from unbraid.papers import plots, tables
from unbraid.papers.measures import runs as measures
from unbraid.papers.settings import BatchSetting
from unbraid.papers.studies.beta_tcvae_correlated import BETAS as CORRELATED_BETAS
from unbraid.papers.studies.beta_tcvae_correlated import SETTINGS as CORRELATED
from unbraid.papers.studies.beta_tcvae_strength import SETTINGS as STRENGTH
from unbraid.papers.studies.beta_tcvae_strength import SHAPE
from unbraid.papers.study import Finished, Scale, Study, Trial

BETAS: dict[Scale, float] = {"smoke": 6.0, "desk": CORRELATED_BETAS["desk"], "paper": 6.0}
# Of the table of slopes.
BATCHES: dict[Scale, tuple[int, ...]] = {
    "smoke": (64, 128),
    "desk": (64, 256, 512, 1024, 2048),
    "paper": (64, 256, 512, 1024, 2048),
}
NATS = (3.0, 6.0, 9.0, 12.0)
SETTINGS: dict[Scale, BatchSetting] = {
    "smoke": STRENGTH["smoke"],
    # The two factors of fig. 5, independent: a batch of all 256 images has the exact total correlation to compare with.
    "desk": replace(CORRELATED["desk"], seeds=8, whole=True),
    "paper": replace(STRENGTH["paper"], seeds=10),
}
SMALLER = {"smoke": (8,), "desk": (64,), "paper": (64, 256, 512, 1024)}
MSS_BATCH = {"smoke": 32, "desk": 64, "paper": 2048}  # of the whole data set MSS is MWS
# At which MWS keeps as many nats as MSS does at the other rows' β: 16 was chosen on a seed that is not shown.
SAME_NATS: dict[Scale, float] = {"smoke": 4.0, "desk": 16.0}
PAPER_SETTING = {
    "data": "dSprites; 3-D faces for S15",
    "network": "fully connected, 1200 units",
    "steps": "not said",
    "batch": "2048; S15: several, not named in the text",
    "weights": "β varied; S15: β = 6",
    "optimiser": "Adam, 1e-3",
    "seeds": "not said",
}
COLUMNS = {
    "mig-chen": ("MIG (Chen's)", 3),
    "mig": ("MIG (bins of means)", 3),
    "tc": ("TC, nats", 2),
    "nll": ("−log p(x given z), nats", 1),
    "kl": ("KL, nats", 1),
    "active": ("active latents", 1),
    "slope": ("slope of its TC", 2),
}
BASE = "MWS"


def compared(scale: Scale) -> dict[str, tuple[GaussianConfig, int]]:
    """Every row with its steps; smaller batches have more steps, so that all see as many images."""
    s = SETTINGS[scale]
    part, beta = s.part_of_values, BETAS[scale] * s.part_of_values
    base = BetaTCVAE(alpha=part, beta=beta, gamma=part, **s.options)
    flow = FlowBetaTCVAE(alpha=part, beta=beta, gamma=part, **s.options)

    def with_batch(batch: int, **options: Any) -> tuple[GaussianConfig, int]:
        return replace(base, batch_size=batch, **options), s.steps * s.batch_size // batch

    found: dict[str, tuple[GaussianConfig, int]] = {
        f"{BASE}, batch {s.batch_size}": (base, s.steps),
        "α = 0 (S2)": (replace(base, alpha=0.0), s.steps),
        "flow prior (S3)": (flow, s.steps),
    }
    for batch in SMALLER[scale]:
        found[f"{BASE}, batch {batch} (S15)"] = with_batch(batch)
    found[f"MSS, batch {MSS_BATCH[scale]} (S1)"] = with_batch(MSS_BATCH[scale], estimator="mss")
    if scale in SAME_NATS:
        lower = SAME_NATS[scale]
        found[f"{BASE}, batch {MSS_BATCH[scale]}, β = {lower:g} (S1)"] = with_batch(MSS_BATCH[scale], beta=lower * part)
    found["β-VAE, the same β"] = BetaVAE(beta=beta, **s.options), s.steps
    return found


def against(scale: Scale) -> list[tuple[str, str]]:
    """Which rows are said to differ by nothing, each with the row that it is compared with."""
    base, *rest = list(compared(scale))
    smaller = [name for name in rest if name.startswith(BASE) and name.endswith("(S15)")]
    mss = next(name for name in rest if name.startswith("MSS"))
    same = next((name for name in smaller if f"batch {MSS_BATCH[scale]} " in name), base)
    others = [name for name in rest if name.endswith(("(S2)", "(S3)")) or name in smaller]
    lower = [name for name in rest if name.startswith(BASE) and name.endswith("(S1)")]
    return [*((name, base) for name in others), (mss, same), *((mss, name) for name in lower)]


def differences(scale: Scale, finished: Sequence[Finished]) -> str:
    """What each change does to MIG: the difference of the means with Welch's 95 % interval, and of the ranks."""
    found, rows = tables.groups(finished), []
    for name, base in against(scale):
        one, other = ([run.figures["mig-chen"] for run in found.get(group, [])] for group in (name, base))
        if min(len(one), len(other)) > 1:
            low, high = ttest_ind(one, other, equal_var=False).confidence_interval()
            p = mannwhitneyu(one, other).pvalue
            change = f"{np.mean(one) - np.mean(other):+.3f} [{low:+.3f}, {high:+.3f}]"
            rows.append([name, base, change, f"{np.median(one):.3f}, {np.median(other):.3f}", f"{p:.2f}"])
    return tables.markdown(["", "against", "difference of MIG", "medians", "p (Mann–Whitney)"], rows)


def trials(scale: Scale) -> list[Trial]:
    """Every row from every seed; all rows of one seed before the next."""
    s = SETTINGS[scale]
    return [
        Trial(label, "sprites", (config,), (steps,), seed, s.arguments)
        for seed in range(s.seeds)
        for label, (config, steps) in compared(scale).items()
    ]


def slope(run: Run) -> float:
    """How much of the KL the estimate takes for correlation, at the run's own KL and latents; NaN for β-VAE."""
    config = run.config(1)
    if not isinstance(config, BetaTCVAE | FlowBetaTCVAE):
        return float("nan")
    latents = max(1, round(measures.active_latents(run)))
    nats, size = measures.divergence(run), len(run.data)
    if config.batch_size >= size:
        return 0.0  # nothing is estimated
    return tc_slope(config.batch_size, latents=latents, kl=nats, estimator=config.estimator, dataset_size=size)


def slopes(path: Path, batches: Sequence[int], beta: float) -> str:
    """The slope by batch and information, as a picture and as a table."""
    found = {nats: [tc_slope(batch, kl=nats) for batch in batches] for nats in NATS}
    with plots.plain_style():
        figure = Figure(figsize=(4.6, 3.0))
        panel = figure.subplots()
        for nats, values in found.items():
            panel.plot(batches, values, "o-", ms=4, label=f"{nats:g} nats")
        panel.set(xscale="log", xlabel="batch", ylabel="slope of the estimated TC by the KL", ylim=(0, 1.05))
        panel.set_xticks(batches, [str(batch) for batch in batches])
        panel.minorticks_off()
        panel.grid(alpha=0.25)
        panel.legend(frameon=False, fontsize=8)
        figure.tight_layout()
        plots.save_figure(figure, path)
    rows = [
        [f"{nats:g} nats", *(f"{value:.2f} ({acting_beta(beta, 1.0, value):.1f})" for value in values)]
        for nats, values in found.items()
    ]
    return tables.markdown(["", *(f"batch {batch}" for batch in batches)], rows)


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The ablations as Markdown, with two pictures beside them."""
    s = SETTINGS[scale]
    order = list(compared(scale))
    finished = sorted(finished, key=lambda one: order.index(one.trial.group))
    plots.dots(folder / f"{stem}.png", finished, {name: COLUMNS[name] for name in ("mig-chen", "tc", "nll", "kl")})
    table = slopes(folder / f"{stem}-slopes.png", BATCHES[scale], BETAS[scale])
    ours = {
        "data": s.data_described + (f": {s.batch_size} images that differ in x and y" if s.whole else ""),
        "network": s.network_described,
        "steps": f"{s.steps:,}; smaller batches as many more, so that all see as many images",
        "batch": s.batch_described,
        "weights": f"β = {BETAS[scale]:g}; {s.weights_described}",
        "optimiser": s.optimiser_described,
        "seeds": str(s.seeds),
    }
    return tables.document(
        f"β-TCVAE: ablations ({scale} scale)",
        "Chen et al. 2018, appendices B.2, C and H.2. S1: MSS performs like MWS. S2: α = 0 makes no significant "
        "difference. S3: nor does a factorial normalising flow as the prior. S15: smaller batches are still effective.",
        tables.setting(ours, PAPER_SETTING),
        tables.section(
            "Results",
            "Means over seeds with 95 % Student intervals. The last column is "
            "the slope of the batch's estimate of TC by the KL for independent codes "
            "(`unbraid.ops.batch_bias.tc_slope`), at each run's own KL and number of active latents: at 0 the loss "
            "weighs correlation alone, at 1 it weighs the KL as β-VAE does.",
        ),
        tables.summary(finished, COLUMNS),
        "What each change does, in MIG by Chen's convention: differences of means with Welch's 95 % intervals.",
        differences(scale, finished),
        f"![each run's scores]({stem}.png)",
        tables.section(
            "What a batch makes of the total correlation",
            "Codes that are independent, so that TC is 0: the slope of the MWS estimate by the KL, for 5 latents that "
            "tell so many nats together. In brackets the weight that the KL then has at "
            f"β = {BETAS[scale]:g} and α = γ = 1.",
        ),
        table,
        f"![slope by batch]({stem}-slopes.png)",
        tables.every_run(finished, COLUMNS),
    )


STUDY = Study(
    name="beta-tcvae/ablations",
    title="figs. S1, S2, S3, S15: MSS, α = 0, a flow prior, the batch and the slope of its estimate",
    trials=trials,
    measures={
        "mig-chen": partial(measures.mig_chen, without=SHAPE),
        "mig": partial(measures.mig, without=SHAPE),
        "tc": measures.total_correlation,
        "nll": measures.negative_log_likelihood,
        "kl": measures.divergence,
        "active": measures.active_latents,
        "slope": slope,
    },
    page=page,
)
