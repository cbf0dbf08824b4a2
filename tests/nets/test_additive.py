"""Additive decoders: what one group of codes does cannot depend on another."""

import pytest
import torch

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.errors import InputError
from unbraid.nets.stacks import decoder


@pytest.mark.parametrize(("network", "groups"), [("additive", [[0], [1], [2]]), ("additive-2", [[0, 1], [2]])])
@pytest.mark.parametrize("shape", [(1, 16, 16), (7,)])
def test_groups_add_up_without_mixing(network, groups: list[list[int]], shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    net = decoder(3, shape, network=network, width=0.2).double()
    one, two = torch.randn(2, 4, 3, dtype=torch.float64)
    for group in groups:
        mixed, other = one.clone(), two.clone()
        mixed[:, group], other[:, group] = two[:, group], one[:, group]
        # f(a₁, b₂) + f(b₁, a₂) = f(a) + f(b) for every sum of functions of the groups
        torch.testing.assert_close(net(mixed) + net(other), net(one) + net(two))
        assert not torch.allclose(net(mixed), net(one))
    assert net(one).shape == (4, *shape)


def test_codes_of_one_group_do_mix() -> None:
    torch.manual_seed(0)
    net = decoder(2, (7,), network="additive-2", width=0.2).double()
    one, two = torch.randn(2, 4, 2, dtype=torch.float64)
    mixed, other = torch.stack([one[:, 0], two[:, 1]], 1), torch.stack([two[:, 0], one[:, 1]], 1)
    assert not torch.allclose(net(mixed) + net(other), net(one) + net(two), atol=1e-4)


def test_turning_codes_of_groups_is_refused() -> None:
    with pytest.raises(InputError, match="--turns 0"):
        methods.BetaTCVAE(network="additive", turns=3).check(DataSpec((1, 16, 16), 10))
