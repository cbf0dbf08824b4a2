"""PartedVAE: what its parts see, what its steps change, and how it is used."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.distributions import Normal, kl_divergence

import unbraid as ub
from unbraid import methods
from unbraid.core import Batch, DataSpec
from unbraid.data.factor_data import Factor
from unbraid.methods.labelled.parted_vae import PartedVAEModel
from unbraid.nets.attention import ClassAttention, MixtureModes
from unbraid.training.batches import TrainingData
from unbraid.training.contract import small_images
from unbraid.util.files import read_json

DATA = small_images()
SPEC = TrainingData(DATA, DATA.factors).spec


def model(spec: DataSpec = SPEC, **options: Any) -> PartedVAEModel:
    torch.manual_seed(0)
    return methods.PartedVAE(width=0.1, **options).build(spec)


def batch(size: int = 10) -> Batch:
    x = torch.from_numpy(DATA.observations[:size]).permute(0, 3, 1, 2).float() / 255
    return Batch(x, torch.arange(size), torch.from_numpy(DATA.factors[:size]).float())


def test_the_labelled_step_changes_trunk_and_class_head_only() -> None:
    labelled, main = model().updates()
    assert (labelled.name, labelled.stream, labelled.trains) == ("labelled", "partly-labelled", ("classifier",))
    assert set(main.trains) == {name for name, _ in model().named_children()}
    method = model()
    method.labelled_loss(batch(), 0).total.backward()
    touched = {name.split(".")[0] for name, p in method.named_parameters() if p.grad is not None}
    assert touched == {"classifier"}


def test_without_labels_there_is_no_labelled_step() -> None:
    (main,) = model(DataSpec((3, 16, 16), 48), classes=(3, 2)).updates()
    assert main.name == "vae"
    assert np.isfinite(model(DataSpec((3, 16, 16), 48), classes=(3,)).loss(batch(), 5).values()["total"])


def test_the_decoder_sees_u_and_z_and_no_class() -> None:
    method = model(latents=4, class_latents=3)
    assert method.decoder[0].in_features == 4 + 2 * 3
    assert set(method.encode(batch().x)) == {"u", "z"}


def test_u_of_one_variable_does_not_depend_on_another_variable() -> None:
    method = model(class_latents=2)
    with torch.no_grad():
        _, before, _, _ = method.infer(batch().x, 8.0, sample=False)
        method.classifier.head.bias[4:] += torch.tensor([50.0, 0.0, -50.0])  # the second variable's classes change
        _, after, _, _ = method.infer(batch().x, 8.0, sample=False)
    torch.testing.assert_close(before[0].mean, after[0].mean)
    assert not torch.allclose(before[1].mean, after[1].mean)


def test_z_does_not_know_the_class() -> None:
    method = model()
    with torch.no_grad():
        before = method.encode(batch().x)["z"].mean
        method.classifier.head.bias.add_(torch.randn(7) * 50)
        torch.testing.assert_close(method.encode(batch().x)["z"].mean, before)


def test_attention_decides_as_its_gain_grows() -> None:
    torch.manual_seed(1)
    attention, c = ClassAttention(3, 50), torch.eye(3)
    soft, hard = attention(c, 1.0), attention(c, 8.0)
    assert ((soft > 0) & (soft < 1)).all()
    assert (hard - 0.5).abs().mean() > (soft - 0.5).abs().mean()


def test_modes_keep_their_variances_within_bounds() -> None:
    modes = MixtureModes(2, 2)
    modes.raw_log_var.data = torch.tensor([[50.0, -50.0], [0.0, 0.0]])
    torch.testing.assert_close(modes.log_var.detach(), torch.tensor([[1.0, -3.0], [-1.0, -1.0]]))


def test_the_total_is_the_weighted_sum_of_its_terms() -> None:
    method = model(capacity_steps=10, gamma_h=3.0, gamma_c=5.0)
    torch.manual_seed(4)
    v = method.loss(batch(), 5).values()
    o = method.config
    expected = v["reconstruction"] + o.gamma_u * abs(v["kl_u"] - 2.5) + o.gamma_z * abs(v["kl_z"] - 15)
    expected += o.gamma_h * v["entropy"] + o.gamma_c * v["kl_c"] + o.gamma_bc * v["overlap"]
    assert v["total"] == pytest.approx(expected, rel=1e-5)


def test_the_kl_of_u_weighs_each_mode_by_the_probability_of_its_class() -> None:
    method, x = model(), batch().x
    torch.manual_seed(4)
    found = method.loss(batch(), 0).values()["kl_u"]
    torch.manual_seed(4)
    q_c, q_u, _, _ = method.infer(x, 1.0, sample=True)
    expected = 0.0
    for shares, q, modes in zip(q_c.probabilities.split(method.sizes, dim=1), q_u, method.mode_list, strict=True):
        posterior = Normal(q.mean, (0.5 * q.log_var).exp())
        for c in range(shares.shape[1]):
            kl = kl_divergence(posterior, Normal(modes.mean[c], (0.5 * modes.log_var[c]).exp())).sum(1)
            expected += (shares[:, c] * kl).mean().item()
    assert found == pytest.approx(expected, rel=1e-4)


def test_a_gap_in_one_label_leaves_the_others_to_learn_from() -> None:
    method, full = model(), batch()
    factors = full.factors.clone()
    factors[:, 1] = torch.nan
    logits = method.classifier(full.x).split((4, 3), dim=1)
    expected = torch.nn.functional.cross_entropy(logits[0], full.factors[:, 0].long())
    found = method.labelled_loss(Batch(full.x, full.index, factors), 0).total
    torch.testing.assert_close(found, expected)


def test_classes_come_from_labels_or_must_be_named() -> None:
    assert model().sizes == (4, 3)
    with pytest.raises(ub.InputError, match="how many classes"):
        model(DataSpec((3, 16, 16), 48))
    with pytest.raises(ub.InputError, match=r"--classes \[5\] does not match the labels, which have \[4, 3\]"):
        model(classes=(5,))
    continuous = DataSpec((3, 16, 16), 48, (Factor("mass", 0, "continuous"),), ((0.0, 1.0),), labelled=48, shares=((),))
    with pytest.raises(ub.InputError, match="'mass' is continuous"):
        model(continuous)


def test_the_class_prior_is_uniform_or_that_of_the_labels() -> None:
    torch.testing.assert_close(model().class_shares[:4], torch.full((4,), 0.25))
    shares = np.bincount(DATA.factors[:, 1].astype(int)) / len(DATA)
    torch.testing.assert_close(
        model(class_prior="labels").class_shares[4:].double(), torch.from_numpy(shares), rtol=1e-5, atol=0
    )


def test_a_class_without_labels_is_not_forbidden_by_a_prior_that_counts_them() -> None:
    seen = DATA.factors.copy()
    seen[seen[:, 1] == 2] = np.nan
    with pytest.raises(ub.InputError, match="no label shown has shade 2, and --class-prior labels would forbid it"):
        methods.PartedVAE(class_prior="labels").check(TrainingData(DATA, seen).spec)
    with pytest.raises(ub.InputError, match="--class-prior labels needs labels"):
        methods.PartedVAE(class_prior="labels", classes=(3,)).check(DataSpec((3, 16, 16), 48))
    torch.testing.assert_close(model(TrainingData(DATA, seen).spec).class_shares[4:], torch.full((3,), 1 / 3))


def test_what_is_inferred_without_a_draw_is_the_likeliest_class() -> None:
    method = model()
    q_c, _, _, c = method.infer(batch().x, 8.0, sample=False)
    for one, p in zip(c.split(method.sizes, dim=1), q_c.probabilities.split(method.sizes, dim=1), strict=True):
        torch.testing.assert_close(one, torch.nn.functional.one_hot(p.argmax(1), one.shape[1]).float())


def test_generation_draws_a_class_and_then_from_its_mode() -> None:
    method = model(class_latents=2)
    with torch.no_grad():
        prior = method.prior(500)
    means = torch.cat([m.mean for m in method.mode_list]).detach()
    assert prior["u"].mean.shape == (500, 4)
    assert len(prior["u"].mean[:, :2].unique(dim=0)) == 4
    assert all((means[:4] == row).all(1).any() for row in prior["u"].mean[:5, :2])
    with torch.no_grad():
        assert method.decode({key: q.rsample() for key, q in prior.items()}).shape == (500, 3, 16, 16)


def test_transfer_keeps_the_class_codes_and_takes_the_rest() -> None:
    method = model().eval()
    with torch.no_grad():
        content, style = batch().x[:4], batch().x[4:8]
        codes = {"u": method.encode(content)["u"].mean, "z": method.encode(style)["z"].mean}
        torch.testing.assert_close(method.transfer(content, style), method.decode(codes))
        torch.testing.assert_close(
            method.transfer(content, content), method.decode({k: q.mean for k, q in method.encode(content).items()})
        )


def test_without_labels_it_finds_classes_of_its_own(tmp_path: Path) -> None:
    config = methods.PartedVAE(width=0.1, classes=(5,), attention_steps=2)
    run = ub.fit(DATA, config, steps=3, labels=0, out=tmp_path / "run", show=False)
    assert run.stage(1).sizes == (5,)
    assert np.isnan(run.visible_labels).all()
    assert read_json(run.stage_folder(1) / "stage.json")["labels"] == {"training": False, "test": False}


def test_a_few_steps_on_few_labels_make_a_classifier(tmp_path: Path) -> None:
    config = methods.PartedVAE(width=0.2, attention_steps=10)
    run = ub.fit(DATA, config, steps=60, labels=24, out=tmp_path / "run", show=False)
    with torch.no_grad():
        method: Any = run.stage(1)
        place = method.classify(run.observations(np.arange(48)))[0].argmax(1).numpy()
    assert (place == DATA.factors[:, 0]).mean() > 0.8
