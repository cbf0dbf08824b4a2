"""The command that makes a run, written from its plan."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unbraid.core import MethodConfig
from unbraid.data.arguments import parse_argument
from unbraid.data.held_out import HeldOutPlan
from unbraid.data.label_budget import LabelPlan
from unbraid.methods import recipes
from unbraid.util.schema import to_json


def command_line(
    data: Mapping[str, Any],
    stages: Sequence[tuple[MethodConfig, int]],
    seed: int,
    labels: LabelPlan | None = None,
    held_out: HeldOutPlan | None = None,
) -> str:
    """The `unbraid fit` command that makes a run, for runs that were started from Python.

    Args:
        data: the data set's `name` and the `arguments` that load it.
        stages: each stage's configuration and number of steps.
        seed: the run's seed.
        labels: the labels that the stages may see; None for all.
        held_out: what is held out of the data; None for nothing.

    Returns:
        One line for a shell. Only options that differ from their defaults are in it.
    """
    words = ["unbraid fit", shlex.quote(str(data["name"]))]
    words += [f"--data.{name} {_data_word(value)}" for name, value in (data["arguments"] or {}).items()]
    words += ["--method", *(config.name for config, _ in stages)]
    if labels is not None:
        words += ["--labels", shlex.quote(f"first {labels.count}" if labels.first else str(labels.count))]
        words += ["--label-factors", *map(shlex.quote, labels.factors)] if labels.factors else []
    words += (
        [f"--held-out {held_out.share if held_out else 0:g}"] if held_out or Path(data["name"]).is_absolute() else []
    )
    words += [f"--held-out-by {shlex.quote(held_out.by)}"] if held_out and held_out.by else []
    words += ["--steps", *(str(steps) for _, steps in stages), f"--seed {seed}"]
    words += ["--recipe paper"] if any(recipes.differs(type(config)) for config, _ in stages) else []
    for number, (config, _) in enumerate(stages, 1):
        prefix = f"{number}." if len(stages) > 1 else ""
        default, chosen = to_json(type(config)()), to_json(config)
        words += [f"--{prefix}{name} {_word(value)}" for name, value in recipes.differences(default, chosen)]
    return " ".join(words)


def _word(value: Any) -> str:
    """The value of an option as a shell takes it and `parse` reads it."""
    if value is None:
        return "none"
    return shlex.quote(",".join(map(str, value)) if isinstance(value, list) else str(value))


def _data_word(value: Any) -> str:
    """An argument of the data set as a shell takes it and `parse_argument` reads it."""
    is_plain_text = isinstance(value, str) and parse_argument(value) == value
    return shlex.quote(value if is_plain_text else json.dumps(value))
