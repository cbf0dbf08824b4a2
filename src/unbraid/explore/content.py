"""What the page shows of a run's data: observations to start from, a map of them, and where codes lie."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unbraid.data.factor_data import Factor
from unbraid.explore.material import NO_PICTURES, Material
from unbraid.explore.packing import Block
from unbraid.runs.codes import CodeTable
from unbraid.runs.directory import RunDirectory
from unbraid.runs.new_data import factors_of

BINS = 40  # of the histograms
NEIGHBOURS = 5  # on the map
MOST_CODES = 256  # a flow has as many codes as an observation has values: those are drawn, not kept
SPRITE_QUALITY = 90


def observations(run: RunDirectory, table: CodeTable, material: Material, block: Block) -> dict[str, Any]:
    """Up to 200 observations: what they look like, their codes, factors and place on the map."""
    chosen = material.places
    plane = placed(table.codes[chosen])
    shown: dict[str, Any] = {"count": len(chosen), "map": plane.round(4).tolist()}
    shown["codes"] = [
        block.add(codes[chosen].astype("<f2")) if codes.shape[1] <= MOST_CODES else None
        for codes in (table.arrays[name] for name in code_arrays(run))
    ]
    shown["factors"] = [
        {
            "name": factor.name,
            "kind": factor.kind,
            "values": list(factor.values),
            "of": known(column[chosen]),
            "order": order_on_plane(plane, column[chosen], factor),
        }
        for factor, column in zip(factors_of(run), table.factors.T, strict=True)
    ]
    if not material.is_real:
        shown["absent"] = NO_PICTURES
    if run.is_image:
        return shown | ({"sprites": sprites(material.x, block)} if material.is_real else {})
    low, high = np.quantile(material.x, [0.005, 0.995], axis=0)
    values = {"x": block.add(material.x.astype("<f4"))} if material.is_real else {}
    return shown | values | {"low": low.tolist(), "high": high.tolist()}


def code_arrays(run: RunDirectory) -> list[str]:
    """Where the codes of each stage stand in a code table."""
    return ["codes" if number == 1 else f"stage-{number}/codes" for number in range(1, len(run.plan.stages) + 1)]


def histogram(codes: NDArray[np.float32], low: float, high: float) -> list[int]:
    """How many observations have a code in each of the slider's bins, as shares of 255."""
    counts = np.histogram(codes, bins=BINS, range=(low, high) if high > low else None)[0]
    return np.ceil(255 * counts / max(1, counts.max())).astype(int).tolist()  # type: ignore[no-any-return]


def placed(codes: NDArray[np.float32]) -> NDArray[np.float64]:
    """Codes on a plane, [n, 2] within [0, 1]: their two first principal components.

    Codes keep their scale: one that has collapsed hardly varies, and should not count.
    """
    centred = codes.astype(np.float64) - codes.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    plane = centred @ axes[:2].T
    plane = np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))
    low, span = plane.min(axis=0), np.ptp(plane, axis=0)
    within: NDArray[np.float64] = (plane - low) / np.where(span > 0, span, 1.0)
    return within


def order_on_plane(plane: NDArray[np.float64], column: NDArray[np.float64], factor: Factor) -> float:
    """How much more alike neighbours on the map are in a factor than any two observations, at most 1."""
    there = ~np.isnan(column)
    if there.sum() <= NEIGHBOURS:
        return 0.0
    values, points = column[there], plane[there]
    near = ((points[:, None] - points[None]) ** 2).sum(axis=2).argsort(axis=1)[:, 1 : NEIGHBOURS + 1]
    apart = np.abs(values[:, None] - values[None])
    if factor.kind == "categorical":
        apart = (apart > 0).astype(float)
    if factor.kind == "cyclic":
        apart = np.minimum(apart, max(factor.size, 1) - apart)
    overall = float(apart.mean())
    return 1 - float(np.take_along_axis(apart, near, axis=1).mean()) / overall if overall else 0.0


def known(column: NDArray[np.float64]) -> list[float | None]:
    """Values of a factor; None where unknown, as JSON has no NaN."""
    return [None if np.isnan(value) else float(value) for value in column]


def sprites(images: NDArray[np.uint8], block: Block) -> dict[str, Any]:
    """All images on one sheet, ten in a row, and where its file stands in the block."""
    n, height, width, channels = images.shape
    across = 10
    rows = -(-n // across)
    sheet = np.zeros((rows * height, across * width, channels), np.uint8)
    for k, image in enumerate(images):
        row, column = divmod(k, across)
        sheet[row * height : (row + 1) * height, column * width : (column + 1) * width] = image
    picture = Image.fromarray(sheet[..., 0] if channels == 1 else sheet[..., :3])
    buffer = io.BytesIO()
    if picture.mode == "L" or min(height, width) < 48:  # small pictures suffer most, and cost least
        picture.save(buffer, "PNG", optimize=True)
        kind = "png"
    else:
        picture.save(buffer, "WEBP", quality=SPRITE_QUALITY, method=6)
        kind = "webp"
    at = block.add(np.frombuffer(buffer.getvalue(), np.uint8))
    return {"across": across, "type": f"image/{kind}", "at": at, "bytes": len(buffer.getvalue())}
