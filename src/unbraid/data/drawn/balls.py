"""`balls`: two balls that move up and down side by side. Every picture is a sum of one of each, and can be checked.

The first data set of Lachapelle et al. 2023: the balls never cover each other, so that a decoder which adds up what
each code makes can be right. With `corner=False` training does not see the balls high up at once: of the square of
their two heights it has the three quarters that form an L, and what a model makes of the fourth is extrapolation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.factor_data import Factor, FactorData
from unbraid.errors import InputError

VERSION = 1
SIDE, HEIGHTS = 32, 40
RADIUS = 0.14  # of a ball, in sides of the picture
PLACES = (0.27, 0.73)  # of the balls' centres from the left
# Grey and no extremes: decoders add before the logistic function, where black and white lie at infinity and hide what
# is added to them.
BACKGROUND = 0.5
COLOURS = ((0.9, 0.7, 0.25), (0.15, 0.35, 0.8))
FINE = 4  # points a side in every pixel that are asked whether they lie in a ball


def load(size: int = SIDE, heights: int = HEIGHTS, corner: bool = True) -> FactorData:
    """All combinations of the heights of two balls, the second fastest.

    Args:
        size: height and width in pixels.
        heights: how many there are of each ball.
        corner: whether training sees both balls in the upper half at once; scores are of all pictures alike.

    Returns:
        RGB images. `held_out_corner` tells which of them training lacks without the corner.

    Example:
        >>> data = load(heights=4, corner=False)
        >>> data.factor_names, len(data), len(data.train_rows)
        (('left', 'right'), 16, 12)
    """
    if not 8 <= size <= 256:
        raise InputError(f"balls: size={size} is not available; choose a number from 8 to 256.")
    if not 2 <= heights <= 256:
        raise InputError(f"balls: heights={heights} is not available; choose a number from 2 to 256.")
    factors = np.indices((heights, heights)).reshape(2, -1).T
    single = [ball(size, heights, place, colour) for place, colour in zip(PLACES, COLOURS, strict=True)]
    pictures = BACKGROUND + single[0][factors[:, 0]] + single[1][factors[:, 1]]  # no pixel belongs to both
    left, right = (Factor(name, heights) for name in ("left", "right"))
    seen = None if corner else np.flatnonzero(~in_corner(factors, heights))
    note = "Training does not see both balls in the upper half at once. Scores are of all pictures alike."
    return FactorData(
        "balls",
        (pictures * 255 + 0.5).astype(np.uint8),
        factors.astype(np.float64),
        (left, right),
        known_fingerprint=f"balls-v{VERSION}-{size}px-{heights}" + ("" if corner else "-L"),
        arguments={"size": size, "heights": heights, "corner": corner},
        notes=() if corner else (note,),
        train_rows=seen,
    )


def ball(size: int, heights: int, place: float, colour: tuple[float, float, float]) -> NDArray[np.float64]:
    """What one ball adds to the background at each of its heights, [height, size, size, 3], by how much it covers."""
    at = (np.arange(size * FINE) + 0.5) / (size * FINE)
    low, high = 1 - 1.2 * RADIUS, 1.2 * RADIUS  # of the centre, from the top
    centres = np.linspace(low, high, heights)
    inside = (at[:, None] - centres[:, None, None]) ** 2 + (at - place) ** 2 < RADIUS**2  # [height, y, x]
    covered = inside.reshape(heights, size, FINE, size, FINE).mean((2, 4))
    return np.asarray(covered[..., None] * (np.array(colour) - BACKGROUND))


def in_corner(factors: NDArray[Any], heights: int) -> NDArray[np.bool_]:
    """Which rows of a table of factors have both balls in the upper half."""
    return np.asarray((factors >= heights / 2).all(axis=1))


def held_out_corner(data: FactorData) -> NDArray[np.int64]:
    """The pictures with both balls in the upper half: rows that training with `corner=False` does not see."""
    return np.flatnonzero(in_corner(data.factors, data.factor_info[0].size))
