"""Chen et al. 2018, figs. 2, 3 and 4: what the weight β does to β-VAE and to β-TCVAE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from scipy.stats import spearmanr
from scipy.stats import t as student

from unbraid.api import Run
from unbraid.core import Adam, MethodConfig
from unbraid.methods import BetaTCVAE, BetaVAE, FactorVAE, InfoGAN
from unbraid.nets.gan import GANNetwork
from unbraid.papers import plots, tables
from unbraid.papers.measures import runs as measures
from unbraid.papers.settings import BatchSetting, by_seed, seeds_described
from unbraid.papers.study import Finished, Scale, Study, Trial

GAMMA = 35.0  # FactorVAE's own paper on dSprites; Chen et al. tuned it within [1, 80]
SHAPE = ("shape",)  # counts as noise in the paper


@dataclass(frozen=True)
class Setting(BatchSetting):
    """What the scales differ in."""

    betas: tuple[float, ...] = (4.0, 6.0)
    critic_units: int = 1000
    gan: GANNetwork = "auto"  # the paper's stacks make noise after so few steps at a quarter of their width
    gan_lr: float = 2e-4
    shown: float = 6.0  # the β of fig. 3; the paper has 4 of β-VAE and 6 of β-TCVAE, each tuned


SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting({"size": 32, "stride": 8}, 3, 0.1, 2e-3, 1, 32, "auto", 0.05, 3, critic_units=100),
    # One shape and angle, 3 sizes, 11 × 11 places: a batch is the whole data set, and its total correlation exact.
    "desk": Setting(
        {"size": 32, "stride": {"shape": 3, "scale": 2, "orientation": 40, "x": 3, "y": 3}},
        4_000,
        0.25,
        4e-3,
        10,
        363,
        "broadcast",
        0.05,
        6,
        16,
        True,
        betas=(4.0, 20.0),
        critic_units=400,
        gan="dcgan",
        gan_lr=5e-4,
        shown=20.0,
    ),
    # 50 epochs of 737,280 images at batch 2048.
    "paper": Setting({}, 18_000, 1.0, 1e-3, 40, 2048, "mlp", betas=(2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)),
}
# Twenty where the claim of a higher MIG is nearest, and one seed differs much from another.
MORE_SEEDS: dict[Scale, dict[str, int]] = {
    "desk": {f"{method}, β = {beta}": 20 for beta in (4, 20) for method in ("β-VAE", "β-TCVAE")} | {"InfoGAN": 5}
}
PAPER_SETTING = {
    "data": "dSprites, 737,280 images 64×64; and synthetic 3-D faces",
    "network": "fully connected, 1200 units (InfoGAN: convolutional), 10 latents",
    "steps": "some 18,000 (50 epochs); FactorVAE twice as many",
    "batch": "2048",
    "weights": "β from 1 to about 10; FactorVAE's tuned within [1, 80]",
    "optimiser": "Adam, 1e-3",
    "seeds": "40 for fig. 4",
    "factors scored": "scale, rotation, x, y (shape counts as noise)",
}
COLUMNS = {
    "mig-chen": ("MIG (Chen's)", 3),
    "mig": ("MIG (bins of means)", 3),
    "tc": ("TC, nats", 2),
    "elbo": ("ELBO, nats", 1),
    "nll": ("−log p(x given z), nats", 1),
    "kl": ("KL, nats", 1),
    "active": ("active latents", 1),
}


def compared(s: Setting) -> dict[str, tuple[MethodConfig, int]]:
    """Every row of the table with its steps."""
    part, steps = s.part_of_values, s.steps
    found: dict[str, tuple[MethodConfig, int]] = {"VAE": (BetaVAE(beta=part, **s.options), steps)}
    for beta in s.betas:
        found[f"β-VAE, β = {beta:g}"] = BetaVAE(beta=beta * part, **s.options), steps
        found[f"β-TCVAE, β = {beta:g}"] = BetaTCVAE(alpha=part, beta=beta * part, gamma=part, **s.options), steps
    critic = Adam(lr=s.lr / 2, beta1=0.5, beta2=0.9)
    factor_vae = FactorVAE(beta=part, gamma=GAMMA * part, critic_units=s.critic_units, critic_adam=critic, **s.options)
    found["FactorVAE"] = factor_vae, 2 * steps
    adam = Adam(lr=s.gan_lr, beta1=0.5)
    gan = InfoGAN(
        width=s.width,
        network=s.gan,
        batch_size=min(64, s.batch_size),
        noise_steps=steps,
        adam=adam,
        critic_adam=adam,
    )
    found["InfoGAN"] = gan, steps
    return found


def trials(scale: Scale) -> list[Trial]:
    """Every row from every seed; what is compared over β comes first, seed by seed, so that a part is a result too."""
    s, rows = SETTINGS[scale], compared(SETTINGS[scale])
    made = [
        Trial(label, "sprites", (rows[label][0],), (rows[label][1],), seed, s.arguments)
        for seed, label in by_seed(rows, s.seeds, MORE_SEEDS.get(scale))
    ]
    return sorted(made, key=lambda trial: trial.steps[0] > s.steps)


def is_vae(run: Run) -> bool:
    """Whether the run has an ELBO: a GAN has none, and its TC would be that of another model."""
    return not isinstance(run.config(1), InfoGAN)


def of_vae(run: Run, measure: str) -> float:
    """A figure that only VAEs have; NaN for others."""
    return float(getattr(measures, measure)(run)) if is_vae(run) else float("nan")


def elbo(run: Run) -> float:
    """The ELBO that β = 1 maximises: each pixel counts as those of the paper's image that it stands for."""
    if not is_vae(run):
        return float("nan")
    part = 1.0 if run.data.shape[-1] == 64 else (run.data.shape[-1] / 64) ** 2
    return -measures.negative_log_likelihood(run) / part - measures.divergence(run)


