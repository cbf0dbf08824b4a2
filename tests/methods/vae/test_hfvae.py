"""Groups: what is dependence between them and what is within."""

import pytest
import torch

from unbraid.core import Batch, DataSpec
from unbraid.methods import HFVAE, BetaTCVAE
from unbraid.ops.categorical import Categorical
from unbraid.ops.gaussian import DiagonalGaussian

SPEC = DataSpec((1, 16, 16), 64)


def batch() -> Batch:
    torch.manual_seed(1)
    return Batch(torch.rand(8, 1, 16, 16), torch.arange(8), torch.zeros(8, 0))


def test_groups_of_one_without_discrete_codes_are_beta_tcvae() -> None:
    hf = HFVAE(width=0.1, groups=(1,) * 4, classes=(), alpha=1.0, beta=6.0, gamma=3.0).build(SPEC)
    tc = BetaTCVAE(width=0.1, latents=4, beta=6.0).build(SPEC)
    tc.load_state_dict(hf.state_dict())
    totals = []
    for method in (hf, tc):
        torch.manual_seed(2)
        totals.append(method.loss(batch(), 0).total.item())
    assert totals[0] == pytest.approx(totals[1], rel=1e-5)


@pytest.mark.parametrize("classes", [(), (3,), (3, 2)])
def test_equal_weights_are_the_elbo_whatever_the_groups(classes: tuple[int, ...]) -> None:
    method = HFVAE(width=0.1, groups=(2, 1, 3), classes=classes, alpha=1, beta=1, gamma=1).build(SPEC)
    torch.manual_seed(2)
    q_z, q_c = method.posteriors(batch().x)
    z = q_z.rsample()
    log_c = [b.log_softmax(1) for b in q_c.blocks]
    parts = method.decompose(q_z, q_c, z, log_c)
    other = HFVAE(width=0.1, groups=(1,) * 6, classes=classes).build(SPEC)
    whole = torch.stack(other.decompose(q_z, q_c, z, log_c)).sum()
    assert torch.stack(parts).sum().item() == pytest.approx(whole.item(), rel=1e-4)


def test_dependence_inside_a_group_is_not_counted_between_groups() -> None:
    torch.manual_seed(0)
    shared, apart = torch.randn(256, 1), torch.randn(256, 1)
    q = DiagonalGaussian(torch.cat((shared, shared, apart), dim=1), torch.full((256, 3), -4.0))
    none = Categorical(torch.zeros(256, 0), ())
    z = q.rsample()
    spec = DataSpec((1, 16, 16), 256)

    def terms(groups: tuple[int, ...]) -> list[float]:
        method = HFVAE(width=0.1, groups=groups, classes=(), estimator="mss").build(spec)
        return [part.item() for part in method.decompose(q, none, z, [])]

    together, split = terms((2, 1)), terms((1, 1, 1))
    assert together[2] > 1.0, "the two equal latents depend on each other within their group"
    assert split[2] == pytest.approx(0.0, abs=1e-5)
    assert split[1] == pytest.approx(together[1] + together[2], rel=1e-4)
