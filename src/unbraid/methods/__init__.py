"""Every method, one file each. To add one: write its file, and name it here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unbraid.core import MethodConfig
from unbraid.errors import unknown
from unbraid.methods.gan.cgan import CGAN
from unbraid.methods.gan.infogan import InfoGAN
from unbraid.methods.gan.ms_gan import MSGAN
from unbraid.methods.labelled.full_vae import FullVAE
from unbraid.methods.labelled.idvae import IDVAE
from unbraid.methods.labelled.ivae import IVAE
from unbraid.methods.labelled.parted_vae import PartedVAE
from unbraid.methods.labelled.ss_ivae import SSIDVAE, SSIVAE
from unbraid.methods.labelled.supervised_guided_vae import SupervisedGuidedVAE
from unbraid.methods.pairs.ada_vae import AdaGVAE, AdaMLVAE
from unbraid.methods.pairs.slow_vae import SlowVAE
from unbraid.methods.quantised.autoencoder import Autoencoder
from unbraid.methods.quantised.fsq import FSQ
from unbraid.methods.quantised.qlae import QLAE
from unbraid.methods.quantised.tripod import Tripod
from unbraid.methods.staged.controls import Controls, MSControls
from unbraid.methods.staged.end_to_end import EndToEnd
from unbraid.methods.staged.gaussian_mixture import GaussianMixture
from unbraid.methods.staged.jacobian import JacobianSupervision
from unbraid.methods.staged.ms_flow import MSFlow
from unbraid.methods.staged.ms_vae import MSVAE
from unbraid.methods.vae.annealed_vae import AnnealedVAE
from unbraid.methods.vae.beta_tcvae import BetaTCVAE
from unbraid.methods.vae.beta_vae import VAE, BetaVAE
from unbraid.methods.vae.dip_vae import DIPVAEI, DIPVAEII
from unbraid.methods.vae.factor_vae import FactorVAE
from unbraid.methods.vae.flow_beta_tcvae import FlowBetaTCVAE
from unbraid.methods.vae.guided_vae import GuidedBetaTCVAE, GuidedVAE
from unbraid.methods.vae.hfs_vae import HFSVAE
from unbraid.methods.vae.hfvae import HFVAE
from unbraid.methods.vae.joint_vae import JointVAE
from unbraid.util.schema import from_json, to_json

METHODS: tuple[type[MethodConfig], ...] = (
    VAE,
    BetaVAE,
    AnnealedVAE,
    BetaTCVAE,
    FactorVAE,
    DIPVAEI,
    DIPVAEII,
    JointVAE,
    HFVAE,
    GuidedVAE,
    GuidedBetaTCVAE,
    InfoGAN,
    FlowBetaTCVAE,
    HFSVAE,
    Autoencoder,
    QLAE,
    FSQ,
    Tripod,
    AdaGVAE,
    AdaMLVAE,
    SlowVAE,
    SupervisedGuidedVAE,
    FullVAE,
    IVAE,
    IDVAE,
    SSIVAE,
    SSIDVAE,
    PartedVAE,
    MSVAE,
    Controls,
    MSControls,
    GaussianMixture,
    MSFlow,
    MSGAN,
    CGAN,
    EndToEnd,
    JacobianSupervision,
)

__all__ = [
    "CGAN",
    "DIPVAEI",
    "DIPVAEII",
    "FSQ",
    "HFSVAE",
    "HFVAE",
    "IDVAE",
    "IVAE",
    "METHODS",
    "MSGAN",
    "MSVAE",
    "QLAE",
    "SSIDVAE",
    "SSIVAE",
    "VAE",
    "AdaGVAE",
    "AdaMLVAE",
    "AnnealedVAE",
    "Autoencoder",
    "BetaTCVAE",
    "BetaVAE",
    "Controls",
    "EndToEnd",
    "FactorVAE",
    "FlowBetaTCVAE",
    "FullVAE",
    "GaussianMixture",
    "GuidedBetaTCVAE",
    "GuidedVAE",
    "InfoGAN",
    "JacobianSupervision",
    "JointVAE",
    "MSControls",
    "MSFlow",
    "PartedVAE",
    "SlowVAE",
    "SupervisedGuidedVAE",
    "Tripod",
    "by_name",
    "describe",
    "restore",
]


def by_name(name: str, more: Sequence[type[MethodConfig]] = ()) -> type[MethodConfig]:
    """The configuration class of a method, by its name on the command line.

    Args:
        name: as in `unbraid fit DATA --method NAME`.
        more: methods of your own.

    Returns:
        The class.

    Example:
        >>> by_name("beta-tcvae").title
        'β-TCVAE'
    """
    known = {config.name: config for config in (*METHODS, *more)}
    if name not in known:
        raise unknown("method", name, known)
    return known[name]


def describe(config: MethodConfig) -> dict[str, Any]:
    """A configuration as it stands in `config.json`.

    Example:
        >>> describe(BetaVAE(beta=8.0))["options"]["beta"]
        8.0
    """
    return {"method": config.name, "options": to_json(config)}


def restore(description: Mapping[str, Any], more: Sequence[type[MethodConfig]] = ()) -> MethodConfig:
    """The configuration that `describe` wrote down.

    Args:
        description: what `describe` returned.
        more: methods of your own.

    Returns:
        The configuration; an option that is not named keeps its default.

    Example:
        >>> restore(describe(BetaVAE(beta=8.0))) == BetaVAE(beta=8.0)
        True
    """
    return from_json(by_name(description["method"], more), description["options"])