def series(finished: Sequence[Finished], name: str) -> dict[str, dict[float, list[float]]]:
    """A figure of both methods by β; the VAE is both at β = 1."""
    found: dict[str, dict[float, list[float]]] = {"β-TCVAE": {}, "β-VAE": {}}
    for group, runs in tables.groups(finished).items():
        method, _, beta = group.partition(", β = ")
        values = [run.figures[name] for run in runs]
        for row in found if group == "VAE" else (method,) if beta else ():
            found[row][float(beta or 1)] = values
    return found


def means(found: Mapping[float, Sequence[float]]) -> list[float]:
    """The mean at every β, in order."""
    return [float(np.mean(found[beta])) for beta in sorted(found)]


def correlation(finished: Sequence[Finished], method: str, *, above: float = 0.0) -> float:
    """Pearson's correlation over β between the mean TC and the mean MIG (fig. 4)."""
    tc, mig = (
        means({beta: values for beta, values in series(finished, name)[method].items() if beta > above})
        for name in ("tc", "mig-chen")
    )
    return float(np.corrcoef(tc, mig)[0, 1]) if len(tc) > 2 else float("nan")


def agreement_of_runs(finished: Sequence[Finished], method: str) -> float:
    """Spearman's correlation of TC and MIG over all runs with some β: do single runs go together?"""
    runs = [one.figures for one in finished if one.trial.group.startswith(f"{method}, ")]
    return float(spearmanr([run["tc"] for run in runs], [run["mig-chen"] for run in runs]).statistic)


def ahead_at_equal_tc(finished: Sequence[Finished]) -> tuple[float, float, float]:
    """By how much β-TCVAE's MIG is above β-VAE's of the same total correlation and β, with its 95 % interval.

    Least squares over single runs: a level for each β, one slope of MIG by log TC, one step from method to method.
    """
    runs = [(one.trial.group.partition(", β = "), one.figures) for one in finished if ", β = " in one.trial.group]
    levels = sorted({beta for (_, _, beta), _ in runs})
    x = np.array(
        [
            [*(float(beta == level) for level in levels), np.log(figures["tc"]), float(method == "β-TCVAE")]
            for (method, _, beta), figures in runs
        ]
    )  # [run, column]
    mig = np.array([figures["mig-chen"] for _, figures in runs])
    weights = np.linalg.pinv(x) @ mig
    free = max(1, len(x) - np.linalg.matrix_rank(x))
    variance = np.square(mig - x @ weights).sum() / free * np.linalg.pinv(x.T @ x)[-1, -1]
    half = float(student.ppf(0.975, free) * np.sqrt(variance))
    return float(weights[-1]), float(weights[-1]) - half, float(weights[-1]) + half


def medians(finished: Sequence[Finished], rows: Sequence[str]) -> str:
    """The median of MIG of each row with its interval by ranks: fig. 3 is of medians, and some runs stay turned."""
    found = tables.groups(finished)
    scores = {row: [one.figures["mig-chen"] for one in found[row]] for row in rows if row in found}
    return tables.markdown(
        ["", "seeds", "median MIG (Chen's)", "lowest", "highest"],
        [
            [row, str(len(values)), tables.median_with_interval(values), f"{min(values):.3f}", f"{max(values):.3f}"]
            for row, values in scores.items()
        ],
    )


