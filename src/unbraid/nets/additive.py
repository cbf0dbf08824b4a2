"""Additive decoders (Lachapelle et al. 2023): each group of codes makes an image of its own, and these are summed.

Where the data are such sums (objects that do not cover each other, say), groups of codes can be identified, and
combinations that were never seen are decoded right. The sum is taken before the logistic function of images.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

# Codes of one group, by the network's name.
GROUP_SIZES = {"additive": 1, "additive-2": 2}


class Additive(nn.Module):
    """Codes [b, code] to Σ over groups of a decoder's output for that group's codes.

    Args:
        inputs: the number of codes.
        size: codes of a group; the last group has what is left.
        part: makes the decoder of a group from its number of codes.

    Example:
        >>> import torch
        >>> add = Additive(3, 2, lambda codes: nn.Linear(codes, 5))
        >>> add(torch.zeros(4, 3)).shape, [part.in_features for part in add.parts]
        (torch.Size([4, 5]), [2, 1])
    """

    def __init__(self, inputs: int, size: int, part: Callable[[int], nn.Module]) -> None:
        super().__init__()
        self.sizes = [min(size, inputs - start) for start in range(0, inputs, size)]
        self.parts = nn.ModuleList(part(codes) for codes in self.sizes)

    def forward(self, codes: Tensor) -> Tensor:
        """The sum over groups."""
        made = [part(group) for part, group in zip(self.parts, codes.split(self.sizes, dim=1), strict=True)]
        total = made[0]
        for one in made[1:]:
            total = total + one
        return total  # type: ignore[no-any-return]
