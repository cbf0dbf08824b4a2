"""Mita et al. 2021, figures 3 to 6, at strengths at which an encoder obeys the prior that it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from unbraid.api import Run
from unbraid.methods.labelled.conditional import ConditionalConfig
from unbraid.papers import tables
from unbraid.papers.measures import runs as measures
from unbraid.papers.measures.chains import NOTHING
from unbraid.papers.studies import idvae_labels as labels
from unbraid.papers.study import Finished, Scale, Study, Trial

STRENGTHS = (64.0, 256.0)
SETTINGS: dict[Scale, labels.Setting] = {
    scale: replace(setting, strengths=STRENGTHS if scale != "smoke" else STRENGTHS[:1])
    for scale, setting in labels.SETTINGS.items()
}


def trials(scale: Scale) -> list[Trial]:
    """The four methods at every strength on every data set; one seed after another."""
    s = SETTINGS[scale]
    return [
        Trial(f"{data}, {at:g}: {group}", data, (config,), (s.steps,), seed, s.data[data])
        for seed in range(s.seeds)
        for data in s.data
        for at in s.strengths
        for group, config in labels.compared(s, data, at).items()
    ]


def distance_to_prior(run: Run) -> float:
    """KL[q(z | x, u) ‖ p(z | u)] at the end of training, in nats; 0: the image says nothing that the labels do not."""
    if not isinstance(run.config(1), ConditionalConfig):
        return NOTHING
    return measures.logged(run, f"{run.stage(1).updates()[-1].name}/kl")


def scores_at(finished: Sequence[Finished], scale: Scale, data: str, at: float) -> str:
    """Means over seeds for each method, with how far its codes are from their prior and what the prior itself has."""
    rows: list[list[str]] = []
    for group, runs in tables.groups(finished).items():
        where, name = group.split(": ")
        if where == f"{data}, {at:g}":
            for row in labels.score_rows(name, runs):
                told = [("distance", 1), ("prior_mig", 3)]
                extra = [tables.with_interval([run.figures[key] for run in runs], digits) for key, digits in told]
                rows.append([*row, *extra])
    labels_themselves = labels.ceiling(data, SETTINGS[scale].data[data])
    rows.append(["*codes that are the labels*", *labels_themselves, tables.NOT_MEASURED, tables.NOT_MEASURED])
    return tables.markdown(["", *labels.SCORES.values(), "KL to its prior, nats", "MIG of the prior"], rows)


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The comparison as Markdown."""
    s = SETTINGS[scale]
    ours = labels.described(s) | {"label_scale": "0.1"}
    return tables.document(
        f"IDVAE: at strengths at which encoders obey their prior ({scale} scale)",
        "Mita et al. 2021, figures 3 to 6: IDVAE is ahead of β-VAE, FullVAE and IVAE by five scores. The study "
        "[idvae/labels](idvae-labels.md) has the paper's strengths, up to 16. This one goes on from there: a code "
        "can only be as the conditional prior p(z | u) has it where the KL to that prior counts against the "
        "reconstruction. Encoders that are given labels can pass them on: codes that are the labels are the ceiling of "
        "«given labels», untrained ones are on the other page. Explicitness is the paper's, the AUC; SAP is by SVM.",
        tables.setting(ours, labels.PAPER_SETTING),
        *(
            block
            for data in s.data
            for at in s.strengths
            for block in (
                tables.section(f"{data}, strength {at:g}", "Means over seeds with 95 % Student intervals."),
                scores_at(finished, scale, data, at),
            )
        ),
    )


STUDY = Study(
    name="idvae/strong",
    title="the same methods at strengths at which encoders obey their conditional prior",
    trials=trials,
    measures={**labels.MEASURES, "distance": distance_to_prior},
    page=page,
)
