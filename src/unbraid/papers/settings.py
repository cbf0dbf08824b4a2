"""Fields that the settings of several studies share: what a study's scales differ in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PAPER_SIZE = 64


def part_of_values(size: int) -> float:
    """Of the values of the papers' images. Reconstruction errors sum over values: weights must shrink with them.

    Example:
        >>> part_of_values(32)
        0.25
    """
    return (size / PAPER_SIZE) ** 2


@dataclass(frozen=True)
class SpritesSetting:
    """A study of single-stage methods on sprites."""

    arguments: Mapping[str, Any]  # of the data set
    steps: int
    width: float
    lr: float
    seeds: int

    @property
    def size(self) -> int:
        """Height and width of the images.

        Example:
            >>> SpritesSetting({"size": 32}, steps=4, width=0.1, lr=1e-3, seeds=1).size
            32
        """
        return int(self.arguments.get("size", 64))

    @property
    def data_described(self) -> str:
        """The data set in words, for the page."""
        return f"sprites (dSprites drawn anew), {self.size}×{self.size}"


@dataclass(frozen=True)
class ChainSetting:
    """A study of a β-VAE and a second stage behind it."""

    data: str
    arguments: Mapping[str, Any]  # of the data set
    beta: float
    steps: tuple[int, int]
    seeds: int
