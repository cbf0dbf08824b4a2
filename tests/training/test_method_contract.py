"""Every method through one contract."""

import pytest

from unbraid import methods
from unbraid.core import Adam, MethodConfig
from unbraid.training.contract import check_method, check_processes

SMALL: tuple[MethodConfig, ...] = (
    methods.VAE(width=0.1, likelihood="gaussian-optimal"),
    methods.BetaVAE(width=0.1, network="conv-bn", likelihood="gaussian"),
    methods.AnnealedVAE(width=0.1, network="mlp", likelihood="laplace", capacity_steps=3),
    methods.BetaTCVAE(width=0.1),
    methods.BetaTCVAE(width=0.1, estimator="mss", network="conv-celeba"),
    methods.BetaTCVAE(width=0.1, network="broadcast", likelihood="gaussian-optimal", turns=2),
    methods.FactorVAE(width=0.1, critic_units=100),
    methods.DIPVAEI(width=0.1, average=0.9, adam=Adam(schedule="cosine", end=0.1, warmup=2, clip=1.0)),
    methods.DIPVAEII(width=0.1, third_moments=200.0),
    methods.JointVAE(width=0.1, classes=(3, 2), capacity_steps=3),
    methods.HFVAE(width=0.1, groups=(2, 1), classes=(3,)),
    methods.HFVAE(width=0.1, groups=(2, 2), classes=(), estimator="mss"),
    methods.FullVAE(width=0.1),
    methods.IVAE(width=0.1, encoding="one-hot"),
    methods.IDVAE(width=0.1),
    methods.SSIVAE(width=0.1, encoding="one-hot"),
    methods.SSIDVAE(width=0.1),
    methods.PartedVAE(width=0.1, attention_steps=3, class_prior="labels"),
    methods.GuidedVAE(width=0.1, deformation=2),
    methods.SupervisedGuidedVAE(width=0.1),
    methods.FlowBetaTCVAE(width=0.1, depth=4),
    methods.GuidedBetaTCVAE(width=0.1),
    methods.InfoGAN(width=0.1),
    methods.MSVAE(width=0.1),
    methods.Controls(width=0.1),
    methods.MSControls(width=0.1, factors=("shade",), likelihood="gaussian"),
    methods.GaussianMixture(components=3),
    methods.MSFlow(width=0.02, transforms=2),
    methods.MSGAN(width=0.1),
    methods.MSGAN(width=0.1, styles="places"),
    methods.MSVAE(width=0.1, styles="places"),
    methods.MSVAE.fast(width=0.1, latents=6),
    methods.MSVAE(width=0.1, latents=6, network="fast", likelihood="laplace", normalize=True, average=0.5),
    methods.CGAN(width=0.1),
    methods.EndToEnd(width=0.1),
    methods.JacobianSupervision(width=0.1),
    methods.MSVAE(width=0.1, content="codes"),
    methods.MSVAE(width=0.1, content="codes+z", encoder_sees="x"),
)


@pytest.mark.parametrize("config", SMALL, ids=lambda config: config.name)
def test_method_keeps_the_contract(config: MethodConfig) -> None:
    check_method(config, processes=1)


def test_every_method_is_checked_here() -> None:
    assert {type(config) for config in SMALL} == set(methods.METHODS)


def test_two_processes_that_train_together_hold_the_same_weights() -> None:
    check_processes(SMALL)
