"""What chance gives and what perfect codes get, for every metric on one table that anyone can make again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np

from unbraid.metrics._shared.bootstrap import stream
from unbraid.metrics.score import Score
from unbraid.metrics.suite import Progress, suite

FILE = "standing.json"  # beside this module; benchmarks/standing.py makes it
SIZES = (2, 4, 6, 10, 15)
LATENTS = 10
LOG_VAR = -3.0


def standings(rows: int = 1000, *, seed: int = 0, progress: Progress | None = None) -> dict[str, Score]:
    """Scores of ten latents of pure noise beside five factors, each with its chance level and its ceiling.

    The factors are independent and have 2, 4, 6, 10 and 15 values; the posteriors' log-variances are −3.

    Args:
        rows: of the table.
        seed: of the table and of all draws.
        progress: as in `suite`.

    Returns:
        Scores by key, as `suite` gives them.

    Example:
        >>> scores = standings(200)
        >>> scores["mig"].ceiling > 0.7 > 0.2 > scores["mig"].chance.mean
        True
    """
    draws = stream(seed, "standing")
    factors = draws.integers(SIZES, size=(rows, len(SIZES)))
    codes = draws.standard_normal((rows, LATENTS))
    log_vars = np.full(codes.shape, LOG_VAR)
    return suite(codes, factors, log_vars=log_vars, seed=seed, replicates=0, progress=progress)


def markdown(scores: Mapping[str, Score]) -> str:
    """The table of chance levels and ceilings in docs/metrics.md.

    Example:
        >>> from unbraid.metrics.score import Chance
        >>> print(markdown({"mig": Score(0.02, chance=Chance((0.01, 0.03)), ceiling=0.98)}))
        | metric | pure noise | chance | ceiling |
        |---|---|---|---|
        | `mig` | 0.020 | 0.020 ± 0.014 | 0.980 |
    """
    lines = ["| metric | pure noise | chance | ceiling |", "|---|---|---|---|"]
    for name, score in scores.items():
        if score.chance is None:
            continue
        chance = f"{score.chance.mean:.3f} ± {score.chance.spread:.3f}"
        ceiling = "–" if score.ceiling is None else f"{score.ceiling:.3f}"
        lines.append(f"| `{name}` | {score.value:.3f} | {chance} | {ceiling} |".replace("-0.000", "0.000"))
    return "\n".join(lines)


def published() -> dict[str, Any]:
    """What `benchmarks/standing.py` measured last: `rows`, and `scores` by key as in metrics.json.

    Example:
        >>> published()["scores"]["mig"]["ceiling"] > 0.9
        True
    """
    known: dict[str, Any] = json.loads(files("unbraid.metrics").joinpath(FILE).read_text(encoding="utf-8"))
    return known
