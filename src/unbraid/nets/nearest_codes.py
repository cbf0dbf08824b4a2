"""Which z belong to a y: those of observations whose y look alike."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

MOST_ROWS = 4096  # observations whose codes are kept
NEIGHBOURS = 8  # of them that are taken to look alike
SIDE = 8  # images of y are compared at this size: they are blurred, and finer differences are noise


class NearestCodes(nn.Module):
    """p(z | y) = 1/K Σ q(z | xᵢ, yᵢ) over the K observations whose yᵢ come nearest to y.

    That is the posterior of the codes, averaged over the data with a similar y: the prior under which the ELBO is
    greatest (Tomczak & Welling 2018), taken conditionally. Draws are the detail of an observation of the data, redrawn
    for another y; nothing else is invented. Posteriors' variances are shared by all observations.
    """

    looks: Tensor  # [row, value] of y, made small
    means: Tensor  # [row, latent]
    deviation: Tensor  # [latent]
    count: Tensor  # rows that are used

    def __init__(self, shape: tuple[int, ...], latents: int, rows: int) -> None:
        super().__init__()
        self.shape = (shape[0], *(min(SIDE, length) for length in shape[1:]))
        self.rows = min(MOST_ROWS, rows)
        self.register_buffer("looks", torch.zeros(self.rows, prod(self.shape)))
        self.register_buffer("means", torch.zeros(self.rows, latents))
        self.register_buffer("deviation", torch.ones(latents))
        self.register_buffer("count", torch.tensor(0))

    def look(self, y: Tensor) -> Tensor:
        """What of y is compared, [b, value]."""
        small = F.interpolate(y, self.shape[1:], mode="area") if y.ndim == 4 else y
        return small.flatten(1)

    def learn(self, parts: Iterable[tuple[Tensor, Tensor, Tensor]]) -> None:
        """Keep y with the mean and log-variance of q(z | x, y), batch by batch; at most as many rows as there are."""
        count, variance = 0, torch.zeros_like(self.deviation)
        for y, mean, log_var in parts:
            end = count + len(y)
            self.looks[count:end], self.means[count:end] = self.look(y), mean
            variance += log_var.exp().sum(0)
            count = end
        self.deviation.copy_((variance / count).sqrt())
        self.count.fill_(count)

    def forward(self, y: Tensor) -> Tensor:
        """A draw for every y, [b, latent]. Before anything is learned, of N(0, 1)."""
        noise = self.deviation * torch.randn(len(y), len(self.deviation), device=y.device)
        known = int(self.count)
        if known == 0:
            return noise
        likest = torch.cdist(self.look(y), self.looks[:known]).topk(min(NEIGHBOURS, known), largest=False).indices
        chosen = likest.gather(1, torch.randint(likest.shape[1], (len(y), 1), device=y.device))[:, 0]
        return self.means[chosen] + noise
