"""Results of the five papers as studies that can be run: `unbraid reproduce PAPER/RESULT --scale smoke|desk|paper`."""

from __future__ import annotations

from unbraid.papers.reproduce import reproduce
from unbraid.papers.studies import (
    idvae,
    ms_vae_ablations,
    ms_vae_cars,
    ms_vae_flow,
    ms_vae_gan,
    ms_vae_pendulum,
    parted_vae,
    parted_vae_sprites,
)
from unbraid.papers.studies.beta_tcvae import COMPARISON
from unbraid.papers.study import SCALES, Finished, Scale, Study, Trial

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        COMPARISON,
        parted_vae.STUDY,
        parted_vae_sprites.STUDY,
        idvae.STUDY,
        ms_vae_pendulum.STUDY,
        ms_vae_flow.STUDY,
        ms_vae_cars.STUDY,
        ms_vae_gan.STUDY,
        ms_vae_ablations.STUDY,
    )
}

__all__ = ["SCALES", "STUDIES", "Finished", "Scale", "Study", "Trial", "reproduce"]
