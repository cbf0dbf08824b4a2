"""Who plays: the steps of every method, what each trains, on which rows, by which optimiser; and what it declares."""

import dataclasses

import pytest
import torch

from unbraid import methods
from unbraid.core import Adam, Batch, DataSpec, build_method
from unbraid.data import Factor

MAIN, OTHER = Adam(lr=0.1), Adam(lr=0.2)
SIZE = 7
SPEC = DataSpec(
    (1, 16, 16),
    40,
    (Factor("a", 3, "categorical"), Factor("b", 2, "categorical")),
    ranges=((0.0, 2.0), (0.0, 1.0)),
    codes=3,
    labelled=20,
    shares=((0.5, 0.3, 0.2), (0.4, 0.6)),
    means=(0.7, 0.6),
)
BOTH = ("encoder", "decoder")
ONE_STEP = ("vae", BOTH, "train", MAIN, SIZE)
# For every method its steps in order: name, what it trains, rows, optimiser, batch.
STEPS = {
    "vae": [ONE_STEP],
    "beta-vae": [ONE_STEP],
    "annealed-vae": [ONE_STEP],
    "beta-tcvae": [ONE_STEP],
    "factor-vae": [ONE_STEP, ("critic", ("critic",), "train", OTHER, 2 * SIZE)],
    "dip-vae-i": [ONE_STEP],
    "dip-vae-ii": [ONE_STEP],
    "joint-vae": [ONE_STEP],
    "hfvae": [ONE_STEP],
    "guided-vae": [("vae", (*BOTH, "guide"), "train", MAIN, SIZE)],
    "guided-beta-tcvae": [("vae", (*BOTH, "guide"), "train", MAIN, SIZE)],
    "infogan": [
        ("critic", ("trunk", "critic", "recognition"), "train", OTHER, SIZE),
        ("generator", ("generator",), "train", MAIN, SIZE),
    ],
    "beta-tcvae-flow": [("vae", (*BOTH, "flow"), "train", MAIN, SIZE)],
    "guided-vae-supervised": [
        ONE_STEP,
        ("excitation", ("encoder", "exciting"), "labelled", MAIN, SIZE),
        ("inhibition", ("inhibiting",), "labelled", OTHER, SIZE),
    ],
    "full-vae": [("vae", BOTH, "half-labelled", MAIN, SIZE)],
    "ivae": [("vae", (*BOTH, "prior_encoder"), "labelled", MAIN, SIZE)],
    "idvae": [
        ("prior", ("prior_encoder", "prior_decoder"), "labelled", OTHER, SIZE),
        ("image", BOTH, "labelled", MAIN, SIZE),
    ],
    "ss-ivae": [("vae", (*BOTH, "prior_encoder", "guess"), "half-labelled", MAIN, SIZE)],
    "ss-idvae": [
        ("prior", ("prior_encoder", "prior_decoder"), "half-labelled", OTHER, SIZE),
        ("image", (*BOTH, "guess"), "half-labelled", MAIN, SIZE),
    ],
    "parted-vae": [
        ("labelled", ("classifier",), "partly-labelled", OTHER, 5),
        ("vae", ("classifier", "attention", "u_heads", "z_head", "modes", "decoder"), "train", MAIN, SIZE),
    ],
    "ms-vae": [ONE_STEP],
    "controls": [("controls", ("decoder",), "labelled", MAIN, SIZE)],
    "ms-controls": [("controls", ("decoder",), "labelled", MAIN, SIZE)],
    "gaussian-mixture": [("mixture", ("logits", "means", "log_vars"), "train", MAIN, SIZE)],
    "ms-flow": [("flow", ("flow",), "train", MAIN, SIZE)],
    "ms-gan": [
        ("critic", ("critic",), "train", OTHER, SIZE),
        ("generator", ("generator",), "train", MAIN, SIZE),
    ],
    "cgan": [
        ("critic", ("critic",), "labelled", OTHER, SIZE),
        ("generator", ("generator",), "labelled", MAIN, SIZE),
    ],
    "end-to-end": [ONE_STEP],
    "jacobian": [("student", BOTH, "train", MAIN, SIZE)],
}


def marked(config):
    """The configuration with optimisers and sizes that can be told apart."""
    names = {field.name for field in dataclasses.fields(config)}
    values = {"adam": MAIN, "batch_size": SIZE, "width": 0.02, "label_batch_size": 5}
    values |= {name: OTHER for name in names if name.endswith("_adam")}
    return config(**{name: value for name, value in values.items() if name in names})


# Methods that others have added since are theirs to list.
@pytest.mark.parametrize("config", [m for m in methods.METHODS if m.name in STEPS], ids=lambda config: config.name)
def test_steps_of_a_method(config) -> None:
    updates = marked(config).build(SPEC).updates()
    found = [(u.name, u.trains, u.stream, u.optimizer, u.batch_size) for u in updates]
    assert found == STEPS[config.name]
    assert {u.repeats for u in updates} == {1}


def test_every_method_here_is_there() -> None:
    assert set(STEPS) <= {config.name for config in methods.METHODS}


def test_full_vae_needs_no_half_where_everything_is_labelled() -> None:
    (update,) = methods.FullVAE(width=0.02).build(dataclasses.replace(SPEC, labelled=40)).updates()
    assert update.stream == "train"


def test_ms_vae_counts_its_clip_for_each_value() -> None:
    (update,) = methods.MSVAE(width=0.02, adam=Adam(lr=0.1, clip=0.5)).build(SPEC).updates()
    assert update.optimizer == Adam(lr=0.1, clip=0.5 * 256)


