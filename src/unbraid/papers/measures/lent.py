"""What images lend to each other (PartedVAE, figure 5): the class must stay, the rest must come along."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.neighbors import KNeighborsClassifier

from unbraid.api import Run

Images = NDArray[np.uint8]  # [n, height, width, channel]
CONTENTS, STYLES, WITNESSES = 100, 20, 10_000


def ink(images: Images) -> NDArray[np.float64]:
    """The mean lightness of each image: how thick a digit is."""
    mean: NDArray[np.float64] = images.reshape(len(images), -1).mean(axis=1)
    return mean


def slant(images: Images) -> NDArray[np.float64]:
    """How far each image leans: the slope of x by y over its light.

    Example:
        >>> leaning = np.eye(5, dtype=np.uint8)[None, :, :, None]
        >>> float(slant(leaning)[0]), float(slant(leaning[:, ::-1])[0])
        (1.0, -1.0)
    """
    light = images.mean(axis=3, dtype=np.float64)
    light = light / np.maximum(light.sum(axis=(1, 2), keepdims=True), 1e-12)
    y, x = np.mgrid[: light.shape[1], : light.shape[2]].astype(np.float64)
    x_from, y_from = (axis - (light * axis).sum(axis=(1, 2), keepdims=True) for axis in (x, y))
    variance = (light * y_from**2).sum(axis=(1, 2))
    slope: NDArray[np.float64] = (light * x_from * y_from).sum(axis=(1, 2)) / np.maximum(variance, 1e-12)
    return slope


def follows(given: NDArray[np.float64], made: NDArray[np.float64]) -> float:
    """Mean rank correlation of what each style has, [style], with what its images have, [content, style].

    Example:
        >>> follows(np.array([1.0, 2.0, 3.0]), np.array([[10.0, 20.0, 30.0], [3.0, 2.0, 1.0]]))
        0.0
    """
    ranks = rankdata(given) - (len(given) + 1) / 2
    by_content = rankdata(made, axis=1) - (len(given) + 1) / 2  # [content, style]
    norms = np.sqrt((ranks**2).sum() * (by_content**2).sum(axis=1))
    return float((by_content @ ranks / np.maximum(norms, 1e-12)).mean())


def lent(run: Run, factor: str, images: Images, labels: NDArray[np.float64]) -> dict[str, float]:
    """What a model keeps and what it hands on when images that it has not seen lend each other all but their class.

    Args:
        run: a finished run of a method with classes.
        factor: what the classes are of.
        images: that no training saw.
        labels: their classes, [n].

    Returns:
        `kept`: the share of made images that nearest neighbours in the data name as the image they were given to;
        `real`: the share of real images that they name right; `ink`, `slant`: how well both follow the lender.
    """
    rows = np.linspace(0, len(run.data) - 1, min(WITNESSES, len(run.data))).astype(int)
    known = np.ascontiguousarray(run.data.observations[rows]).reshape(len(rows), -1).astype(np.float32)
    witness = KNeighborsClassifier(3).fit(known, run.data.column(factor)[rows].astype(int))
    content, style = images[:CONTENTS], images[CONTENTS : CONTENTS + STYLES]
    made = run.transfer(content, style)  # [content, style, …]
    flat = made.reshape(-1, *made.shape[2:])
    shape, truth = made.shape[:2], labels[: len(content)].astype(int)
    named = witness.predict(flat.reshape(len(flat), -1).astype(np.float32)).reshape(shape)
    real = witness.predict(content.reshape(len(content), -1).astype(np.float32))
    return {
        "kept": float((named == truth[:, None]).mean()),
        "real": float((real == truth).mean()),
        "ink": follows(ink(style), ink(flat).reshape(shape)),
        "slant": follows(slant(style), slant(flat).reshape(shape)),
    }
