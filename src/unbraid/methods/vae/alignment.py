"""Codes turned towards independence: a rotation folded into the encoder's last and the decoder's first layer.

A pair of codes that change the picture equally strongly may come out rotated against the factors, and gradient descent
then has no reason to leave: see `ops.rotation`. After a turn training goes on from there, and the posteriors settle.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unbraid.nets.stacks import Encoder
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.ops.rotation import Rotation, independent_rotation

ACTIVE = 0.5  # nats that a code must carry to be turned: the rest is noise, and noise looks the same from every side


def is_turn(step: int, steps: int, turns: int) -> bool:
    """Whether codes are turned before this step: `turns` times, evenly over training and neither first nor last.

    Late turns count too: a code may begin to carry something late, and mix with the others then.
    """
    return step > 0 and any(step == steps * turn // (turns + 1) for turn in range(1, turns + 1))


@torch.no_grad()
def turn_codes(encoder: Encoder, decoder: nn.Sequential, x: Tensor) -> Rotation | None:
    """Turn the codes that carry something, judged by the observations x; None where fewer than two do."""
    q = DiagonalGaussian.from_parameters(encoder(x))
    active = (q.kl_per_latent().mean(0) > ACTIVE).nonzero()[:, 0]
    if len(active) < 2:
        return None
    found = independent_rotation(q.mean[:, active].double().cpu().numpy())
    rotation = torch.eye(q.mean.shape[1], device=x.device)
    rotation[active[:, None], active] = torch.from_numpy(found.matrix).to(rotation)
    fold_rotation(encoder.head, first_layer(decoder), rotation, q)
    return found


def fold_rotation(head: nn.Linear, first: nn.Linear, rotation: Tensor, q: DiagonalGaussian) -> None:
    """z' = m + R (z − m) around the codes' mean m: the decoder makes the same of every z' as it made of z.

    A turned posterior is not diagonal. Its variances along the new axes are Σⱼ Rᵢⱼ² σⱼ²; log-variances keep how they
    change with x in the same proportions, and have the right level on average.
    """
    latents, middle, log_var = q.mean.shape[1], q.mean.mean(0), q.log_var.mean(0)
    mean, spread = slice(0, latents), slice(latents, 2 * latents)
    share = rotation.square()
    head.weight[mean] = rotation @ head.weight[mean]
    head.bias[mean] = rotation @ (head.bias[mean] - middle) + middle
    head.weight[spread] = share @ head.weight[spread]
    head.bias[spread] = share @ (head.bias[spread] - log_var) + (share @ log_var.exp()).log()
    first.bias.add_(first.weight @ (middle - rotation.T @ middle))
    first.weight.copy_(first.weight @ rotation.T)


def first_layer(decoder: nn.Sequential) -> nn.Linear:
    """The layer that reads the codes; every decoder begins with one."""
    layer = decoder[0]
    assert isinstance(layer, nn.Linear)
    return layer
