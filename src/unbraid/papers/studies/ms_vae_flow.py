"""MS-VAE, appendix D: MS-FLOW on MNIST. Log-densities of the mixture and of the flow behind it, and samples of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from unbraid.api import Run
from unbraid.core import Adam, Condition
from unbraid.data import load
from unbraid.data.factor_data import FactorData
from unbraid.methods import GaussianMixture, MSFlow
from unbraid.methods.staged.gaussian_mixture import GaussianMixtureModel
from unbraid.methods.staged.ms_flow import MSFlowModel, log_density
from unbraid.papers import plots, tables
from unbraid.papers.measures import chains
from unbraid.papers.study import Finished, Scale, Study, Trial
from unbraid.training.batches import as_network_input, as_stored
from unbraid.training.log import read_log
from unbraid.util.seeds import mix

BATCH = 250
POINTS = (0.125, 0.25, 0.5)  # of training, for held-out densities on the way
CENTRES, SAMPLES = "y is the component's centre", "y is a sample of the component"
CONDITIONS: Mapping[str, Condition] = {CENTRES: "sample", SAMPLES: "observation"}


@dataclass(frozen=True)
class Setting:
    """What the scales differ in."""

    data: str
    train: Mapping[str, Any]
    test: Mapping[str, Any]
    steps: int
    width: float
    transforms: int
    seeds: int
    tested: int  # held-out images; the first ones
    mixture: Mapping[str, Any] = field(default_factory=dict)
    flow: Mapping[str, Any] = field(default_factory=dict)
    draws: int = 1  # of y for each image where it is a sample: as many as there are passes, so that each is drawn anew


MNIST = ("mnist", {"split": "train"}, {"split": "test"})
SPRITES = ("sprites", {"size": 32, "stride": 16}, {"size": 32, "stride": 8})
SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting(*SPRITES, 3, 0.02, 2, 1, 40, {"em_rows": 200, "components": 3}),
    "desk": Setting(*MNIST, 1_500, 0.5, 5, 3, 2_000, flow={"batch_size": 200, "adam": Adam(lr=1e-3, end=0.1)}, draws=5),
    # The authors' code: 20 passes over 60,000 images.
    "paper": Setting(
        *MNIST, 1_200, 1.0, 5, 3, 10_000, flow={"batch_size": 1_000, "layers": 2, "adam": Adam(lr=1e-3)}, draws=20
    ),
}
PAPER_SETTING = {
    "data": "MNIST, 60,000 training images; held-out images not mentioned",
    "space": "not said; the figures are those of logit space",
    "mixture": "10 Gaussians; authors' code: EM in batches from k-means, 10 passes",
    "flow": "conditional coupling flow; 5 affine couplings, 1000 units; authors' code: 2 hidden layers",
    "steps": "authors' code: 20 passes, 1,200 steps at batch 1,000, Adam 1e-3",
    "y as a sample": "drawn anew in every batch",
    "tested on": "not given",
    "seeds": "1",
}
# Papamakarios et al. 2017, table 2 (unconditional, logit space), for orientation; MS-FLOW from appendix D.
PUBLISHED = (
    ("MS-FLOW's mixture (MS-VAE, D)", "−1585.1"),
    ("MS-FLOW (MS-VAE, D)", "−1356.1"),
    ("full Gaussian", "−1366.9"),
    ("RealNVP, 5 couplings", "−1323.2"),
    ("RealNVP, 10 couplings", "−1370.7"),
    ("MAF, 5 layers", "−1300.5"),
)


def trials(scale: Scale) -> list[Trial]:
    """The flow given centres, and given samples (D.1); both share the mixture."""
    setting = SETTINGS[scale]
    return [
        Trial(
            group,
            setting.data,
            (
                GaussianMixture(**setting.mixture),
                MSFlow(
                    condition=condition,
                    width=setting.width,
                    transforms=setting.transforms,
                    draws=setting.draws if condition == "observation" else 1,
                    **setting.flow,
                ),
            ),
            (1, setting.steps),
            seed,
            setting.train,
            keep=tuple(chains.step_after(setting.steps, part) for part in POINTS),
        )
        for seed in range(setting.seeds)
        for group, condition in CONDITIONS.items()
    ]


def setting_of_run(run: Run) -> Setting:
    """The setting that a run belongs to: its data and steps tell."""
    steps = run.plan.stages[1][1]
    return next(s for s in SETTINGS.values() if s.steps == steps and s.data == run.plan.data["name"])


def held_out(run: Run) -> FactorData:
    """Images that were not trained on."""
    setting = setting_of_run(run)
    return load(setting.data, **setting.test).take(np.arange(setting.tested))


def stages(run: Run, part: float = 1.0) -> tuple[GaussianMixtureModel, MSFlowModel]:
    """Mixture and flow, the flow as it was after this part of its training."""
    mixture, flow = chains.chain_at(run, part).stages
    return cast(GaussianMixtureModel, mixture), cast(MSFlowModel, flow)


def centres(run: Run) -> Tensor:
    """The y of every component, rounded to bytes as the flow saw them in training."""
    mixture = stages(run)[0]
    made = as_stored(mixture.decode({"c": torch.eye(len(mixture.logits), device=run.device)}))
    return as_network_input(torch.from_numpy(made), run.device)


def over_test(run: Run, value: Callable[[Tensor], Tensor]) -> float:
    """The mean of a density over held-out images; the noise of dequantisation is the same for every measure."""
    torch.manual_seed(mix(run.plan.seed, "density"))
    images, parts = held_out(run).observations, []
    with torch.inference_mode():
        for start in range(0, len(images), BATCH):
            x = torch.from_numpy(np.ascontiguousarray(images[start : start + BATCH]))
            parts.append(value(as_network_input(x, run.device)).double().cpu())
    return float(torch.cat(parts).mean())


def mixture_density(run: Run) -> float:
    """log p(x) under the mixture alone."""
    return over_test(run, stages(run)[0].log_density)


def conditional_density(run: Run, part: float = 1.0) -> float:
    """log p(x | y) after this part of training, with y as in training: from the component of x."""
    kind, flow, before = cast(MSFlow, run.plan.stages[1][0]).condition, stages(run, part)[1], run.chain_before(2)
    return over_test(run, lambda x: flow.log_density(x, before.condition(x, None, kind)[0]))


def chain_density(run: Run, part: float = 1.0) -> float:
    """log p(x) = log Σₖ πₖ p(x | yₖ), exactly; given samples there is no such sum, and this is not a number."""
    mixture, flow = stages(run, part)
    if cast(MSFlow, run.plan.stages[1][0]).condition == "observation":
        return chains.NOTHING
    weights, y = F.log_softmax(mixture.logits, 0), centres(run)
    return over_test(run, lambda x: log_density(weights, y, flow, x)[0])


def samples(run: Run, each: int, *, stage: int) -> NDArray[Any]:
    """Images of every component, [component, each, …], of the mixture or of the flow behind it."""
    mixture, _ = stages(run)
    torch.manual_seed(mix(run.plan.seed, "samples"))
    with torch.inference_mode():
        c = torch.eye(len(mixture.logits), device=run.device).repeat_interleave(each, 0)
        drawn = mixture.sample_x({"c": c})
        if stage == 1:
            return as_stored(drawn).reshape(-1, each, *run.data.observations.shape[1:])
        given_samples = cast(MSFlow, run.plan.stages[1][0]).condition == "observation"
        y = drawn if given_samples else centres(run).repeat_interleave(each, 0)
        z = stages(run)[1].prior(len(c))["z"].rsample()
        return as_stored(stages(run)[1].decode({"z": z}, y)).reshape(-1, each, *run.data.observations.shape[1:])


def kept(run: Run, *, stage: int) -> float:
    """The share of samples that the mixture would give to the component that they were asked of."""
    made = samples(run, 50, stage=stage)
    x = as_network_input(torch.from_numpy(made.reshape(-1, *made.shape[2:])), run.device)
    with torch.inference_mode():
        found = stages(run)[0].encode(x)["c"].mean.argmax(1).reshape(len(made), -1).cpu()
    return float((found == torch.arange(len(made))[:, None]).float().mean())


MEASURES: Mapping[str, Callable[[Run], float]] = {
    "mixture": mixture_density,
    "conditional": conditional_density,
    "chain": chain_density,
    **{f"chain-{part:g}": partial(chain_density, part=part) for part in POINTS},
    **{f"conditional-{part:g}": partial(conditional_density, part=part) for part in POINTS},
    "kept-1": partial(kept, stage=1),
    "kept-2": partial(kept, stage=2),
}
COLUMNS = {
    "mixture": ("mixture, log p(x)", 1),
    "chain": ("MS-FLOW, log p(x)", 1),
    **{f"conditional-{part:g}": (f"log p(x given y) after {part:g} of training", 1) for part in POINTS},
    "conditional": ("at its end", 1),
    "kept-1": ("mixture's samples in their component", 3),
    "kept-2": ("MS-FLOW's", 3),
}


def draw(path: Path, run: Run, finished: Sequence[Finished]) -> None:
    """Centres, samples of mixture and flow by component (figures 18 and 19), and training curves (figure 20)."""
    with plots.plain_style():
        figure = Figure(figsize=(11, 4.4), layout="constrained")
        places = figure.add_gridspec(1, 4, width_ratios=[0.25, 1, 1, 1.3])
        grids = {
            "y": as_stored(centres(run))[:, None],
            "mixture": samples(run, 8, stage=1),
            "MS-FLOW": samples(run, 8, stage=2),
        }
        for column, (title, images) in enumerate(grids.items()):
            panel = figure.add_subplot(places[0, column])
            rows = [np.concatenate(list(row), axis=1) for row in images]
            panel.imshow(np.concatenate(rows)[..., 0], cmap="gray", vmin=0, vmax=255, interpolation="nearest")
            panel.set_axis_off()
            panel.set_title(title, fontsize=9)
        curve = figure.add_subplot(places[0, 3])
        parts = {**{part: f"chain-{part:g}" for part in POINTS}, 1.0: "chain"}
        for colour, (group, runs) in zip(plots.COLOURS, tables.groups(finished).items(), strict=False):
            for number, one in enumerate(runs):
                log = read_log(one.folder / "stage-2" / "log.jsonl")
                points = [(at["step"], at["flow/log_density"]) for at in log if at["flow/log_density"] > -2500]
                if points:
                    label = None if number else group
                    curve.plot(*zip(*points, strict=True), lw=1, alpha=0.7, color=colour, label=label)
                tested = [(part * one.trial.steps[1], one.figures[name]) for part, name in parts.items()]
                if points and not np.isnan(one.figures["chain"]):
                    label = None if number else "log p(x), held out"
                    curve.plot(*zip(*tested, strict=True), "o", ms=4, color=colour, label=label)
        curve.set_xlabel("step")
        curve.set_ylabel("log p(x given y), training batches")
        curve.legend(frameon=False, fontsize=8)
        plots.save_figure(figure, path, dpi=120)


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The study as Markdown, with a picture of the first run beside it."""
    setting = SETTINGS[scale]
    draw(folder / f"{stem}.png", Run.open(finished[0].folder), finished)
    flow = cast(MSFlow, finished[0].trial.stages[1])
    ours = {
        "data": f"{setting.data} {dict(setting.train)}",
        "space": "bytes dequantised uniformly, then logit with λ = 1e-6",
        "mixture": "10 Gaussians with diagonal covariance, EM on 20,000 images, then one step of Adam",
        "flow": f"{flow.transforms} affine couplings, hidden layers: {flow.layers} of {round(1000 * flow.width)} units",
        "steps": f"{setting.steps:,} at batch {flow.batch_size}, Adam {flow.adam.lr:g} to {flow.adam.rate(1):g}",
        "y as a sample": f"{setting.draws} for each image, one for each pass: drawn anew",
        "tested on": f"the first {setting.tested:,} held-out images",
        "seeds": str(setting.seeds),
    }
    return tables.document(
        f"MS-VAE: MS-FLOW on MNIST ({scale} scale)",
        "Appendix D: a mixture of Gaussians chooses the component (C) and its image (Y); a conditional coupling "
        "flow adds the rest. The density rises from the mixture's to the flow's, and samples can still be asked "
        "of one component. D.1 compares a flow that is given the components' centres with one given samples.",
        tables.setting(ours, PAPER_SETTING),
        tables.section(
            "Results",
            "Nats, mean over held-out images, one draw of the dequantisation noise. MS-FLOW's log p(x) is exact: the "
            "sum over components. Given samples of Y there is no such sum; log p(x given y) compares both. The "
            "last two columns: the share of 50 samples of each component that the mixture assigns to it.",
        ),
        tables.summary(finished, COLUMNS),
        f"![centres, samples by component, training curves]({stem}.png)",
        tables.section("Published figures, MNIST in logit space", tables.markdown(["", "log p(x)"], PUBLISHED)),
        tables.every_run(finished, COLUMNS),
    )


STUDY = Study(
    name="ms-vae/mnist-flow",
    title="MS-FLOW on MNIST: log-densities before and after the flow, samples by component",
    trials=trials,
    measures=MEASURES,
    page=page,
)
