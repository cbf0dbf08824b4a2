"""Fields that the settings of several studies share: what a study's scales differ in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from unbraid.core import Adam
from unbraid.nets.stacks import NetworkName
from unbraid.ops.batch_bias import tc_slope

PAPER_SIDE = 64  # of the images that the papers' weights are for


def part_of_values(size: int, paper: int = PAPER_SIDE) -> float:
    """What every weight beside the reconstruction is multiplied by, where images are not of the paper's size.

    The reconstruction error sums over an image's values, the other terms do not: with a quarter of the values, a
    weight of 4 stifles what a weight of 16 would. All weights, that of a plain KL too, are taken this many times.

    Args:
        size: height and width of the images here.
        paper: of the paper's.

    Returns:
        The part of the paper's values that the images here have.

    Example:
        >>> part_of_values(32)
        0.25
    """
    return (size / paper) ** 2


def weights_described(size: int, paper: int = PAPER_SIDE) -> str:
    """That rule in words, for the page.

    Example:
        >>> print(weights_described(32))
        0.25 of the paper's, as the images have of its pixels
        >>> print(weights_described(64))
        the paper's
    """
    part = part_of_values(size, paper)
    return "the paper's" if part == 1 else f"{part:g} of the paper's, as the images have of its pixels"


def by_seed(groups: Iterable[str], seeds: int, more: Mapping[str, int] | None = None) -> list[tuple[int, str]]:
    """Every row of a table from every seed, one seed after another, so that a part of the runs is a comparison too.

    Args:
        groups: names of the rows.
        seeds: how many runs a row has.
        more: rows that have more, where one seed differs much from another.

    Returns:
        Seed and name of every run.

    Example:
        >>> by_seed(["VAE", "β-VAE"], 1, {"VAE": 2})
        [(0, 'VAE'), (0, 'β-VAE'), (1, 'VAE')]
    """
    more, names = more or {}, list(groups)
    most = max([seeds, *more.values()])
    return [(seed, name) for seed in range(most) for name in names if seed < more.get(name, seeds)]


def seeds_described(seeds: int, more: Mapping[str, int] | None = None) -> str:
    """That in words, for the page.

    Example:
        >>> seeds_described(5), seeds_described(5, {"VAE": 10, "β = 4": 10})
        ('5', '5; 10 of «VAE», «β = 4»')
    """
    by_number: dict[int, list[str]] = {}
    for name, number in (more or {}).items():
        by_number.setdefault(number, []).append(f"«{name}»")
    return "; ".join([str(seeds), *(f"{number} of {', '.join(names)}" for number, names in by_number.items())])


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
    def part_of_values(self) -> float:
        """What every weight beside the reconstruction is multiplied by."""
        return part_of_values(self.size)

    @property
    def weights_described(self) -> str:
        """That rule in words, for the page."""
        return weights_described(self.size)

    @property
    def data_described(self) -> str:
        """The data set in words, for the page."""
        return f"sprites (dSprites drawn anew), {self.size}×{self.size}"


@dataclass(frozen=True)
class BatchSetting(SpritesSetting):
    """A study of methods whose terms are estimated from the batch, so that its size matters."""

    batch_size: int
    network: NetworkName
    end: float = 1.0  # part of the learning rate that is left at the last step
    latents: int = 10
    resolution: int = 0  # side of the images that networks work on, if smaller
    whole: bool = False  # whether a batch is the whole data set, so that nothing is estimated from a part

    @property
    def options(self) -> dict[str, Any]:
        """What all methods of the study share."""
        return {
            "width": self.width,
            "batch_size": self.batch_size,
            "network": self.network,
            "latents": self.latents,
            "resolution": self.resolution,
            "adam": Adam(lr=self.lr, end=self.end),
        }

    @property
    def network_described(self) -> str:
        """The networks in words, for the page."""
        decoder = " decoder, conv encoder" if self.network == "broadcast" else ""
        inside = f", on means of {self.resolution}×{self.resolution}" if self.resolution else ""
        return f"{self.network}{decoder}, width {self.width:g}{inside}, {self.latents} latents"

    @property
    def batch_described(self) -> str:
        """The batch in words, with how much of the KL its estimate of the total correlation takes for correlation."""
        if self.whole:
            return f"{self.batch_size}, as many as there are images: the total correlation is taken over all of them"
        return f"{self.batch_size} (slope of the estimated TC by the KL: {tc_slope(self.batch_size):.2f} at 6 nats)"

    @property
    def optimiser_described(self) -> str:
        """The optimiser in words, for the page."""
        falling = f", falling to {self.end:.0%} of it" if self.end < 1 else ""
        return f"Adam, {self.lr:g}{falling}, the same for every method"


def mostly_kl(batch: int) -> str:
    """A batch of β-TCVAE in words, with how much of the KL its estimate of the total correlation takes for correlation.

    Example:
        >>> mostly_kl(64)
        '64 (slope of the estimated TC by the KL: 0.74 at 6 nats, 0.92 at 9: β is largely a weight of the KL)'
    """
    six, nine = (tc_slope(batch, latents=latents, kl=kl) for latents, kl in ((5, 6.0), (10, 9.0)))
    largely = ": β is largely a weight of the KL" if six > 0.5 else ""
    return f"{batch} (slope of the estimated TC by the KL: {six:.2f} at 6 nats, {nine:.2f} at 9{largely})"


@dataclass(frozen=True)
class ChainSetting:
    """A study of a β-VAE and a second stage behind it."""

    data: str
    arguments: Mapping[str, Any]  # of the data set
    beta: float
    steps: tuple[int, int]
    seeds: int
