"""The light second decoder of Guided-VAE: principal components, turned, scaled and moved."""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

MOVES = ("rotation", "scale", "shift across", "shift up")  # what the first latents do to the picture, in this order


class Guide(nn.Module):
    """τ(z_def) ∘ (z_cont Bᵀ): linear in the content latents, then (for images) moved by the deformation latents.

    Args:
        latents: all of them.
        shape: of the observation.
        deformation: how many of the first latents move the picture.

    Reference:
        Ding et al. 2020, §3.2.

    Example:
        >>> Guide(6, (1, 16, 16), deformation=2)(torch.randn(3, 6)).shape
        torch.Size([3, 1, 16, 16])
    """

    def __init__(self, latents: int, shape: tuple[int, ...], deformation: int) -> None:
        super().__init__()
        self.shape, self.deformation = shape, deformation
        self.basis = nn.Linear(latents - deformation, prod(shape))
        self.gain = nn.Parameter(torch.full((len(MOVES),), 0.1))

    def forward(self, z: Tensor) -> Tensor:
        """An observation in linear terms, [b, …]."""
        content = self.basis(z[:, self.deformation :]).view(-1, *self.shape)
        if self.deformation == 0:
            return content  # type: ignore[no-any-return]
        grid = F.affine_grid(self.movement(z[:, : self.deformation]), list(content.shape), align_corners=False)
        return F.grid_sample(content, grid, padding_mode="border", align_corners=False)

    def movement(self, z: Tensor) -> Tensor:
        """The matrix of rotation, scale and shift, [b, 2, 3]; latents at zero leave the picture where it is."""
        moves = F.pad(z * self.gain[: self.deformation], (0, len(MOVES) - self.deformation))
        angle, scale, across, up = moves.unbind(1)
        cos, sin = scale.exp() * angle.cos(), scale.exp() * angle.sin()
        return torch.stack((torch.stack((cos, -sin, across), 1), torch.stack((sin, cos, up), 1)), 1)

    def overlap(self) -> Tensor:
        """Σ_k Σ_{j≠k} (b_kᵀ b_j)²: zero when the components are orthogonal."""
        products = self.basis.weight.T @ self.basis.weight
        return products.square().sum() - products.diagonal().square().sum()
