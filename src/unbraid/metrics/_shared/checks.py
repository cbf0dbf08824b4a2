"""Tables from arrays, checked once; and the decorator that makes a metric of a function of a table."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from unbraid.errors import InputError, unknown
from unbraid.metrics._shared.bootstrap import REPEATS, Array
from unbraid.metrics._shared.calibration import calibrated
from unbraid.metrics._shared.numbers import numbers
from unbraid.metrics._shared.table import KINDS, Table, matrix
from unbraid.metrics.score import Score

# What a metric returns: a score, or several by name.
R_co = TypeVar("R_co", bound=Score | dict[str, Score], covariant=True)


class TableOptions(TypedDict, total=False):
    """What may be said of codes and factors beside the arrays; `as_table` explains each."""

    kinds: Sequence[str] | None
    names: Sequence[str] | None
    sizes: Sequence[float] | None
    columns: Sequence[str] | None
    log_vars: ArrayLike | None


def as_table(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    sizes: Sequence[float] | None = None,
    columns: Sequence[str] | None = None,
    log_vars: ArrayLike | None = None,
    allow_constant: bool = False,
) -> Table:
    """Check codes and factors and put them into a `Table`; a `Table` is checked on first use and passed through.

    Args:
        codes: mean codes [n, latent], or a `Table`.
        factors: true factors [n, factor] as value indices or values; NaN where a label is missing.
        names: of the factors; numbered if left out.
        kinds: each factor's geometry: `categorical`, `ordinal`, `cyclic` or `continuous`; left out, a column is ordinal
            if it repeats few values and continuous otherwise.
        sizes: the period of cyclic factors (their number of values); left out, a discrete one is taken to be evenly
            spaced and a continuous one to be an angle in radians.
        columns: names of the latents; z1, z2, … if left out.
        log_vars: log-variances [n, latent] of the posteriors whose means are the codes.
        allow_constant: let factors with fewer than two known values through.

    Returns:
        The table, which every metric takes in place of `codes, factors`.

    Example:
        >>> table = as_table([[0.1, 2.0], [0.3, 1.0], [0.2, 1.5]], [[0], [1], [1]], names=["colour"])
        >>> len(table), table.names, table.columns
        (3, ('colour',), ('z1', 'z2'))
    """
    if isinstance(codes, Table):
        table = codes
    else:
        table = Table.of(*_matrices(codes, factors), names=names, kinds=kinds, sizes=sizes, columns=columns)
    if log_vars is not None:
        table = replace(table, log_vars=numbers(log_vars, "log_vars"), memo={})
    table.shared("checked", lambda: _check(table))
    if not allow_constant:
        for k, name in enumerate(table.names):
            if why := table.why_constant(k):
                raise InputError(f"factor {name!r} {why}; leave it out of the factors.")
    return table


def unlabelled_table(
    codes: ArrayLike, *, columns: Sequence[str] | None = None, log_vars: ArrayLike | None = None
) -> Table:
    """A table without factors, for the metrics that read none."""
    z = matrix(codes, "codes")
    table = as_table(z, np.zeros((len(z), 1)), allow_constant=True, columns=columns, log_vars=log_vars)
    return table.with_factors([])


def _matrices(codes: ArrayLike, factors: ArrayLike | None) -> tuple[Array, Array]:
    if factors is None:
        raise InputError("factors are missing; give an array [n, k] beside the codes, or a Table.")
    z, v = matrix(codes, "codes"), matrix(factors, "factors")
    if v.shape[1] == 0:
        raise InputError(f"factors have shape {v.shape}; give one row for each observation, [n, columns].")
    return z, v


def _check(table: Table) -> None:
    z, v = numbers(table.codes, "codes"), numbers(table.factors, "factors", missing=True)
    if z.shape[1] == 0:
        raise InputError(f"codes have shape {z.shape}; give one row for each observation, [n, columns].")
    if len(z) != len(v):
        raise InputError(f"there are {len(z)} rows of codes and {len(v)} of factors; they must be the same rows.")
    if len(z) < 2:
        raise InputError(f"the table has {len(z)} row(s); a metric needs at least two, and hundreds to be stable.")
    for label, given in (("names", table.names), ("kinds", table.kinds), ("sizes", table.sizes)):
        if len(given) != v.shape[1]:
            raise InputError(f"there are {len(given)} {label} for {v.shape[1]} factors; give one for each column.")
    if len(table.columns) != z.shape[1]:
        raise InputError(f"there are {len(table.columns)} columns for {z.shape[1]} latents; give one name for each.")
    if table.log_vars is not None and numbers(table.log_vars, "log_vars").shape != z.shape:
        raise InputError(
            f"log_vars have shape {table.log_vars.shape} and codes {z.shape}; give one log-variance for each code."
        )
    for kind in table.kinds:
        if kind not in KINDS:
            raise unknown("kind of factor", kind, KINDS)
    _ = table.periods  # a cyclic factor whose period cannot be told is refused here, by name


class TableMetric(Protocol[R_co]):
    """A metric of codes and factors, as people call it."""

    def __call__(
        self,
        codes: ArrayLike | Table,
        factors: ArrayLike | None = None,
        *,
        seed: int = 0,
        replicates: int = REPEATS,
        calibrate: bool | int = False,
        kinds: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        sizes: Sequence[float] | None = None,
        columns: Sequence[str] | None = None,
        log_vars: ArrayLike | None = None,
        **options: Any,
    ) -> R_co:
        """The score of these codes; `options` are the metric's own."""


def table_metric(function: Callable[..., R_co]) -> TableMetric[R_co]:
    """Make `f(table, *, …)` callable as `f(codes, factors, *, …, calibrate=, kinds=, names=, sizes=, …)`.

    The table is built and checked here, so that a metric is written as a function of a good table. `calibrate=True`
    adds the chance level and the ceiling on this table (a number: from that many random orders). `help` shows the
    metric's own options and those of the table.
    """

    @functools.wraps(function)
    def call(
        codes: ArrayLike | Table, factors: ArrayLike | None = None, *, calibrate: bool | int = False, **options: Any
    ) -> R_co:
        about = {name: options.pop(name) for name in TableOptions.__annotations__ if name in options}
        table = as_table(codes, factors, **about)
        result = function(table, **options)
        return calibrated(function, table, result, options, calibrate) if calibrate else result

    outer = inspect.signature(TableMetric.__call__).parameters
    own = list(inspect.signature(function).parameters.values())[1:]
    added = [outer[name] for name in ("calibrate", *TableOptions.__annotations__)]
    shown = [outer["codes"], outer["factors"], *own, *added]
    returns = inspect.signature(function).return_annotation
    call.__signature__ = inspect.Signature(shown, return_annotation=returns)  # type: ignore[attr-defined]
    call.calibrates = True  # type: ignore[attr-defined]
    return call
