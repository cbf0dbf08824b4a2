"""What to train where nobody says: chains of stages that were tried, what they need, and what they reached.

One table for all who choose for the user: `unbraid fit DATA` takes a line's chain and steps, `--minutes` divides a
budget by its shares, and the demo is its first line. Figures were taken on one core with the fast recipes; `python
benchmarks/time_to_quality.py` takes them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from unbraid.core import MethodConfig
from unbraid.methods import recipes
from unbraid.methods.recipes import Traits
from unbraid.methods.staged.ms_vae import MSVAE
from unbraid.methods.vae.beta_tcvae import BetaTCVAE

Kind = Literal["images", "vectors"]
STEPS = 20_000  # of a stage that is not in the table
FEW_STEPS = 1000  # that even the smallest data set is worth


@dataclass(frozen=True)
class Stage:
    """One stage of a tried chain.

    Attributes:
        method: what is trained, by the fast recipe.
        steps: how many without a budget.
        share: of a budget's time for training.
        least: steps below which the next of `lighter` learned more in the same time.
        most: steps beyond which nothing more was gained; a budget that allows for more is not used up.
        passes: over the data beyond which small tables are learned by heart; with `FEW_STEPS`, they bound both numbers.
        lighter: options to change for a small budget or large images, one after another.
    """

    method: type[MethodConfig]
    steps: int
    share: float = 1.0
    least: int = 0
    most: int | None = None
    passes: int | None = None
    lighter: tuple[Mapping[str, Any], ...] = ()

    def within(self, steps: int, rows: int, batch_size: int) -> int:
        """So many steps, or as many as are of use for so many observations.

        Example:
            >>> stage = Stage(BetaTCVAE, 10_000, most=40_000, passes=400)
            >>> [stage.within(90_000, rows, 64) for rows in (50, 178, 2000, 1_000_000)]
            [1000, 1112, 12500, 40000]
        """
        bounds = [steps] if self.most is None else [steps, self.most]
        if self.passes is not None:
            bounds.append(max(FEW_STEPS, self.passes * rows // batch_size))
        return min(bounds)


@dataclass(frozen=True)
class Measured:
    """What a line of the table reached: a data set, CPU seconds of one core for all of it, and scores by name."""

    data: str
    seconds: float
    scores: Mapping[str, float]


@dataclass(frozen=True)
class Tried:
    """One line of the table: what to train on a kind of data."""

    kind: Kind
    stages: tuple[Stage, ...]
    measured: tuple[Measured, ...] = field(default=())


TABLE: tuple[Tried, ...] = (
    Tried(
        "images",
        (
            Stage(BetaTCVAE, 6000, share=0.4),
            # Detail of scenes after some 12 CPU seconds, squared error as a part of stage 1's: batches of 16 leave 0.75
            # (180 steps), of 8 0.70 (330), of 4 0.68 (560, 18 s); half the width 0.77, and 0.74 with batches of 8.
            Stage(MSVAE, 2600, share=0.6, least=400, lighter=({"batch_size": 8}, {"batch_size": 4})),
        ),
        (
            # The demo, all of it: seed 0 with two threads (4 min 14 s of the clock), the others with one.
            Measured("scenes 64×64, seed 0", 307, {"mig": 0.76, "l2 of stage 1's": 0.23}),
            Measured("scenes 64×64, seed 1", 216, {"mig": 0.62, "l2 of stage 1's": 0.21}),
            Measured("scenes 64×64, seed 2", 217, {"mig": 0.66, "l2 of stage 1's": 0.22}),
            Measured("Cars3D, 6,000 + 10,000 steps, seed 0", 536, {"l2 of stage 1's": 0.13, "fid of stage 1's": 0.43}),
        ),
    ),
    # A second stage learns small tables by heart: on wine (161 rows of 13 columns) it takes the squared error of these
    # rows from 0.140 of the variance to 0.134, and that of rows that were kept out from 0.43 to 0.59.
    # Of wine (160 rows, 13 columns) 10,000 steps are 4,000 passes, and errors of new rows are 19,000 times those of the
    # training's; the loss of held-out rows is lowest after some 250 passes, and rises slowly at first.
    Tried("vectors", (Stage(BetaTCVAE, 10_000, most=40_000, passes=400),)),
)


def line_for(data: Traits) -> Tried:
    """The line of the table for data with these traits.

    Example:
        >>> [stage.method.name for stage in line_for(Traits((3, 64, 64))).stages]
        ['beta-tcvae', 'ms-vae']
    """
    kind: Kind = "images" if len(data.shape) == 3 else "vectors"
    return next(line for line in TABLE if line.kind == kind)


def default_chain(data: Traits) -> list[MethodConfig]:
    """The stages that are trained where no method is named, by the recipes that learn in minutes."""
    return [recipes.start(stage.method, "fast", data) for stage in line_for(data).stages]


def default_steps(data: Traits, rows: int) -> list[int]:
    """The steps of each stage of that chain for so many observations: few for a small table, soon known by heart.

    Example:
        >>> default_steps(Traits((13,)), 178), default_steps(Traits((13,)), 5000)
        ([1112], [10000])
    """
    stages = zip(line_for(data).stages, default_chain(data), strict=True)
    return [stage.within(stage.steps, rows, config.batch_size) for stage, config in stages]


def stages_for(configs: Sequence[MethodConfig], data: Traits) -> list[Stage]:
    """What the table says of each of these stages; one that it does not know has an equal part of the time.

    Args:
        configs: the stages in order, of any methods.
        data: what they are to learn from.
    """
    line = line_for(data).stages
    if [type(config) for config in configs] == [stage.method for stage in line]:
        return list(line)
    known = {stage.method: replace(stage, share=1.0) for stage in line}
    return [known.get(type(config), Stage(type(config), STEPS)) for config in configs]


def lighter(config: MethodConfig, stage: Stage, named: Sequence[str] = ()) -> list[MethodConfig]:
    """This configuration in its lighter forms, the heaviest first; options that someone has named stay as they are.

    Example:
        >>> stage = line_for(Traits((3, 64, 64))).stages[1]
        >>> [form.batch_size for form in lighter(MSVAE(), stage)], lighter(MSVAE(), stage, ["batch_size"])
        ([8, 4], [])
    """
    changes = [{name: value for name, value in form.items() if name not in named} for form in stage.lighter]
    return [replace(config, **form) for form in changes if form]