RECONSTRUCTION, ELBO = {"reconstruction"}, {"reconstruction", "kl"}
TERMS_OF_TC = ELBO | {"index_code", "total_correlation", "dimension_kl"}
# What is logged of each step beside its total.
LOGGED = {
    "vae": [ELBO],
    "beta-vae": [ELBO],
    "annealed-vae": [ELBO],
    "beta-tcvae": [TERMS_OF_TC],
    "factor-vae": [ELBO | {"total_correlation"}, {"accuracy"}],
    "dip-vae-i": [ELBO | {"off_diagonal", "diagonal"}],
    "dip-vae-ii": [ELBO | {"off_diagonal", "diagonal", "third_moments"}],
    "joint-vae": [ELBO | {"kl_continuous", "kl_discrete"}],
    "hfvae": [ELBO | {"information", "between_groups", "within_groups", "prior_kl"}],
    "guided-vae": [ELBO | {"guide", "overlap"}],
    "guided-beta-tcvae": [ELBO | {"guide", "overlap"}],
    "infogan": [{"adversarial", "accuracy", "information"}, {"adversarial", "information"}],
    "beta-tcvae-flow": [ELBO],
    "guided-vae-supervised": [ELBO, {"excitation", "inhibition"}, set()],
    "full-vae": [ELBO | {"supervised"}],
    "ivae": [ELBO],
    "idvae": [ELBO, ELBO],
    "ss-ivae": [ELBO],
    "ss-idvae": [ELBO, ELBO],
    "parted-vae": [{"accuracy"}, {"reconstruction", "kl_u", "kl_z", "kl_c", "entropy", "overlap"}],
    "ms-vae": [ELBO],
    "controls": [RECONSTRUCTION],
    "ms-controls": [RECONSTRUCTION],
    "gaussian-mixture": [{"log_density"}],
    "ms-flow": [{"log_density"}],
    "ms-gan": [{"accuracy"}, {"adversarial"}],
    "cgan": [{"accuracy"}, {"adversarial"}],
    "end-to-end": [RECONSTRUCTION | {"kl_c", "kl_z"}],
    "jacobian": [{"reconstruction", "code", "difference", "covariance"}],
}


@pytest.mark.parametrize("config", [m for m in methods.METHODS if m.name in LOGGED], ids=lambda config: config.name)
def test_terms_that_are_logged(config) -> None:
    torch.manual_seed(0)
    labels = torch.tensor([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    x, y = torch.rand(2, 4, 1, 16, 16)
    chosen = marked(config)
    codes = torch.randn(4, 3) if chosen.uses_codes else None
    batch = Batch(x, torch.arange(4), labels, y if chosen.conditional else None, codes)
    found = [update.loss(batch, 0).values() for update in build_method(chosen, SPEC).updates()]
    assert len(found) == len(LOGGED[config.name])
    for terms, expected in zip(found, LOGGED[config.name], strict=True):
        assert expected <= set(terms)


def test_parted_vae_without_labels_has_one_step() -> None:
    updates = methods.PartedVAE(classes=(3,), width=0.02).build(DataSpec((1, 16, 16), 40)).updates()
    assert [update.name for update in updates] == ["vae"]


# What a method declares, where it is not the default: of its configuration, then of itself.
LABELS, COMPLETE, GIVEN, LATER = "uses_labels", "needs_complete_labels", "codes_are_labels", "conditional"
READS, PRIOR, DRAWS = "encoder_needs_labels", "another prior", "draws only"
DECLARED = {
    "beta-tcvae-flow": {PRIOR},
    "guided-vae-supervised": {LABELS, COMPLETE},
    "full-vae": {LABELS},
    "ivae": {LABELS, COMPLETE, READS, PRIOR},
    "idvae": {LABELS, COMPLETE, READS, PRIOR},
    "ss-ivae": {LABELS, READS, PRIOR},
    "ss-idvae": {LABELS, READS, PRIOR},
    "parted-vae": {LABELS, PRIOR},
    "ms-vae": {LATER},
    "controls": {LABELS, COMPLETE, GIVEN, READS},
    "ms-controls": {LABELS, COMPLETE, GIVEN, READS, LATER},
    "ms-flow": {LATER, DRAWS},
    "ms-gan": {LATER, DRAWS},
    "cgan": {LABELS, COMPLETE, GIVEN, READS, DRAWS},
    "jacobian": {LATER, "uses_codes", "replaces_codes"},
}


@pytest.mark.parametrize("config", [m for m in methods.METHODS if m.name in STEPS], ids=lambda config: config.name)
def test_what_a_method_declares(config) -> None:
    chosen = marked(config)
    method = build_method(chosen, SPEC)
    assert method.config is chosen
    names = (LABELS, COMPLETE, GIVEN, LATER, READS, "uses_codes", "replaces_codes")
    found = {name for name in names if getattr(chosen, name)}
    found |= ({PRIOR} if not chosen.standard_prior else set()) | ({DRAWS} if not chosen.reconstructs else set())
    assert found == DECLARED.get(config.name, set())


@pytest.mark.parametrize(("content", "uses"), [("y", False), ("codes", True), ("codes+z", True)])
def test_ms_vae_uses_codes_where_they_take_the_place_of_y(content: str, uses: bool) -> None:
    config = methods.MSVAE(content=content, width=0.02)
    assert config.uses_codes is uses


def test_labels_that_must_be_there() -> None:
    names = ("a", "b")
    assert methods.IVAE().required_labels(names) == names
    assert methods.SSIVAE().required_labels(names) == ()
    assert methods.Controls(factors=("b",)).required_labels(names) == ("b",)
    assert methods.Controls().required_labels(names) == names


def test_adams_rate_falls_on_a_straight_line() -> None:
    adam = Adam(lr=0.8, end=0.25)
    assert [adam.rate(progress) for progress in (0.0, 0.5, 1.0)] == pytest.approx([0.8, 0.5, 0.2])
