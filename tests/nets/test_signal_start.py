"""Networks of signals pass on at the start as much as they get."""

import torch

from unbraid.nets.signals import signal_decoder, signal_trunk


def test_signals_of_several_channels_keep_their_variance_at_the_start() -> None:
    torch.manual_seed(0)
    x, z = torch.randn(200, 3 * 64), torch.randn(200, 10)
    seen = signal_trunk(64, 64, (32, 32, 64, 64), inputs=3)(x)
    made = signal_decoder(10, 64, 64, (32, 32, 64, 64), outputs=3)(z)
    assert 0.3 < seen.square().mean().item() < 3
    assert 0.3 < made.square().mean().item() < 6  # twice as much without a ReLU at the end
    plain = signal_decoder(10, 64, 64, (32, 32, 64, 64))(z)
    assert (plain - plain.mean(0)).square().mean().item() < 0.01  # of one channel as they were: nearly nothing
