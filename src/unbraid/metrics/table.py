"""The table that every metric reads: codes beside factors, checked once, with the work that metrics share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.errors import InputError, unknown
from unbraid.metrics.bootstrap import Array, stream

Kind = Literal["categorical", "ordinal", "cyclic", "continuous"]
KINDS: tuple[Kind, ...] = ("categorical", "ordinal", "cyclic", "continuous")
BINS = 20
LARGEST = 1e150
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Table:
    """Codes `[n, d]` and factors `[n, k]` (NaN where a label is missing), with each factor's name and kind.

    Made by `as_table`, which checks it. Every metric takes a `Table` in place of `codes, factors`; metrics that
    are given the same table share its discretisation, its draws and its probes.
    """

    codes: Array
    factors: Array
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    discrete: tuple[bool, ...]
    periods: tuple[float, ...]
    log_vars: Array | None = None
    skipped: Mapping[str, str] = field(default_factory=dict)
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.codes)

    def shared(self, key: Any, make: Callable[[], T]) -> T:
        """What `make` returns, made once for this table."""
        if key not in self.memo:
            self.memo[key] = make()
        return cast(T, self.memo[key])

    def sample(self, points: int | None, seed: int) -> NDArray[np.int64]:
        """`points` rows drawn without replacement, or all of them if there are no more."""
        if points is None or points >= len(self):
            return np.arange(len(self))
        return self.shared(
            ("sample", points, seed),
            lambda: np.sort(stream(seed, "sample").choice(len(self), points, replace=False)),
        )

    def split(self, train: int, test: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Disjoint rows to fit and to test on; a smaller table is divided in the same proportion."""

        def make() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            order = stream(seed, "split").permutation(len(self))
            scale = min(1.0, len(self) / (train + test))
            first = max(1, int(train * scale))
            return order[:first], order[first : first + max(1, int(test * scale))]

        return self.shared(("split", train, test, seed), make)

    def levels(self, factor: int) -> tuple[NDArray[np.int64], int]:
        """Value index of every row (−1 where unknown) and the number of values; discrete factors as they are.

        A continuous factor is cut into 20 bins of equal width, as codes are, so that a code that equals the
        factor carries all of its information.
        """
        return self._indexed(factor, "levels", lambda values: equal_width(values[:, None], BINS)[:, 0])

    def groups(self, factor: int) -> tuple[NDArray[np.int64], int]:
        """As `levels`, but a continuous factor is cut into 20 bins with equally many rows.

        For metrics that hold a factor fixed or classify its values: no bin is left without rows.
        """

        def quantiles(values: Array) -> NDArray[np.int64]:
            edges = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
            return np.searchsorted(edges, values, side="right")

        return self._indexed(factor, "groups", quantiles)

    def _indexed(
        self, factor: int, rule: str, cut: Callable[[Array], NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], int]:
        def make() -> tuple[NDArray[np.int64], int]:
            column = self.factors[:, factor]
            known = ~np.isnan(column)
            values = column[known]
            if not self.discrete[factor]:
                values = cut(values).astype(np.float64)
            distinct, index = np.unique(values, return_inverse=True)
            labels = np.full(len(column), -1, dtype=np.int64)
            labels[known] = index
            return labels, len(distinct)

        return self.shared((rule, factor), make)

    def known(self, factor: int) -> NDArray[np.bool_]:
        """The rows whose label for this factor is there."""
        return ~np.isnan(self.factors[:, factor])

    def coordinates(self, factor: int) -> Array:
        """The factor's values `[n, 1]`; a cyclic one as cosine and sine `[n, 2]`."""
        column = self.factors[:, factor]
        if self.kinds[factor] != "cyclic":
            return column[:, None]
        angle = 2 * np.pi * column / self.periods[factor]
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)

    def take(self, rows: NDArray[np.int64] | None = None, factors: Sequence[int] | None = None) -> Table:
        """The table of some rows or some factors, with nothing remembered."""
        table = self
        if rows is not None:
            log_vars = None if table.log_vars is None else table.log_vars[rows]
            table = replace(table, codes=table.codes[rows], factors=table.factors[rows], log_vars=log_vars)
        if factors is not None:
            table = replace(
                table,
                factors=table.factors[:, list(factors)],
                names=tuple(table.names[k] for k in factors),
                kinds=tuple(table.kinds[k] for k in factors),
                discrete=tuple(table.discrete[k] for k in factors),
                periods=tuple(table.periods[k] for k in factors),
            )
        return replace(table, memo={})

    def varying(self) -> Table:
        """This table without the factors that have fewer than two known values; `skipped` says which and why."""
        reasons = {name: why for k, name in enumerate(self.names) if (why := _constant(self.factors[:, k]))}
        if not reasons:
            return self
        keep = [k for k, name in enumerate(self.names) if name not in reasons]
        return replace(self.take(factors=keep), skipped={**self.skipped, **reasons})


def as_table(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    sizes: Sequence[float] | None = None,
    log_vars: ArrayLike | None = None,
    allow_constant: bool = False,
) -> Table:
    """Check codes and factors and put them into a `Table`; a `Table` is passed through.

    `kinds` names each factor's geometry; left out, a column is ordinal if it repeats few values and continuous
    otherwise. `sizes` gives the period of cyclic factors (their number of values); left out, a discrete one is
    taken to be evenly spaced and a continuous one to be an angle in radians.
    """
    table = codes if isinstance(codes, Table) else _check(codes, factors, kinds, names, sizes)
    if log_vars is not None:
        variances = numbers(log_vars, "log_vars")
        if variances.shape != table.codes.shape:
            raise InputError(
                f"log_vars have shape {variances.shape} and codes {table.codes.shape}; "
                "give one log-variance for each code."
            )
        table = replace(table, log_vars=variances, memo={})
    if not allow_constant:
        for k, name in enumerate(table.names):
            if why := _constant(table.factors[:, k]):
                raise InputError(f"factor {name!r} {why}; leave it out of the factors.")
    return table


