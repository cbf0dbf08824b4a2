"""Guidance: a linear decoder that finds principal components, and labels that are excited in one latent only."""

from typing import Any

import numpy as np
import pytest
import torch

from unbraid.core import Batch, DataSpec
from unbraid.data.factor_data import Factor
from unbraid.errors import InputError
from unbraid.methods import GuidedVAE, SupervisedGuidedVAE
from unbraid.nets.guide import Guide

SPEC = DataSpec((1, 16, 16), 64, (Factor("place", 4), Factor("shade", 3)))


def batch(size: int = 8) -> Batch:
    torch.manual_seed(1)
    labels = torch.stack((torch.randint(4, (size,)), torch.randint(3, (size,))), dim=1).float()
    return Batch(torch.rand(size, 1, 16, 16), torch.arange(size), labels)


def test_latents_at_zero_leave_the_picture_where_it_is() -> None:
    torch.manual_seed(0)
    guide = Guide(6, (1, 16, 16), deformation=4)
    z = torch.cat((torch.zeros(3, 4), torch.randn(3, 2)), dim=1)
    plain = guide.basis(z[:, 4:]).view(-1, 1, 16, 16)
    assert torch.allclose(guide(z), plain, atol=1e-4)


def test_a_shift_moves_the_picture() -> None:
    guide = Guide(5, (1, 16, 16), deformation=3)
    with torch.no_grad():
        guide.basis.weight.zero_()
        guide.basis.bias.copy_(torch.eye(16)[4].repeat(16, 1).flatten())  # one bright column
        guide.gain.fill_(1.0)
    moved = guide(torch.tensor([[0.0, 0.0, 2 / 8, 0.0, 0.0]]))[0, 0]
    assert moved[8].argmax().item() == 2  # the grid reads two pixels further right, so the column goes left


def test_overlap_is_zero_for_orthogonal_components() -> None:
    guide = Guide(3, (1, 4, 4), deformation=0)
    with torch.no_grad():
        guide.basis.weight.copy_(torch.eye(16)[:, :3])
    assert guide.overlap().item() == pytest.approx(0.0)
    with torch.no_grad():
        guide.basis.weight[:, 1] = guide.basis.weight[:, 0]
    assert guide.overlap().item() == pytest.approx(2.0)


def test_the_linear_decoder_alone_finds_principal_components() -> None:
    torch.manual_seed(0)
    values = torch.randn(512, 2) @ torch.tensor([[3.0, 0, 0, 0, 0, 0], [0, 2.0, 0, 0, 0, 0]])
    guide = Guide(2, (6,), deformation=0)
    encoder = torch.nn.Linear(6, 2)
    adam = torch.optim.Adam([*guide.parameters(), *encoder.parameters()], lr=2e-2)
    for _ in range(600):
        loss = (guide(encoder(values)) - values).square().sum(1).mean() + guide.overlap()
        adam.zero_grad()
        loss.backward()
        adam.step()
    directions = guide.basis.weight.detach().numpy()
    directions = np.abs(directions / np.linalg.norm(directions, axis=0))
    assert directions[:2].max(axis=0) == pytest.approx([1.0, 1.0], abs=0.05) or np.linalg.matrix_rank(directions) == 2
    assert guide.overlap().item() < 1e-3
    assert loss.item() < 0.05


def test_the_inhibiting_step_leaves_the_encoder_alone() -> None:
    method = SupervisedGuidedVAE(width=0.1).build(SPEC)
    method.inhibition_loss(batch(), 0).total.backward()
    assert all(p.grad is None for p in method.encoder.parameters())
    assert all(p.grad is not None for p in method.inhibiting.parameters())


def test_a_classifier_in_doubt_costs_the_least() -> None:
    method = SupervisedGuidedVAE(width=0.1).build(SPEC)
    with torch.no_grad():
        for p in method.inhibiting.parameters():
            p.zero_()
    doubt = method.excitation_loss(batch(), 0).values()["inhibition"]
    with torch.no_grad():
        inhibiting: Any = method.inhibiting
        inhibiting[0][-1].bias[0] = 3.0
    assert method.excitation_loss(batch(), 0).values()["inhibition"] > doubt
    assert doubt == pytest.approx(np.log(4) + np.log(3), rel=1e-5)


def test_only_labelled_observations_excite_and_inhibit() -> None:
    updates = SupervisedGuidedVAE(width=0.1).build(SPEC).updates()
    assert [update.stream for update in updates] == ["train", "labelled", "labelled"]
    assert set(updates[1].trains).isdisjoint(updates[2].trains)


def test_what_cannot_work_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="--deformation 4 of guided-vae leaves no latent"):
        GuidedVAE(deformation=4, latents=4).build(SPEC)
    with pytest.raises(InputError, match="labels"):
        SupervisedGuidedVAE().build(DataSpec((1, 16, 16), 64))
    with pytest.raises(InputError, match="leave out angle"):
        SupervisedGuidedVAE().build(DataSpec((1, 16, 16), 64, (Factor("angle", 0, "continuous"),)))
    with pytest.raises(InputError, match="vectors"):
        GuidedVAE(deformation=1, likelihood="gaussian").build(DataSpec((7,), 64))
