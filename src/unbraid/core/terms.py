"""What a loss gives: the total that is minimised, the terms that it is the sum of, and figures beside it."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

Term = Tensor | tuple[float, Tensor]  # of the sum: as it is, or (weight, value)
Figure = Callable[[], Tensor]  # beside the sum
Parts = dict[str, Term | Figure]


class Terms:
    """A loss: the total that is minimised, the terms whose sum it is, and figures that are logged beside it.

    A term is a tensor, or a pair (weight, tensor): weights times tensors add up to the total, and `check_method` asks
    for it. A figure is a function, called on the steps that are logged and before the weights change, so that it may
    cost something.

    Args:
        total: what is minimised.
        parts: terms and figures by name.

    Example:
        >>> import torch
        >>> loss = Terms(torch.tensor(9.0), error=torch.tensor(3.0), kl=(2.0, torch.tensor(3.0)),
        ...              accuracy=lambda: torch.tensor(0.5))
        >>> loss.weighted()
        {'error': 3.0, 'kl': 6.0}
        >>> loss.values()
        {'total': 9.0, 'total/error': 3.0, 'total/kl': 6.0, 'error': 3.0, 'kl': 3.0, 'accuracy': 0.5}
    """

    __slots__ = ("figures", "terms", "total")

    def __init__(self, total: Tensor, **parts: Term | Figure) -> None:
        self.total = total
        self.terms: dict[str, tuple[float, Tensor]] = {}
        self.figures: dict[str, Figure] = {}
        for name, part in parts.items():
            if isinstance(part, tuple):
                self.terms[name] = part
            elif isinstance(part, Tensor):
                self.terms[name] = (1.0, part)
            else:
                self.figures[name] = part

    def weighted(self) -> dict[str, float]:
        """The terms with their weights, which add up to the total."""
        return {name: weight * value.item() for name, (weight, value) in self.terms.items()}

    def values(self) -> dict[str, float]:
        """All as numbers: the total, its terms with their weights as «total/name», then terms without, and figures."""
        summed = {f"total/{name}": value for name, value in self.weighted().items()}
        plain = {name: value.item() for name, (_, value) in self.terms.items()}
        figures = {name: figure().item() for name, figure in self.figures.items()}
        return {"total": self.total.item(), **summed, **plain, **figures}
