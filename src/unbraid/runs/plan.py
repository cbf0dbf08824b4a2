"""What a run is to do, and what identifies its results."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from unbraid import methods
from unbraid.core import Draws, HasTarget, LaterStage, MethodConfig
from unbraid.data.factor_data import FactorData
from unbraid.data.held_out import HeldOut, HeldOutPlan, held_out_plan
from unbraid.data.label_budget import NO_ROWS, LabelBudget, LabelPlan
from unbraid.errors import InputError, unknown
from unbraid.methods.traits import check_counts, resolve_likelihoods
from unbraid.util.schema import check_bounds, digest, to_json, typed

FORMAT = 1


@dataclass(frozen=True)
class Plan:
    """What determines a run: data, stages, steps, seed and, where a stage learns from labels, which it is shown."""

    data: Mapping[str, Any]
    stages: tuple[tuple[MethodConfig, int], ...]
    seed: int
    labels: LabelPlan | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)  # what was chosen for the user, and why
    held_out: HeldOutPlan | None = None

    @staticmethod
    def check(
        data: FactorData,
        configs: Sequence[MethodConfig],
        steps: Sequence[int],
        seed: int,
        labels: LabelBudget | None = None,
        held_out: HeldOut | float | None = None,
    ) -> Plan:
        """The plan, or a sentence that says why it cannot be carried out."""
        if not configs:
            raise InputError("name at least one method.")
        if len(steps) != len(configs):
            stages = (
                "one stage needs one number of steps" if len(configs) == 1 else f"{len(configs)} stages need as many"
            )
            raise InputError(f"{stages}, not {len(steps)}: --steps {' '.join(map(str, steps))}.")
        if min(steps) < 1:
            raise InputError(f"steps must be at least 1, not {min(steps)}.")
        if seed < 0:
            raise InputError(f"--seed must not be negative, as {seed} is.")
        if len(data) < 2:
            raise InputError(f"{data.name} has {len(data)} observations; learning needs at least 2.")
        if configs[0].conditional:
            raise InputError(
                f"{configs[0].name} is a second stage: name a first one, as in --method beta-tcvae {configs[0].name}."
            )
        for config in configs[1:]:
            if not config.conditional:
                raise InputError(f"{config.name} cannot follow another stage: it does not use what that stage makes.")
        check_counts(configs, data)
        configs, notes = resolve_likelihoods(configs, data)
        for config in configs:
            check_bounds(config)
            check_target(config, data)
        for earlier, later in pairwise(configs):
            check_condition(earlier, later)
        description = {
            "name": data.name,
            "arguments": None if data.arguments is None else to_json(dict(data.arguments)),
            "fingerprint": data.fingerprint,
            "n": len(data),
            "shape": list(data.shape),
            "factors": [to_json(factor) for factor in data.factor_info],
        }
        planned = tuple(zip(configs, steps, strict=True))
        held = held_out_plan(data, held_out, seed)
        shown = label_plan(data, configs, labels, NO_ROWS if held is None else held.rows(data, seed))
        return Plan(description, planned, seed, shown, tuple(notes), held)

    def to_json(self) -> dict[str, Any]:
        """As it stands in config.json."""
        stages = [methods.describe(config) | {"steps": steps} for config, steps in self.stages]
        labels = {} if self.labels is None else {"labels": to_json(self.labels)}
        held_out = {} if self.held_out is None else {"held_out": to_json(self.held_out)}
        return {"format": FORMAT, "data": dict(self.data), "stages": stages, "seed": self.seed} | labels | held_out

    def key(self, number: int) -> str:
        """What identifies the weights of stage `number` (from 1): data, seed, all stages up to it, labels they read.

        And what is held out of the data; runs that hold nothing out have the keys that they had before any could.
        """
        stages = [methods.describe(config) | {"steps": steps} for config, steps in self.stages[:number]]
        read = any(config.uses_labels for config, _ in self.stages[:number])
        also: dict[str, Any] = {"labels": self.labels} if read else {}
        also |= {} if self.held_out is None else {"held_out": self.held_out}
        known = {"format": FORMAT, "data": self.data["fingerprint"], "seed": self.seed, "stages": stages}
        return digest(known | {name: to_json(value) for name, value in also.items()})

    @property
    def default_name(self) -> str:
        """The directory's name where none is given."""
        chain = "+".join(config.name for config, _ in self.stages)
        return f"{Path(str(self.data['name'])).stem}-{chain}-seed{self.seed}-{self.key(len(self.stages))[:6]}"


