"""The list of studies. To add one: write its file in `studies/` with a `STUDY`, and name it here."""

from __future__ import annotations

from importlib import import_module

from unbraid.papers.study import Study

MODULES = (
    "beta_tcvae_strength",
    "beta_tcvae_correlated",
    "beta_tcvae_ablations",
    "dip_vae_shapes",
    "dip_vae_faces",
    "parted_vae",
    "parted_vae_sprites",
    "parted_vae_comparison",
    "parted_vae_faces",
    "idvae_labels",
    "idvae_strong",
    "ms_vae_pendulum",
    "ms_vae_flow",
    "ms_vae_cars",
    "ms_vae_sizes",
    "ms_vae_faces",
    "ms_vae_gan",
    "ms_vae_gan_found",
    "ms_vae_ablations",
    "ms_vae_details",
    "search_udr",
    "beyond_pairs",
    "beyond_quantised",
    "beyond_correlated",
    "beyond_additive",
)


def load_studies() -> dict[str, Study]:
    """Import every study.

    Returns:
        Studies by name, PAPER/RESULT.
    """
    found: list[Study] = [import_module(f"unbraid.papers.studies.{name}").STUDY for name in MODULES]
    return {study.name: study for study in found}


STUDIES = load_studies()
