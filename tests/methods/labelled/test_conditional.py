"""Conditional priors: what the losses are, and where their gradients must not go."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import unbraid as ub
from unbraid import methods
from unbraid.core import Batch, DataSpec, MethodConfig
from unbraid.data.factor_data import Factor
from unbraid.evaluation.identifiability import identifiability
from unbraid.methods.labelled.conditional import kl_rows
from unbraid.nets.frozen import frozen
from unbraid.nets.observed import GuessedLabels, ObservedLabels
from unbraid.ops.gaussian import DiagonalGaussian, log_prob
from unbraid.training.batches import TrainingData
from unbraid.training.contract import small_images
from unbraid.util.files import read_json

DATA = small_images()
SPEC = TrainingData(DATA, DATA.factors).spec


def build(config: MethodConfig, spec: DataSpec = SPEC) -> Any:
    torch.manual_seed(0)
    return config.build(spec)


def batch(missing: slice = slice(0, 0)) -> Batch:
    x = torch.from_numpy(DATA.observations[:12]).permute(0, 3, 1, 2).float() / 255
    factors = torch.from_numpy(DATA.factors[:12]).float()
    factors[missing] = torch.nan
    return Batch(x, torch.arange(12), factors)


def test_kl_to_a_conditional_prior_is_what_monte_carlo_says() -> None:
    torch.manual_seed(1)
    q = DiagonalGaussian(torch.randn(3, 2), torch.randn(3, 2))
    p = DiagonalGaussian(torch.randn(3, 2), torch.randn(3, 2))
    z = q.mean + (0.5 * q.log_var).exp() * torch.randn(400_000, 3, 2)
    sampled = (log_prob(z, q.mean, q.log_var) - log_prob(z, p.mean, p.log_var)).sum(2).mean(0)
    torch.testing.assert_close(kl_rows(q, p), sampled, rtol=0.02, atol=0.02)


def test_the_image_elbo_sends_no_gradient_into_the_prior() -> None:
    method = build(methods.IDVAE(width=0.1))
    method.image_loss(batch(), 0).total.backward()
    assert all(p.grad is None for p in (*method.prior_encoder.parameters(), *method.prior_decoder.parameters()))
    assert all(p.grad is not None for p in method.encoder.parameters())


def test_the_vae_over_labels_sends_no_gradient_into_the_image_networks() -> None:
    method = build(methods.IDVAE(width=0.1))
    method.prior_loss(batch(), 0).total.backward()
    assert all(p.grad is None for p in (*method.encoder.parameters(), *method.decoder.parameters()))
    assert all(p.grad is not None for p in method.prior_encoder.parameters())


def test_ivae_does_train_its_prior_on_the_images() -> None:
    method = build(methods.IVAE(width=0.1))
    method.loss(batch(), 0).total.backward()
    assert all(p.grad is not None for p in method.prior_encoder.parameters())


def test_semi_supervised_gradients_reach_the_guess_and_pass_the_prior_by() -> None:
    method = build(methods.SSIDVAE(width=0.1))
    method.loss(batch(missing=slice(0, 6)), 0).total.backward()
    assert all(p.grad is None for p in (*method.prior_encoder.parameters(), *method.prior_decoder.parameters()))
    assert all(p.grad is not None for p in method.guess.parameters())
    method.zero_grad()
    method.prior_loss(batch(missing=slice(0, 6)), 0).total.backward()
    assert all(p.grad is None for p in method.guess.parameters())


def test_a_frozen_network_passes_gradients_to_its_input_only() -> None:
    network, x = torch.nn.Linear(2, 1), torch.ones(1, 2, requires_grad=True)
    frozen(network, x).sum().backward()
    assert network.weight.grad is None
    torch.testing.assert_close(x.grad, network.weight.detach())


def test_with_all_labels_the_labelled_term_is_idvaes() -> None:
    one, other = build(methods.IDVAE(width=0.1, beta=4.0)), build(methods.SSIDVAE(width=0.1, beta=4.0))
    other.load_state_dict(one.state_dict(), strict=False)
    u = one.observed(batch().factors)
    torch.manual_seed(5)
    expected = one.image_loss(batch(), 0).total + one.prior_loss(batch(), 0).total
    torch.manual_seed(5)
    bound, terms = other.bound_rows(batch().x, u)
    torch.testing.assert_close(bound.mean(), expected)
    torch.manual_seed(5)
    assert terms["kl"].mean().item() == pytest.approx(one.image_loss(batch(), 0).values()["kl"], rel=1e-5)


def test_with_all_labels_nothing_is_unlabelled_and_nothing_guessed_enters_the_bound() -> None:
    method = build(methods.SSIDVAE(width=0.1))
    values = method.loss(batch(), 0).values()
    assert values["unlabelled"] == 0
    torch.testing.assert_close(values["labelled"] + values["supervised"], values["total"])


def test_with_all_labels_the_guess_does_not_learn_from_the_bound() -> None:
    method = build(methods.SSIVAE(width=0.1, alpha=0.0))
    method.loss(batch(), 0).total.backward()
    assert all(not p.grad.any() for p in method.guess.parameters() if p.grad is not None)


@pytest.mark.parametrize("config", [methods.IVAE(width=0.1, beta=3.0), methods.FullVAE(width=0.1, beta=3.0, gamma=5.0)])
def test_the_total_is_the_weighted_sum_of_its_terms(config: methods.IVAE | methods.FullVAE) -> None:
    values = build(config).loss(batch(), 0).values()
    supervised = 5.0 * values["supervised"] if isinstance(config, methods.FullVAE) else 0.0
    assert values["total"] == pytest.approx(values["reconstruction"] + 3.0 * values["kl"] + supervised, rel=1e-5)


def test_ivaes_bound_is_reconstruction_and_kl_to_the_conditional_prior() -> None:
    method = build(methods.IVAE(width=0.1)).eval()
    torch.manual_seed(3)
    found = method.loss(batch(), 0).values()
    u = method.observed(batch().factors)
    q, p = method.posterior(batch().x, u), method.conditional_prior(u)
    torch.manual_seed(3)
    rows = method.reconstruction_rows(q.rsample(), batch().x)
    assert found["reconstruction"] == pytest.approx(rows.mean().item(), rel=1e-5)
    assert found["kl"] == pytest.approx(kl_rows(q, p).mean().item(), rel=1e-5)


@pytest.mark.parametrize("config", [methods.SSIVAE(width=0.1, beta=3.0), methods.SSIDVAE(width=0.1, beta=3.0)])
def test_the_bound_of_a_labelled_row_is_the_weighted_sum_of_its_terms(config: methods.SSIVAE) -> None:
    method = build(config)
    bound, terms = method.bound_rows(batch().x, method.observed(batch().factors))
    others = sum(value for name, value in terms.items() if name != "kl")
    torch.testing.assert_close(bound, others + 3.0 * terms["kl"])
    assert terms["kl"].mean() > 0


@pytest.mark.parametrize("config", [methods.SSIVAE(width=0.1, alpha=7.0), methods.SSIDVAE(width=0.1, alpha=7.0)])
def test_semi_supervised_terms_are_those_of_equations_21_to_23(config: methods.SSIVAE) -> None:
    """Rows 0 to 3 have no label, rows 4 to 7 only the first, the others both."""
    method, given = build(config).eval(), batch(slice(0, 4))
    given.factors[4:8, 1] = torch.nan
    torch.manual_seed(3)
    found = method.loss(given, 0).values()
    torch.manual_seed(3)
    q_u = method.guess(given.x)
    u = method.observed(given.factors, instead=q_u.rsample())
    bound, _ = method.bound_rows(given.x, u)
    entropy, log_q = q_u.entropy(), q_u.log_prob(u)  # [b, factor]
    guessed = torch.cat((bound[:4] - entropy[:4].sum(1), bound[4:8] - entropy[4:8, 1]))
    known = torch.cat((log_q[4:8, 0], log_q[8:].sum(1)))
    expected = {"labelled": bound[8:].mean(), "unlabelled": guessed.mean(), "supervised": -known.mean()}
    for name, value in expected.items():
        assert found[name] == pytest.approx(value.item(), rel=1e-5), name
    assert found["total"] == pytest.approx(
        found["labelled"] + found["unlabelled"] + 7.0 * found["supervised"], rel=1e-5
    )


def test_known_labels_of_a_row_with_a_gap_are_kept() -> None:
    observed = ObservedLabels(SPEC)
    labels = torch.tensor([[3.0, torch.nan]])
    u = observed(labels, instead=torch.tensor([[-7.0, 0.4]]))
    torch.testing.assert_close(u, torch.tensor([[1.0, 0.4]]))


def test_labels_are_scaled_to_the_unit_interval_or_one_hot() -> None:
    info = (Factor("class", 3, "categorical"), Factor("angle", 5, "cyclic"), Factor("mass", 0, "continuous"))
    spec = DataSpec(
        (4,),
        9,
        info,
        ranges=((0.0, 2.0), (0.0, 4.0), (2.0, 6.0)),
        labelled=9,
        shares=((0.5, 0.25, 0.25), (0.2,) * 5, ()),
        means=(0.75, 2.0, 2.4),
    )
    labels = torch.tensor([[2.0, 1.0, 3.0], [0.0, 4.0, 6.0]])
    torch.testing.assert_close(ObservedLabels(spec)(labels), torch.tensor([[1.0, 0.25, 0.25], [0.0, 1.0, 1.0]]))
    one_hot = ObservedLabels(spec, "one-hot")(labels)
    torch.testing.assert_close(one_hot, torch.tensor([[0.0, 0.0, 1.0, 0.25, 0.25], [1.0, 0.0, 0.0, 1.0, 1.0]]))
    # In place of labels that no one gave: the mean of those that were, not the middle of their range.
    torch.testing.assert_close(ObservedLabels(spec).mean, torch.tensor([0.375, 0.5, 0.1]))
    torch.testing.assert_close(ObservedLabels(spec, "one-hot").mean, torch.tensor([0.5, 0.25, 0.25, 0.5, 0.1]))


def test_without_labels_u_is_its_mean_or_a_guess() -> None:
    for config in (methods.IVAE(width=0.1), methods.IDVAE(width=0.1)):
        method = build(config)
        torch.testing.assert_close(method.auxiliary(batch().x, None)[3], method.observed.mean)
        torch.testing.assert_close(method.auxiliary(batch().x, torch.full((12, 2), torch.nan))[3], method.observed.mean)
    method = build(methods.SSIVAE(width=0.1))
    torch.testing.assert_close(method.auxiliary(batch().x, None), method.guess(batch().x).mean)


def test_the_entropy_of_guesses_is_minus_their_mean_log_density() -> None:
    torch.manual_seed(2)
    q = GuessedLabels((torch.tensor([[0.3, -1.0]]).expand(200_000, 2),), (1,))
    torch.testing.assert_close(-q.log_prob(q.rsample()).mean(), q.entropy()[0, 0], rtol=0.01, atol=0.01)
    logits = torch.randn(1, 4)
    q = GuessedLabels((logits.expand(4, 4),), (4,))
    expected = -(logits.softmax(1)[0] * q.log_prob(torch.eye(4))[:, 0]).sum()
    torch.testing.assert_close(expected, q.entropy()[0, 0])


def test_full_vae_matches_a_latent_with_each_factor_over_known_labels_only() -> None:
    method = build(methods.FullVAE(width=0.1))
    values = [method.loss(batch(missing), 0).values()["supervised"] for missing in (slice(0, 0), slice(0, 6))]
    q = method.posterior(batch().x)
    errors = torch.nn.functional.binary_cross_entropy_with_logits(
        q.mean[:, :2], method.observed(batch().factors), reduction="none"
    ).sum(1)
    np.testing.assert_allclose(values, [errors.mean().item(), errors[6:].mean().item()], rtol=1e-5)


def test_full_vae_weighs_observations_as_the_data_do_whatever_the_batch() -> None:
    """A sixth of the data are labelled and half of the batch: reconstruction and KL are means over the data."""
    spec = dataclasses.replace(SPEC, labelled=SPEC.size // 6)
    method = build(methods.FullVAE(width=0.1), spec).eval()
    torch.manual_seed(3)
    found = method.loss(batch(slice(0, 6)), 0).values()
    kl = method.posterior(batch().x).kl_per_latent().sum(1)  # rows 0 to 5 have no label, 6 to 11 have
    expected = kl[:6].mean() * 5 / 6 + kl[6:].mean() / 6
    np.testing.assert_allclose(found["kl"], expected.item(), rtol=1e-5)
    torch.manual_seed(3)
    rows = method.reconstruction_rows(method.posterior(batch().x).rsample(), batch().x)
    expected = rows[:6].mean() * 5 / 6 + rows[6:].mean() / 6
    np.testing.assert_allclose(found["reconstruction"], expected.item(), rtol=1e-5)


def test_full_vae_refuses_more_factors_than_latents() -> None:
    with pytest.raises(ub.InputError, match="needs a latent for each of the 2 labelled factors and has 1"):
        methods.FullVAE(latents=1).build(SPEC)


def test_a_method_that_learns_from_labels_says_that_there_are_none() -> None:
    with pytest.raises(ub.InputError, match="learns from labels and there are none"):
        methods.IVAE().build(DataSpec((3, 16, 16), 48))


def test_the_vae_over_labels_collapses_if_its_noise_is_wider_than_they_are() -> None:
    """Why `label_scale` is not 1: labels in [0, 1] have a standard deviation below 0.5."""
    torch.manual_seed(0)
    labels = torch.rand(512, 2)
    spec = DataSpec(
        (4,),
        512,
        (Factor("a", 0, "continuous"), Factor("b", 0, "continuous")),
        ((0.0, 1.0),) * 2,
        labelled=512,
        shares=((), ()),
        means=(0.5, 0.5),
    )
    information = {}
    for scale in (1.0, 0.1):
        config = methods.IDVAE(latents=2, width=0.05, likelihood="gaussian", network="mlp", label_scale=scale)
        method = build(dataclasses.replace(config), spec)
        parameters = [*method.prior_encoder.parameters(), *method.prior_decoder.parameters()]
        optimizer = torch.optim.Adam(parameters, lr=3e-3)
        for _ in range(300):
            optimizer.zero_grad()
            terms = method.prior_loss(Batch(torch.zeros(512, 4), torch.arange(512), labels), 0)
            terms.total.backward()
            optimizer.step()
        information[scale] = terms.values()["kl"]
    assert information[1.0] < 0.05
    assert information[0.1] > 1.0


def test_a_run_records_which_labels_it_was_shown(tmp_path: Path) -> None:
    budget = ub.LabelBudget(12, ("shade",))
    run = ub.fit(DATA, methods.IVAE(width=0.1), steps=3, labels=budget, out=tmp_path / "run", show=False)
    record = read_json(run.stage_folder(1) / "stage.json")
    again = ub.Run.open(tmp_path / "run", data=DATA)
    assert again.plan.labels == run.plan.labels
    np.testing.assert_array_equal(again.visible_labels, run.visible_labels)
    assert record["labels"] == {
        "training": True,
        "test": True,
        "count": 12,
        "factors": ["shade"],
        "count_at_test": 48,
    }
    found = identifiability(run)
    assert found.needed == 20
    assert found.points == 3
    assert not found.holds
