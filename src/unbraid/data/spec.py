"""What a method may know of the data before it is trained."""

from __future__ import annotations

from dataclasses import dataclass

from unbraid.data.counts import Counts as Counts
from unbraid.data.factor_data import Factor


@dataclass(frozen=True)
class DataSpec:
    """What a method may know of the data when it builds its networks."""

    shape: tuple[int, ...]  # (channel, height, width) or (value,)
    size: int  # number of observations
    factors: tuple[Factor, ...] = ()  # those whose labels it may see
    ranges: tuple[tuple[float, float], ...] = ()  # least and greatest known value of each factor
    codes: int = 0  # number of codes of the stage before, for stages that use them
    labelled: int = 0  # observations of which at least one label is known
    shares: tuple[tuple[float, ...], ...] = ()  # of each value among the known labels, for each discrete factor
    means: tuple[float, ...] = ()  # of the known labels of each factor
    counts: Counts | None = None  # where the observations are counts
    signal: tuple[int, int] | None = None  # channels and times of vectors that are signals of several channels

    @property
    def is_image(self) -> bool:
        """Whether observations are images (else vectors)."""
        return len(self.shape) == 3
