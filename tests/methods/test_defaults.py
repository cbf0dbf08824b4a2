"""What a user gets who sets nothing: the papers' weights, sizes and optimisers, where they print them."""

import dataclasses

import pytest

from unbraid import methods
from unbraid.core import Adam
from unbraid.data.pairs import Pairs

SLOW = Adam(lr=1e-4, beta1=0.9, beta2=0.999, eps=1e-8, end=1.0)  # table 4 of IDVAE; MS-VAE
GAN = Adam(lr=1e-4, beta1=0.5, beta2=0.999)
# Options that mean the same everywhere.
COMMON = {
    "batch_size": 64,
    "latents": 10,
    "likelihood": "bernoulli",
    "scale": 1.0,
    "network": "auto",
    "width": 1.0,
    "critic_width": 0.0,
    "adam": SLOW,
    "estimator": "mws",
    "temperature": 0.67,
    "condition": "sample",
    "draws": 1,
    "factors": (),
    "target": "",
    "styles": "channels",
    "encoding": "scaled",
    "prior_units": 1000,
}
TC = {"alpha": 1.0, "beta": 6.0, "gamma": 1.0}
GUIDED = {"guide": 0.5, "overlap": 1.0, "deformation": 0}
DOUBLE = {"prior_adam": Adam(1e-4, 0.5, 0.9), "label_scale": 0.1}
OWN = {
    "vae": {},
    "beta-vae": {"beta": 4.0},
    "annealed-vae": {"gamma": 1000.0, "capacity": 25.0, "capacity_steps": 100_000},
    "beta-tcvae": TC,
    "beta-tcvae-flow": {**TC, "depth": 32},
    "factor-vae": {"gamma": 35.0, "critic_units": 1000, "critic_layers": 6, "critic_adam": Adam(1e-4, 0.5, 0.9)},
    "dip-vae-i": {"off_diagonal": 10.0, "diagonal": 100.0},
    "dip-vae-ii": {"off_diagonal": 5.0, "diagonal": 5.0, "third_moments": 0.0},
    "joint-vae": {
        "latents": 6,
        "classes": (3,),
        "gamma": 150.0,
        "capacity": 40.0,
        "discrete_capacity": 1.1,
        "capacity_steps": 300_000,
        "adam": Adam(5e-4),
    },
    "hfvae": {"groups": (1,) * 10, "classes": (3,), "alpha": 1.0, "beta": 4.0, "gamma": 1.0, "adam": Adam(1e-3)},
    "hfs-vae": {"beta": 1.0, "gamma": 100.0, "scale_guard": 1.0, "pairs_of_latents": 25, "combinations": 100},
    "ada-gvae": {"beta": 1.0, "pairs": Pairs("changed", 0)},
    "ada-ml-vae": {"beta": 1.0, "pairs": Pairs("changed", 0)},
    "slow-vae": {"beta": 1.0, "gamma": 10.0, "rate": 6.0, "pairs": Pairs("steps", rate=1.0)},
    "ae": {},
    "qlae": {"values": 10, "quantization": 0.01, "commitment": 0.01, "adam": Adam(lr=1e-3, decay=0.1, clip=1.0)},
    "fsq": {"values": 12},
    "tripod": {"values": 12, "independence": 1e-4, "hessian": 1e-2, "rounded": True},
    "guided-vae": GUIDED,
    "guided-beta-tcvae": {**GUIDED, "beta": 6.0},
    "infogan": {
        "codes": 5,
        "noise": 5,
        "information": 1.0,
        "instance_noise": 0.1,
        "noise_steps": 20_000,
        "adam": Adam(2e-4, 0.5),
        "critic_adam": Adam(2e-4, 0.5),
    },
    "guided-vae-supervised": {"label_weight": 1.0, "judge_adam": SLOW},
    "full-vae": {"gamma": 1.0, "beta": 1.0},
    "ivae": {"beta": 1.0},
    "idvae": {"beta": 1.0, **DOUBLE},
    "ss-ivae": {"alpha": 1.0, "beta": 1.0},
    "ss-idvae": {"alpha": 1.0, "beta": 1.0, **DOUBLE},
    "parted-vae": {  # table 6, dSprites
        "latents": 5,
        "class_latents": 1,
        "classes": (),
        "class_prior": "uniform",
        "gamma_u": 50.0,
        "gamma_z": 50.0,
        "gamma_c": 100.0,
        "gamma_h": 10.0,
        "gamma_bc": 10.0,
        "tolerance": 0.1,
        "capacity_u": 5.0,
        "capacity_z": 30.0,
        "capacity_steps": 300_000,
        "attention_gain": 8.0,
        "attention_steps": 35_000,
        "label_batch_size": 64,
        "adam": Adam(5e-4),
        "label_adam": Adam(5e-4),
    },
    "ms-vae": {
        "network": "paper",
        "batch_size": 32,
        "latents": 5,
        "beta": 1.0,
        "content": "y",
        "encoder_sees": "residual",
    },
    "controls": {},
    "ms-controls": {},
    "gaussian-mixture": {
        "batch_size": 256,
        "components": 10,
        "em_rows": 20_000,
        "em_iterations": 100,
        "adam": Adam(1e-3),
    },
    "ms-flow": {"batch_size": 100, "transforms": 5, "layers": 1},
    "ms-gan": {"adam": GAN, "critic_adam": GAN},
    "cgan": {"adam": GAN, "critic_adam": GAN},
    "end-to-end": {"batch_size": 32, "latents": 5, "residual_latents": 5, "beta": 4.0},
    "jacobian": {
        "batch_size": 128,
        "condition": "mean",
        "latents": 5,
        "code_weight": 0.25,
        "difference_weight": 0.1,
        "covariance_weight": 1e-3,
        "adam": Adam(3e-4),
    },
}


@pytest.mark.parametrize("name", OWN)
def test_defaults(name: str) -> None:
    config = methods.by_name(name)()
    expected = {**COMMON, **OWN[name]}
    found = {field.name: getattr(config, field.name) for field in dataclasses.fields(config) if field.name in expected}
    assert found == {option: expected[option] for option in found}
    assert set(OWN[name]) <= set(found)


def test_plain_adam_has_the_settings_of_its_paper_and_a_steady_rate() -> None:
    assert dataclasses.astuple(Adam()) == (1e-4, 0.9, 0.999, 1e-8, 1.0, "linear", 0, 0.0, 0.0)
