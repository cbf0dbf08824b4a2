"""Mixtures and flows: densities agree with closed forms, and only the flow is trained by the flow's step."""

import math

import numpy as np
import pytest
import torch

from unbraid import methods
from unbraid.api import fit
from unbraid.core import Batch, DataSpec
from unbraid.data.factor_data import FactorData
from unbraid.methods.staged.gaussian_mixture import GaussianMixtureModel
from unbraid.methods.staged.ms_flow import log_density
from unbraid.ops import logit_space
from unbraid.runs.chain import Chain
from unbraid.training.contract import small_images

PLANE = DataSpec((2,), 100)


def mixture(components: int = 3) -> GaussianMixtureModel:
    torch.manual_seed(0)
    model = methods.GaussianMixture(components=components).build(PLANE)
    with torch.no_grad():
        model.logits.normal_()
        model.log_vars.normal_(std=0.3)
    return model


def grid(half_width: float = 8.0, points: int = 400) -> tuple[torch.Tensor, float]:
    axis = torch.linspace(-half_width, half_width, points)
    return torch.cartesian_prod(axis, axis), float(axis[1] - axis[0]) ** 2


def test_mixture_density_integrates_to_one() -> None:
    points, cell = grid()
    assert (mixture().log_density(points).exp().sum() * cell).item() == pytest.approx(1, abs=1e-3)


def test_mixture_of_one_is_a_gaussian() -> None:
    model = mixture(1)
    x = torch.randn(5, 2)
    normal = torch.distributions.Normal(model.means[0], (0.5 * model.log_vars[0]).exp())
    torch.testing.assert_close(model.log_density(x), normal.log_prob(x).sum(1))


def test_flow_density_integrates_to_one_and_is_the_change_of_variables() -> None:
    torch.manual_seed(1)
    flow = methods.MSFlow(width=0.02, transforms=3).build(PLANE)
    points, cell = grid(12.0, 600)
    y = torch.tensor([[0.5, -1.0]])
    density = flow.log_density(points, y.expand(len(points), -1))
    assert (density.exp().sum() * cell).item() == pytest.approx(1, abs=5e-3)
    x = torch.randn(1, 2)
    z = flow.encode(x, y)["z"].mean
    jacobian = torch.autograd.functional.jacobian(lambda v: flow.encode(v, y)["z"].mean[0], x)[:, 0]
    expected = -0.5 * float(z.square().sum()) - math.log(2 * math.pi) + float(jacobian.det().abs().log())
    assert float(flow.log_density(x, y)) == pytest.approx(expected, abs=1e-4)


def test_flow_after_prepare_counts_the_standardisation() -> None:
    torch.manual_seed(2)
    flow = methods.MSFlow(width=0.02, transforms=2).build(PLANE)
    flow.prepare(iter([torch.randn(50, 2) * torch.tensor([3.0, 0.5]) + 1]))
    points, cell = grid(25.0, 1000)
    density = flow.log_density(points, torch.zeros(len(points), 2))
    assert (density.exp().sum() * cell).item() == pytest.approx(1, abs=1e-2)


def test_flow_turns_its_codes_back_into_the_observation(squares: FactorData) -> None:
    flow = methods.MSFlow(width=0.02, transforms=2).build(DataSpec((3, 16, 16), 48))
    x = torch.from_numpy(squares.observations[:4]).permute(0, 3, 1, 2).float() / 255
    y = torch.rand_like(x)
    again = flow.decode({"z": flow.encode(x, y)["z"].mean}, y)
    assert float((again - x).abs().max()) < 1 / 255 / 2


def test_logit_space_keeps_bytes_apart() -> None:
    levels = torch.arange(256).float().div(255).reshape(1, 1, 16, 16)
    for noise in (0.0, 0.5, 0.999):
        t = logit_space.enter(levels, torch.full((1, 256), noise))
        assert bool((t.diff() > 0).all())
    back = logit_space.leave(logit_space.enter(levels), (1, 16, 16))
    torch.testing.assert_close(back, levels, atol=1e-4, rtol=0)


def test_density_of_the_chain_weighs_its_components() -> None:
    torch.manual_seed(3)
    flow = methods.MSFlow(width=0.02, transforms=2).build(PLANE)
    centres, weights = torch.randn(3, 2), torch.tensor([0.2, 0.3, 0.5])
    x = torch.randn(4, 2)
    total, best = log_density(weights.log(), centres, flow, x)
    each = torch.stack([flow.log_density(x, y.expand(4, -1)) for y in centres], 1).exp() * weights
    torch.testing.assert_close(total, each.sum(1).log())
    assert torch.equal(best, each.argmax(1))


def test_em_finds_separate_clusters_and_the_flow_leaves_them_alone(tmp_path) -> None:
    random = np.random.default_rng(0)
    labels = random.integers(3, size=300)
    centres = np.array([[-6, 0], [6, 0], [0, 8]])
    x = (centres[labels] + random.normal(size=(300, 2))).astype(np.float32)
    data = FactorData("clusters", x, np.empty((300, 0)))
    run = fit(
        data,
        [methods.GaussianMixture(components=3), methods.MSFlow(width=0.02, transforms=2)],
        steps=[1, 3],
        out=tmp_path / "run",
        show=False,
    )
    codes = run.encode(show=False).codes
    assert all(len(np.unique(codes[labels == k].argmax(1))) == 1 for k in range(3))
    fitted = run.stage(1)
    assert isinstance(fitted, GaussianMixtureModel)
    found = fitted.means[torch.from_numpy(codes.argmax(1))].numpy()
    assert np.abs(found - centres[labels]).max() < 0.5
    assert np.isfinite(run.reconstruct(x)[1]).all()
    assert run.report().is_file()


def test_samples_of_a_component_come_from_its_centre() -> None:
    model = mixture()
    flow = methods.MSFlow(width=0.02, transforms=2).build(PLANE)
    codes, outputs = Chain([model, flow]).sample(5)
    assert bool((codes[0]["c"].sum(1) == 1).all())
    torch.testing.assert_close(outputs[0], model.means[codes[0]["c"].argmax(1)].detach())
    assert outputs[1].shape == (5, 2)


def test_the_flow_step_has_no_gradient_into_y() -> None:
    flow = methods.MSFlow(width=0.02, transforms=2).build(DataSpec((3, 16, 16), 48))
    data = small_images(4)
    x = torch.from_numpy(data.observations).permute(0, 3, 1, 2).float() / 255
    terms = flow.loss(Batch(x, torch.arange(4), torch.empty(4, 0), x * 0.5), 0)
    torch.autograd.backward(terms.total, inputs=list(flow.flow.parameters()))
    assert all(p.grad is not None for p in flow.flow.parameters())


def test_em_looks_at_rows_from_all_over_the_data() -> None:
    """Grids begin with one corner: of the first half of these rows EM would learn one of the two clusters."""
    torch.manual_seed(0)
    rows = torch.cat([torch.randn(50, 2) - 9, torch.randn(50, 2) + 9])
    model = methods.GaussianMixture(components=2, em_rows=40).build(PLANE)
    model.prepare(iter(rows.split(7)))
    assert sorted(model.means[:, 0].sign().tolist()) == [-1, 1]
    torch.testing.assert_close(model.means.abs().detach(), torch.full((2, 2), 9.0), atol=1.0, rtol=0)
