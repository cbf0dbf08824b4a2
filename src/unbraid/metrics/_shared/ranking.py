"""The area under the ROC curve, with bootstrap replicates of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unbraid.metrics._shared.bootstrap import Array, resampled_means


def areas(decision: Array, positive: NDArray[np.bool_], seed: int, replicates: int) -> tuple[Array, Array]:
    """ROC-AUC of each column that has both classes, and bootstrap replicates of it.

    A positive's placement is the share of negatives below it (ties half), a negative's the share of positives
    above; the AUC is the mean placement on either side, and resampling placements resamples the AUC to first
    order (DeLong et al. 1988).
    """
    both = positive.any(axis=0) & ~positive.all(axis=0)
    decision, positive = decision[:, both], positive[:, both]
    if not decision.size:
        return np.zeros(0), np.zeros((replicates, 0))
    n, n_pos = len(decision), positive.sum(axis=0)
    beaten = _opponents_below(decision, positive)
    placement = np.where(positive, beaten / (n - n_pos), 1.0 - beaten / n_pos)
    area = np.where(positive, placement, 0.0).sum(axis=0) / n_pos
    if not replicates:
        return area, np.zeros((0, len(area)))
    parts = np.concatenate([positive * placement, positive, ~positive * placement], axis=1)
    above, share, below = np.split(resampled_means(parts, seed=seed, replicates=replicates), 3, axis=1)
    share = np.clip(share, 1e-12, 1 - 1e-12)
    return area, np.clip(above / share + below / (1 - share) - area, 0.0, 1.0)


def _opponents_below(decision: Array, positive: NDArray[np.bool_]) -> Array:
    """How many rows of the other class score below each row, ties counted half; one sort a column."""
    order = np.argsort(decision, axis=0)
    score = np.take_along_axis(decision, order, axis=0)
    sign = np.take_along_axis(positive, order, axis=0)
    index = np.broadcast_to(np.arange(len(score))[:, None], score.shape)
    new = np.ones(score.shape, dtype=bool)
    new[1:] = score[1:] != score[:-1]
    first = np.maximum.accumulate(np.where(new, index, 0), axis=0)  # of each run of ties
    last = np.where(np.roll(new, -1, axis=0), index, len(score))
    last[-1] = len(score) - 1
    last = np.minimum.accumulate(last[::-1], axis=0)[::-1]
    positives = np.zeros((len(score) + 1, score.shape[1]))
    np.cumsum(sign, axis=0, out=positives[1:])
    upto, before = (
        np.take_along_axis(positives, last + 1, axis=0),
        np.take_along_axis(positives, first, axis=0),
    )
    pos_below = (upto + before) / 2
    neg_below = (last + 1 + first) / 2 - pos_below
    out = np.empty(score.shape)
    np.put_along_axis(out, order, np.where(sign, neg_below, pos_below), axis=0)
    return out