def label_plan(
    data: FactorData,
    configs: Sequence[MethodConfig],
    budget: LabelBudget | None,
    held_out: NDArray[np.int64] = NO_ROWS,
) -> LabelPlan | None:
    """Which labels the stages that use labels are shown: all, unless a budget says otherwise."""
    if any(config.uses_labels for config in configs):
        chosen = budget or LabelBudget()
        factors = chosen.factors or data.factor_names
        required = {factor for config in configs for factor in config.required_labels(factors)}
        return chosen.resolve(data, required=[factor for factor in factors if factor in required], held_out=held_out)
    if budget is not None:
        names = " and ".join(config.name for config in configs)
        raise InputError(f"{names} learns without labels: leave --labels and --label-factors out.")
    return None


def check_target(config: MethodConfig, data: FactorData) -> None:
    """What a stage is to predict must be there."""
    if not isinstance(config, HasTarget) or not config.target or config.target in data.targets:
        return
    if not data.targets:
        raise InputError(f"{data.name} has no targets, so --target {config.target} names nothing: leave it out.")
    raise unknown(f"target of {data.name}", config.target, data.targets)


def check_condition(earlier: MethodConfig, later: MethodConfig) -> None:
    """A stage that is to be given draws of observations needs one that can draw them."""
    if not isinstance(later, LaterStage) or later.condition != "observation":
        return
    if getattr(earlier, "likelihood", "") == "gaussian-optimal":
        raise InputError(f"{earlier.name} keeps no scale to draw with: choose --1.likelihood gaussian and a --1.scale.")
    try:
        made = get_type_hints(type(earlier).build).get("return")
    except NameError:  # an annotation that only a type checker can resolve
        return
    if isinstance(made, type) and not issubclass(made, Draws):
        raise InputError(f"{earlier.name} draws no observations: choose --condition sample or mean for {later.name}.")


def cautions(plan: Plan) -> list[str]:
    """Sentences on settings under which a stage does something else than its name says.

    They are on what batches make of estimates: a batch of the whole data set leaves nothing to estimate.
    """
    rows = plan.data["n"]
    return [sentence for config, _ in plan.stages if config.batch_size < rows for sentence in config.cautions(rows)]


def unfinished_schedules(plan: Plan) -> list[str]:
    """A sentence for every schedule that is longer than its stage's training: it would end on the way."""
    return [
        f"{config.name} has {steps:,} steps, and --{typed(field.name)} is {getattr(config, field.name):,}: "
        f"what rises over these will come {steps / getattr(config, field.name):.0%} of its way."
        for config, steps in plan.stages
        for field in dataclasses.fields(config)
        if field.name.endswith("_steps") and getattr(config, field.name) > steps
    ]


def differences(there: Any, here: Any, where: str = "") -> list[str]:
    """What differs between two configurations, each as «name: old there, new here»."""
    if isinstance(there, dict) and isinstance(here, dict):
        names = sorted(there.keys() | here.keys())
        return [line for name in names for line in differences(there.get(name), here.get(name), f"{where}.{name}")]
    if isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        pairs = enumerate(zip(there, here, strict=True), 1)
        return [line for number, (a, b) in pairs for line in differences(a, b, f"{where}.{number}")]
    return [] if there == here else [f"{where.lstrip('.')}: {there} there, {here} here"]
