"""What must not be computed in half precision, whatever the networks are trained in."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def at_least_single(x: Tensor) -> Tensor:
    """The tensor in single precision, if a network gave it in half.

    Codes, log-ratios and differences of outputs lose most of what they say with eight bits of digits.

    Args:
        x: what a network gave.

    Returns:
        x itself, or its values in single precision, with gradient to it.

    Example:
        >>> at_least_single(torch.ones(1, dtype=torch.bfloat16)).dtype, at_least_single(torch.ones(1).double()).dtype
        (torch.float32, torch.float64)
    """
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x


def no_half(device: torch.device) -> AbstractContextManager[object]:
    """Within this, networks compute in the precision of their weights, also where training is in half precision.

    Args:
        device: where they compute.

    Returns:
        What a `with` statement takes.

    Example:
        >>> with torch.autocast("cpu", torch.bfloat16), no_half(torch.device("cpu")):
        ...     (torch.ones(1, 1) @ torch.ones(1, 1)).dtype
        torch.float32
    """
    return nullcontext() if device.type == "meta" else torch.autocast(device.type, enabled=False)
