"""Log-densities of a weighted mixture of Gaussians, latent by latent: for batches whose pairs would fill the memory."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from unbraid.ops import gaussian
from unbraid.ops.precision import no_half


class MixtureByLatent(Function):
    """log Σₘ wₘ N(z; m) and Σⱼ log Σₘ wₘ N(zⱼ; mⱼ), with a gradient that is written out.

    Only matrices [sample, component] are made, one latent after the other, in place; the gradient needs of them their
    products with a few vectors. At 512 observations and 10 latents this takes a third of the time that autograd
    takes on [sample, component, latent]. Sums of squared distances are differences here: in single precision the slope
    by log-variances is exact to 1e-3 where posteriors are 0.01 wide.
    """

    @staticmethod
    def forward(ctx: Any, z: Tensor, mean: Tensor, log_var: Tensor, log_weights: Tensor) -> tuple[Tensor, Tensor]:
        """Both log-densities, [sample], of z [sample, latent] under components [component, latent]."""
        joint_pairs, each, shares = log_weights.clone(), [], []
        for j in range(z.shape[1]):
            pairs = (z[:, j, None] - mean[None, :, j]).square_().mul_(-0.5 * (-log_var[:, j]).exp())
            pairs.add_(-0.5 * (log_var[:, j] + gaussian.LOG_2PI))
            joint_pairs += pairs
            each.append(torch.logsumexp(pairs.add_(log_weights), dim=1))
            shares.append(pairs.sub_(each[-1][:, None]).exp_())  # of each component in q(zⱼ)
        joint = torch.logsumexp(joint_pairs, dim=1)
        together = joint_pairs.sub_(joint[:, None]).exp_()
        ctx.save_for_backward(z, mean, log_var, together, *shares)
        return joint, torch.stack(each, dim=1).sum(1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """A log-sum's gradient is shared among its terms as they share the sum; weights are constants."""
        to_joint, to_product = (gradient[:, None] for gradient in gradients)
        z, mean, log_var, together, *shares = ctx.saved_tensors
        z_grad, mean_grad, log_var_grad = (torch.empty_like(part) for part in (z, mean, log_var))
        precision = (-log_var).exp()
        with no_half(z.device):  # products of half precision would lose small distances
            together = together * to_joint
            for j in range(z.shape[1]):
                share = torch.addcmul(together, shares[j], to_product)
                zj, mj, pj = z[:, j], mean[:, j], precision[:, j]
                pull, pulled = (share @ torch.stack((pj, pj * mj), dim=1)).unbind(1)  # sums over components
                mass, first, second = torch.stack((torch.ones_like(zj), zj, zj.square())) @ share  # over samples
                z_grad[:, j] = pulled - zj * pull
                mean_grad[:, j] = pj * (first - mj * mass)
                log_var_grad[:, j] = 0.5 * (pj * (second - 2 * mj * first + mj.square() * mass) - mass)
        return z_grad, mean_grad, log_var_grad, None


def mixture_by_latent(z: Tensor, mean: Tensor, log_var: Tensor, log_weights: Tensor) -> tuple[Tensor, Tensor]:
    """log Σₘ wₘ N(z; m) over all latents together, and summed over latents one by one.

    Args:
        z: samples, [sample, latent].
        mean: of the components, [component, latent].
        log_var: of the components, [component, latent].
        log_weights: log w, [sample, component]; constants, without a gradient.

    Returns:
        Both log-densities, [sample].

    Example:
        >>> zero = torch.zeros(1, 2)
        >>> joint, product = mixture_by_latent(zero, zero, zero, torch.zeros(1, 1))
        >>> round(joint.item(), 4), round(product.item(), 4)
        (-1.8379, -1.8379)
    """
    joint, product = MixtureByLatent.apply(z, mean, log_var, log_weights)  # type: ignore[no-untyped-call]
    return joint, product