def unlabelled_table(codes: ArrayLike, log_vars: ArrayLike | None = None) -> Table:
    """A table without factors, for the metrics that read none."""
    z = numbers(codes, "codes")
    whole = as_table(z, np.zeros(len(z)) if z.ndim else z, log_vars=log_vars, allow_constant=True)
    return whole.take(factors=[])


def _check(
    codes: ArrayLike,
    factors: ArrayLike | None,
    kinds: Sequence[str] | None,
    names: Sequence[str] | None,
    sizes: Sequence[float] | None,
) -> Table:
    if factors is None:
        raise InputError("factors are missing; give an array [n, k] beside the codes, or a Table.")
    z = numbers(codes, "codes")
    v = numbers(factors, "factors", missing=True)
    if v.ndim == 1:
        v = v[:, None]
    for name, array in (("codes", z), ("factors", v)):
        if array.ndim != 2 or array.shape[1] == 0:
            raise InputError(f"{name} have shape {array.shape}; give one row for each observation, [n, columns].")
    if len(z) != len(v):
        raise InputError(f"there are {len(z)} rows of codes and {len(v)} of factors; they must be the same rows.")
    if len(z) < 2:
        raise InputError(f"the table has {len(z)} row(s); a metric needs at least two, and hundreds to be stable.")
    k = v.shape[1]
    for label, given in (("names", names), ("kinds", kinds), ("sizes", sizes)):
        if given is not None and len(given) != k:
            raise InputError(f"there are {len(given)} {label} for {k} factors; give one for each column.")
    for kind in kinds or ():
        if kind not in KINDS:
            raise unknown("kind of factor", kind, KINDS)
    columns = tuple(names) if names is not None else tuple(f"factor {i}" for i in range(k))
    discrete = [_repeats(v[:, i]) for i in range(k)]
    if kinds is not None:
        fixed = {"continuous": False, "ordinal": True, "categorical": True}
        discrete = [fixed.get(kind, guess) for kind, guess in zip(kinds, discrete, strict=True)]
    chosen = kinds if kinds is not None else ["ordinal" if d else "continuous" for d in discrete]
    periods = [
        _period(v[:, i], chosen[i], discrete[i], sizes[i] if sizes is not None else 0.0, columns[i]) for i in range(k)
    ]
    return Table(z, v, columns, cast(tuple[Kind, ...], tuple(chosen)), tuple(discrete), tuple(periods))


def numbers(values: ArrayLike, name: str, missing: bool = False) -> Array:
    """The values as float64, or an error that says what is wrong with them; `missing` lets NaN through."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} are rows of different lengths; give a rectangular array.") from None
    if array.dtype.kind not in "buif":
        raise InputError(f"{name} hold {array.dtype} values; numbers are needed: replace text by value indices.")
    array = array.astype(np.float64)
    bad = np.isinf(array) if missing else ~np.isfinite(array)
    if bad.any():
        what = "infinite values" if missing or not np.isnan(array).any() else "NaN"
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InputError(f"{name} hold {what} (first at {where}); drop those rows or repair the model.")
    if array.size and np.nanmax(np.abs(array), initial=0.0) > LARGEST:
        raise InputError(
            f"{name} hold values beyond {LARGEST:g}, whose squares are too large to compute with; scale them."
        )
    return array


def equal_width(values: Array, bins: int) -> NDArray[np.int64]:
    """The bin of every value of each column: `bins` of equal width between the column's least and greatest."""
    out = np.empty(values.shape, dtype=np.int64)
    for j, column in enumerate(values.T):
        edges = np.linspace(column.min(), column.max(), bins + 1)
        out[:, j] = np.searchsorted(edges[1:-1], column, side="right")
    return out


def _constant(column: Array) -> str:
    """Why a factor cannot be scored, or nothing."""
    known = column[~np.isnan(column)]
    if known.size == 0:
        return "has no known label"
    return f"has one value only ({known[0]:g})" if (known == known[0]).all() else ""


def _repeats(column: Array) -> bool:
    """Whether a column looks discrete: whole numbers that recur, or few distinct values that recur often."""
    known = column[~np.isnan(column)]
    distinct = len(np.unique(known))
    if (known == np.round(known)).all():
        return distinct <= max(10, len(known) // 2)
    return distinct <= min(256, max(2, len(known) // 10))


def _period(column: Array, kind: str, discrete: bool, size: float, name: str) -> float:
    if kind != "cyclic":
        return 0.0
    if size > 0:
        return size
    known = np.unique(column[~np.isnan(column)])
    reach = float(known[-1] - known[0]) if known.size else 0.0
    if discrete:
        return reach * len(known) / (len(known) - 1) if len(known) > 1 else 1.0
    if reach > 2 * np.pi * (1 + 1e-6):
        raise InputError(
            f"factor {name!r} is cyclic and spans {reach:g}, more than a turn in radians; give its period in sizes."
        )
    return 2 * np.pi