def factorial(path: Path, finished: Sequence[Finished]) -> None:
    """Fig. 4: mean MIG against mean TC, a larger circle for a larger β."""
    with plots.plain_style():
        figure = Figure(figsize=(4.6, 3.2))
        panel = figure.subplots()
        tc, mig = series(finished, "tc"), series(finished, "mig-chen")
        for method, colour in zip(tc, plots.COLOURS, strict=True):
            label = f"{method}, ρ = {correlation(finished, method):.2f}"
            sizes = [20 + 14 * beta for beta in sorted(tc[method])]
            panel.scatter(means(tc[method]), means(mig[method]), s=sizes, alpha=0.6, color=colour, label=label)
        panel.set(xscale="log", xlabel="TC, nats (mean over seeds)", ylabel="MIG (Chen's, mean over seeds)")
        panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        panel.xaxis.set_major_formatter("{x:g}")
        panel.minorticks_off()
        panel.margins(0.15)  # so that the axes do not cut the largest circles
        panel.grid(alpha=0.25)
        panel.legend(frameon=False, fontsize=8)
        figure.tight_layout()
        plots.save_figure(figure, path)


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The study as Markdown, with three pictures beside it."""
    s = SETTINGS[scale]
    order = list(compared(s))
    finished = sorted(finished, key=lambda one: order.index(one.trial.group))
    panels = [(COLUMNS[name][0], series(finished, name)) for name in ("mig-chen", "elbo", "tc")]
    plots.lines(folder / f"{stem}.png", panels, "β")
    boxes = ("VAE", f"β-VAE, β = {s.shown:g}", f"β-TCVAE, β = {s.shown:g}", "FactorVAE", "InfoGAN")
    plots.dots(folder / f"{stem}-methods.png", [one for one in finished if one.trial.group in boxes],
               {name: COLUMNS[name] for name in ("mig-chen", "tc", "nll")})  # fmt: skip
    factorial(folder / f"{stem}-factorial.png", finished)
    betas = ", ".join(f"{beta:g}" for beta in s.betas)
    rho, ranks = (
        ", ".join(f"{method} {how(finished, method):.2f}" for method in ("β-TCVAE", "β-VAE"))
        for how in (correlation, agreement_of_runs)
    )
    ahead, low, high = ahead_at_equal_tc(finished)
    ours = {
        "data": s.data_described + (f": {s.batch_size} images of one shape and angle" if s.whole else ""),
        "network": f"{s.network_described} (InfoGAN: {s.gan.replace('auto', 'conv-bn')}, width {s.width:g})",
        "steps": f"{s.steps:,}; FactorVAE twice as many",
        "batch": f"{s.batch_described}; InfoGAN 64",
        "weights": f"β = 1, {betas}; FactorVAE γ = {GAMMA:g}; {s.weights_described}",
        "optimiser": f"{s.optimiser_described}; InfoGAN {s.gan_lr:g}",
        "seeds": seeds_described(s.seeds, MORE_SEEDS.get(scale)),
        "factors scored": "scale, x, y" if s.whole else "as in the paper",
    }
    return tables.document(
        f"β-TCVAE: the strength of the penalty ({scale} scale)",
        "Chen et al. 2018. Fig. 2: as β grows, β-TCVAE keeps the better ELBO and the higher MIG, while a large β hurts "
        "β-VAE. Fig. 3: the median MIG is highest for β-TCVAE, above β-VAE and VAE; FactorVAE (fully connected) and "
        "InfoGAN are below β-VAE on dSprites. Fig. 4: over β, mean TC and mean MIG are strongly negatively correlated "
        "for β-TCVAE, less for β-VAE.",
        tables.setting(ours, PAPER_SETTING),
        tables.section(
            "Results",
            "Means over seeds with 95 % Student intervals. MIG by Chen's convention (posteriors of all rows; the "
            "paper's) and by Locatello's bins of means. TC is KL[q(z) ‖ ∏ q(zⱼ)], with q the mixture of the "
            "posteriors of up to 50,000 rows. ELBO, −log p(x given z) and KL are means over the last tenth of "
            "training; in the ELBO each pixel counts as those of the paper's image that it stands for, as the "
            "weights do.",
        ),
        tables.summary(finished, COLUMNS),
        "Fig. 2, and TC beside it:",
        f"![MIG, ELBO and TC by β]({stem}.png)",
        "Fig. 3:",
        f"![each run's scores]({stem}-methods.png)",
        medians(finished, boxes),
        f"Fig. 4; Pearson's correlation of mean TC and mean MIG over β: {rho}. Spearman's of single runs: {ranks}. "
        f"At the same TC and β, β-TCVAE's MIG is ahead by {ahead:.3f} [{low:.3f}, {high:.3f}] (least squares over "
        "single runs, with one slope by log TC).",
        f"![MIG against TC]({stem}-factorial.png)",
        tables.every_run(finished, COLUMNS),
    )


STUDY = Study(
    name="beta-tcvae/strength",
    title="figs. 2–4: ELBO, MIG and TC of β-VAE and β-TCVAE over β; InfoGAN and FactorVAE beside them",
    trials=trials,
    measures={
        "mig-chen": partial(measures.mig_chen, without=SHAPE),
        "mig": partial(measures.mig, without=SHAPE),
        "tc": partial(of_vae, measure="total_correlation"),
        "elbo": elbo,
        "nll": partial(of_vae, measure="negative_log_likelihood"),
        "kl": partial(of_vae, measure="divergence"),
        "active": partial(of_vae, measure="active_latents"),
    },
    page=page,
)
