"""Where a score stands on its table: what codes get that know nothing, and what perfect codes get.

Chance keeps the codes and puts the rows of the factors into random orders: everything that a score owes to the number
of rows, to the number of latents, to bins and to the factors' own distribution stays, and what codes know of factors
goes. The ceiling keeps the factors and takes one code for each: its values, on the scale of the codes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import Array, stream
from unbraid.metrics._shared.table import OF_CODES, Table, latent_names
from unbraid.metrics.score import Chance, Score

DRAWS = 10
FEWEST = 2  # draws, for a spread
_KEPT_ROWS = 50_000  # tables of random orders are kept for the next metric up to here: they take memory
_NOT_OF_PERFECT = ("latents",)  # options that name columns, which perfect codes do not have

# What a table remembers and copies of it with other factors or codes may keep.
_OF_KINDS = ("checked", "discrete", "periods")
_OF_FACTORS = ("levels", "groups")
_OF_ROWS = ("sample", "split")

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Calibration:
    """How a metric is calibrated.

    Args:
        draws: random orders for the chance level.
        lighter: options that must not exceed these in a draw, unless the table has fewer rows than the score reads.
        rows: whether the options `train` and `test` count rows of the table; else points, of which there are always
            enough.
        ceiling: whether there is one; not where chance is the best that there is.
        without: options for draws, where what they switch off adds nothing to codes that know nothing.
        unless: conventions whose chance level depends on the numbers in `lighter`, so that these stay as they are.
    """

    draws: int = DRAWS
    lighter: Mapping[str, int] | None = None
    rows: bool = True
    ceiling: bool = True
    unless: tuple[str, ...] = ()
    without: Mapping[str, Any] | None = None


def calibration(
    *,
    draws: int = DRAWS,
    rows: bool = True,
    ceiling: bool = True,
    unless: tuple[str, ...] = (),
    without: Mapping[str, Any] | None = None,
    **lighter: int,
) -> Callable[[F], F]:
    """Say how a metric is calibrated, where the usual way would take too long; stands below `table_metric`."""

    def mark(function: F) -> F:
        function.calibration = Calibration(draws, lighter, rows, ceiling, unless, without)  # type: ignore[attr-defined]
        return function

    return mark


def calibrated(
    function: Callable[..., Any], table: Table, result: Any, options: Mapping[str, Any], calibrate: bool | int
) -> Any:
    """The same scores with chance and ceiling.

    Args:
        function: of a table, whose result it is.
        table: what was scored.
        result: a score, or scores by name.
        options: of the function.
        calibrate: True for the metric's own number of draws, or a number.
    """
    how: Calibration = getattr(function, "calibration", Calibration())
    count = how.draws if calibrate is True else int(calibrate)
    if count < FEWEST:
        raise InputError(f"calibrate={calibrate} asks for {count} draw(s); give {FEWEST} or more, or True.")
    plain = {**options, "replicates": 0}
    light = _lighter(how, function, table, plain)
    seed = int(options.get("seed", 0))
    for_draws = {**plain, **light, **(how.without or {})}
    drawn = [_attempt(function, random_order(table, seed, i), for_draws) for i in range(count)]
    drawn = [one for one in drawn if one]
    perfect = {name: value for name, value in plain.items() if name not in _NOT_OF_PERFECT}
    if not how.rows:  # fewer votes or pairs for perfect codes say the same with a little more noise
        perfect |= light
    top = _attempt(function, perfect_codes(table), perfect) if how.ceiling else {}
    said = ", ".join(f"{name} {value:,}" for name, value in light.items())

    def placed(name: str, score: Score) -> Score:
        values = tuple(one[name] for one in drawn if np.isfinite(one.get(name, np.nan)))
        ceiling = top.get(name)
        if len(values) < FEWEST or not np.isfinite(score.value):
            return replace(score, ceiling=ceiling)
        return replace(score, chance=Chance(values, f"with {said}" if said else ""), ceiling=ceiling)

    if isinstance(result, Score):
        return placed("", result)
    return {name: placed(name, score) for name, score in result.items()}


def _lighter(
    how: Calibration, function: Callable[..., Any], table: Table, options: Mapping[str, Any]
) -> dict[str, int]:
    """Smaller numbers for a draw, where the table is large enough that the score does not read all of it."""
    defaults = getattr(function, "__kwdefaults__", None) or {}
    used = {**defaults, **options}
    if used.get("convention") in how.unless:
        return {}
    if how.rows and len(table) < sum(used.get(name, 0) for name in ("train", "test")):
        return {}
    return {name: most for name, most in (how.lighter or {}).items() if used.get(name, most) > most}


def _attempt(function: Callable[..., Any], table: Table, options: Mapping[str, Any]) -> dict[str, float]:
    """Values by name, or none where this table does not allow them."""
    try:
        result = function(table, **options)
    except Exception:  # a random order that a probe cannot be fitted to must not cost the score itself
        return {}
    scores = {"": result} if isinstance(result, Score) else result
    return {name: score.value for name, score in scores.items()}


def random_order(table: Table, seed: int, number: int) -> Table:
    """The table with the rows of its factors in a random order: what codes that know nothing would make of it."""

    def make() -> Table:
        order = stream(seed, f"chance {number}").permutation(len(table))
        memo: dict[Any, Any] = {key: table.memo[key] for key in (*_OF_KINDS, OF_CODES) if key in table.memo}
        for key, value in table.memo.items():
            if _head(key) in _OF_FACTORS:
                labels, size = value
                memo[key] = labels[order], size
            elif _head(key) in _OF_ROWS:
                memo[key] = value
        return replace(table, factors=table.factors[order], memo=memo)

    if len(table) > _KEPT_ROWS:
        return make()
    return table.shared(("chance", seed, number), make)


def perfect_codes(table: Table) -> Table:
    """The table with one code for each factor, which is the factor's value; unknown ones lie at the mean.

    Codes are as wide as the codes of the table, for probes with a penalty see that. With posteriors, they are as
    noisy as those of the table: of latents in use, the median share of noise in the variance.
    """

    def make() -> Table:
        scale, noise = _width(table)
        codes = np.zeros_like(table.factors)
        for f in range(len(table.names)):
            values, known = table.factors[:, f], table.known(f)
            centred = np.where(known, values - values[known].mean(), 0.0)
            codes[:, f] = scale * centred / max(float(centred[known].std()), 1e-300)
        log_vars = None if noise is None else np.full(codes.shape, np.log(noise * scale**2))
        columns = latent_names(codes.shape[1])
        kept = {"strata", *_OF_KINDS, *_OF_FACTORS, *_OF_ROWS}
        memo = {key: value for key, value in table.memo.items() if _head(key) in kept}
        return replace(table, codes=codes, columns=columns, log_vars=log_vars, information=None, memo=memo)

    return table.shared("perfect codes", make)


def _width(table: Table) -> tuple[float, float | None]:
    """The deviation of latents in use, and the share of noise in their posteriors' variance."""
    variance: Array = table.codes.var(axis=0)
    used = variance >= 0.05 * variance.max()
    if variance.max() <= 0:
        return 1.0, None if table.log_vars is None else 1.0
    scale = float(np.sqrt(variance[used].mean()))
    if table.log_vars is None:
        return scale, None
    return scale, float(np.median(np.exp(table.log_vars[:, used]).mean(axis=0) / variance[used]))


def _head(key: Any) -> Any:
    """What kind of thing a table remembers under a key."""
    return key[0] if isinstance(key, tuple) else key
