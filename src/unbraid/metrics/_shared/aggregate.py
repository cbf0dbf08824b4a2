"""One-dimensional aggregate posteriors q(z_j) = 1/N Σ_n q(z_j given n), integrated on a grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.metrics._shared.bootstrap import Array

# Sums over an even grid integrate Gaussians to rounding once the step is half of the narrowest deviation. Seven
# deviations either side lose 1e-12 of the mass.
_STEPS_PER_DEVIATION = 2
_REACH = 7.0
# Posteriors narrower than this share of the latent's range are widened to it: they are points either way.
_FINEST = 1.0 / 16384
_BLOCK = 1 << 21
# From here on, rows with like posteriors are taken together.
_EXACT_ROWS = 50_000
_LIKE_MEAN, _LIKE_WIDTH = 1 / 8, 1 / 10


@dataclass(frozen=True, eq=False)
class Footprint:
    """Some rows of one latent with the grid points that their posterior reaches and its mass there."""

    rows: NDArray[np.int64]
    points: NDArray[np.int64]  # [row, point]
    mass: Array  # [row, point], each row sums to 1


@dataclass(frozen=True)
class Grid:
    """An even grid over one latent."""

    start: float
    step: float
    size: int


def grid_of(means: Array, deviations: Array) -> tuple[Grid, Array]:
    """A grid that resolves every posterior of one latent, and the deviations as it resolves them."""
    low, high = float((means - _REACH * deviations).min()), float((means + _REACH * deviations).max())
    deviations = np.maximum(deviations, (high - low) * _FINEST)
    low, high = float((means - _REACH * deviations).min()), float((means + _REACH * deviations).max())
    step = float(deviations.min()) / _STEPS_PER_DEVIATION
    return Grid(low, step, int(np.ceil((high - low) / step)) + 1), deviations


def footprints(means: Array, deviations: Array, grid: Grid) -> Iterator[Footprint]:
    """Every posterior's mass on the grid, rows of like width together, in blocks of bounded size.

    A row touches only the points within reach of its mean, so the cost is rows × (its width in steps), not
    rows × grid.
    """
    half = np.ceil(_REACH * deviations / grid.step).astype(np.int64)
    half = np.ceil(1.25 ** np.ceil(np.log(half) / np.log(1.25) - 1e-9)).astype(np.int64)  # few distinct widths
    half = np.minimum(half, grid.size)
    nearest = np.rint((means - grid.start) / grid.step).astype(np.int64)
    for width in np.unique(half):
        same = np.flatnonzero(half == width)
        offsets = np.arange(-width, width + 1)
        for rows in np.array_split(same, max(1, len(same) * len(offsets) // _BLOCK)):
            points = nearest[rows, None] + offsets
            inside = (points >= 0) & (points < grid.size)
            away = (grid.start + points * grid.step - means[rows, None]) / deviations[rows, None]
            mass = np.where(inside, np.exp(-0.5 * np.square(away)), 0.0)
            mass /= mass.sum(axis=1, keepdims=True)
            yield Footprint(rows, np.clip(points, 0, grid.size - 1), mass)


@dataclass(frozen=True, eq=False)
class Alike:
    """Posteriors of one latent, those that are all but the same taken together.

    Rows whose means lie within an eighth of a deviation and whose deviations within a tenth of one another become one
    Gaussian with their mean and variance. That changes a mixture's second moment not at all and its shape by some
    1e-4, and makes 200,000 rows a few thousand. Small tables are left as they are.
    """

    means: Array
    deviations: Array
    count: NDArray[np.int64]  # rows of each
    member: NDArray[np.int64]  # which of them each row belongs to

    @classmethod
    def of(cls, means: Array, deviations: Array) -> Alike:
        """The posteriors of all rows."""
        n = len(means)
        alone = cls(means, deviations, np.ones(n, dtype=np.int64), np.arange(n))
        if n <= _EXACT_ROWS:
            return alone
        width = np.rint(np.log(deviations) / _LIKE_WIDTH)
        place = np.floor(means / (_LIKE_MEAN * np.exp(width * _LIKE_WIDTH)))
        place -= place.min()
        _, member = np.unique((width - width.min()) * (place.max() + 1) + place, return_inverse=True)
        count = np.bincount(member)
        if 2 * len(count) > n:
            return alone
        centre = np.bincount(member, means) / count
        spread = np.bincount(member, np.square(deviations) + np.square(means - centre[member])) / count
        return cls(centre, np.sqrt(spread), count, member)


class Marginal:
    """log q(z_j) of one latent: its mean under q(z_j) by integration, and its value anywhere."""

    def __init__(self, means: Array, log_vars: Array) -> None:
        alike = Alike.of(means, np.exp(0.5 * log_vars))
        self.grid, deviations = grid_of(alike.means, alike.deviations)
        mass = np.zeros(self.grid.size)
        for block in footprints(alike.means, deviations, self.grid):
            weighed = block.mass * alike.count[block.rows, None]
            mass += np.bincount(block.points.ravel(), weighed.ravel(), minlength=mass.size)
        mass /= len(means)
        self.log_density = np.log(np.maximum(mass, 1e-300) / self.grid.step)
        self.mean_log_density = float(mass @ self.log_density)  # minus the entropy

    def __call__(self, z: Array) -> Array:
        """Cubic interpolation: log q is nearly quadratic between grid points, so the error is beyond 1e-6."""
        place = np.clip((z - self.grid.start) / self.grid.step, 1, self.grid.size - 2.001)
        left = place.astype(np.int64)
        t = place - left
        a, b, c, d = (self.log_density[np.clip(left + i, 0, self.grid.size - 1)] for i in (-1, 0, 1, 2))
        return np.asarray(
            -t * (t - 1) * (t - 2) / 6 * a
            + (t + 1) * (t - 1) * (t - 2) / 2 * b
            - (t + 1) * t * (t - 2) / 2 * c
            + (t + 1) * t * (t - 1) / 6 * d
        )


def factor_information(
    means: Array, log_vars: Array, labels: Sequence[tuple[NDArray[np.int64], int]], *, rows: bool = True
) -> tuple[Array, Array | None]:
    """I(z_j; v_k) `[d, k]`, and what each row contributes, E_{q(z_j given n)} log q(z_j given v_k)/q(z_j), `[n, d, k]`.

    Rows whose label is missing (−1) take no part in that factor and contribute 0.
    """
    n, d = means.shape
    matrix = np.zeros((d, len(labels)))
    out = np.zeros((n, d, len(labels))) if rows else None
    for j in range(d):
        alike = Alike.of(means[:, j], np.exp(0.5 * log_vars[:, j]))
        grid, deviations = grid_of(alike.means, alike.deviations)
        # Held for all factors where that is small, made again for each where it is not.
        small = len(alike.means) * _REACH * 2 * _STEPS_PER_DEVIATION < 4 * _BLOCK
        kept = list(footprints(alike.means, deviations, grid)) if small else None
        for k, (label, size) in enumerate(labels):
            known = label >= 0
            joint = np.zeros((size, grid.size))
            share = np.zeros((0, 0))
            if len(alike.means) < n:  # [posterior, value]
                cell = alike.member[known] * size + label[known]
                share = np.bincount(cell, minlength=len(alike.means) * size).reshape(-1, size).astype(np.float64)
            for block in kept or footprints(alike.means, deviations, grid):
                _add_mass(joint, block, label, share)
            count = np.bincount(label[known], minlength=size)
            marginal = joint.sum(axis=0) / count.sum()
            conditional = joint / count[:, None]
            ratio = np.divide(conditional, marginal, out=np.ones_like(joint), where=conditional > 0)
            log_ratio = np.log(ratio)
            matrix[j, k] = (joint * log_ratio).sum() / count.sum()
            if out is None:
                continue
            expected = np.zeros((len(alike.means), size)) if share.size else np.zeros(n)
            for block in kept or footprints(alike.means, deviations, grid):
                _expect(expected, block, label, log_ratio)
            out[known, j, k] = expected[alike.member[known], label[known]] if share.size else expected[known]
    return matrix, out


def _add_mass(joint: Array, block: Footprint, label: NDArray[np.int64], share: Array) -> None:
    """Add some posteriors' mass to q(z_j, v_k), `[value, point]`: each to its label's row, or to rows by its shares."""
    points = joint.shape[1]
    if not share.size:
        there = label[block.rows] >= 0
        cell = label[block.rows][there, None] * points + block.points[there]
        joint += np.bincount(cell.ravel(), block.mass[there].ravel(), minlength=joint.size).reshape(joint.shape)
        return
    from scipy.sparse import csr_array  # deferred: importing the metrics should not import SciPy

    width = block.points.shape[1]
    starts = np.arange(0, block.points.size + 1, width)
    reach = csr_array((block.mass.ravel(), block.points.ravel(), starts), shape=(len(block.rows), points))
    joint += (reach.T @ share[block.rows]).T


def _expect(expected: Array, block: Footprint, label: NDArray[np.int64], log_ratio: Array) -> None:
    """Write E log q(z_j given v)/q(z_j) under some posteriors: of each row's own value, or of every value."""
    if expected.ndim == 1:
        there = label[block.rows] >= 0
        at = block.rows[there]
        expected[at] = (block.mass[there] * log_ratio[label[at, None], block.points[there]]).sum(axis=1)
        return
    from scipy.sparse import csr_array

    starts = np.arange(0, block.points.size + 1, block.points.shape[1])
    reach = csr_array((block.mass.ravel(), block.points.ravel(), starts), shape=(len(block.rows), log_ratio.shape[1]))
    expected[block.rows] = reach @ log_ratio.T
