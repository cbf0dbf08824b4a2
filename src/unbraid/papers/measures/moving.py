"""Codes of stage 1 that are given another image's value, one at a time, while everything else stays."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unbraid.api import Run
from unbraid.runs.chain import means
from unbraid.runs.codes import choose_rows
from unbraid.util.seeds import stream

ROWS = 500
TOLD = 0.1  # nats that a code must tell to be moved


@dataclass(frozen=True)
class Moves:
    """What every stage makes of some images' codes before and after one of them is moved."""

    spreads: Tensor  # standard deviations of the codes that are moved, [moved code]
    used: list[int]  # which codes of stage 1 these are
    before: list[Tensor]  # by stage
    after: list[list[Tensor]]  # by moved code, then by stage


@torch.inference_mode()
def move_each(run: Run) -> Moves:
    """Move every code of stage 1 that tells something.

    Args:
        run: whose stage 1 holds the codes, as its first group.

    Returns:
        Outputs of all stages; codes of later stages stay as they are.
    """
    x = run.observations(choose_rows(len(run.data), ROWS, 1))
    codes = [means(q) for q in run.chain.encode(x)]
    key, c = next(iter(codes[0].items()))
    order = torch.from_numpy(stream(run.plan.seed, "moved alone").permutation(len(x))).to(c.device)
    used = [j for j, told in enumerate(run.encode(show=False).arrays["information"][: c.shape[1]]) if told > TOLD]
    after = []
    for j in used:
        moved = c.clone()
        moved[:, j] = c[order, j]
        after.append(run.chain.decode([{**codes[0], key: moved}, *codes[1:]]))
    return Moves(c.std(0)[used], used, run.chain.decode(codes), after)
