"""The table that every metric and every report reads: codes beside factors, with the work that metrics share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import Array, stream
from unbraid.metrics._shared.numbers import as_float, equal_width

Kind = Literal["categorical", "ordinal", "cyclic", "continuous"]
KINDS: tuple[Kind, ...] = ("categorical", "ordinal", "cyclic", "continuous")
BINS = 20
OF_CODES = "of codes"  # where a table remembers what it owes to its codes alone
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Table:
    """Codes of observations beside their factors: what `codes.npz` holds of one stage.

    Every metric takes a `Table` in place of `codes, factors`; metrics that are given the same table share its
    discretisation, its draws and its probes. `as_table` makes one from arrays and checks it, `from_arrays` takes
    what a file holds as it is (metrics check it on first use).

    Latents are named by `columns`, z1 … zd unless the model names them otherwise. Whatever people read (pages,
    a score's details) uses these names; arrays keep their positions, so that row j − 1 belongs to zj.

    Example:
        >>> import numpy as np
        >>> table = Table.from_arrays({"codes": np.zeros((4, 2)), "factors": np.array([[0], [1], [0], [1]])})
        >>> table.columns, table.names, table.kinds
        (('z1', 'z2'), ('factor 0',), ('ordinal',))
    """

    codes: Array  # [n, latent]
    factors: Array  # [n, factor], NaN where a label is missing
    names: tuple[str, ...]  # of the factors
    kinds: tuple[Kind, ...]  # of the factors
    sizes: tuple[float, ...]  # of the factors: the number of values, or 0 where unknown; the period of a cyclic one
    columns: tuple[str, ...]  # of the latents
    log_vars: Array | None = None  # [n, latent], of Gaussian posteriors whose means are the codes
    information: Array | None = None  # [latent], mean KL from the prior in nats
    skipped: Mapping[str, str] = field(default_factory=dict)  # factors left out, and why
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        codes: Array,
        factors: Array,
        *,
        names: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        sizes: Sequence[float] | None = None,
        columns: Sequence[str] | None = None,
    ) -> Table:
        """The table of two matrices; what is left out is numbered (names) or guessed from the values (kinds)."""
        d, k = codes.shape[1], factors.shape[1]
        guessed = ["ordinal" if _repeats(column) else "continuous" for column in factors.T] if kinds is None else kinds
        return cls(
            codes,
            factors,
            tuple(f"factor {i}" for i in range(k)) if names is None else tuple(map(str, names)),
            cast(tuple[Kind, ...], tuple(map(str, guessed))),
            (0.0,) * k if sizes is None else tuple(map(float, sizes)),
            latent_names(d) if columns is None else tuple(map(str, columns)),
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], stage: int = 1) -> Table:
        """The table of one stage from the arrays of `codes.npz`; only `codes` must be there.

        Args:
            arrays: `codes` [n, latent] and, where known, `columns`, `log_var`, `information`, `factors`,
                `factor_names`, `factor_kinds`, `factor_sizes`. Those of stage 2 are called `stage-2/codes` and so on.
            stage: whose codes to take; all stages share the factors.

        Returns:
            The table; a file without factors gives one with no factor columns.
        """
        own = stage_prefix(stage)
        codes = matrix(arrays[f"{own}codes"], "codes")
        factors = matrix(arrays["factors"], "factors") if "factors" in arrays else np.zeros((len(codes), 0))
        table = cls.of(
            codes,
            factors,
            names=_listed(arrays, "factor_names"),
            kinds=_listed(arrays, "factor_kinds"),
            sizes=_listed(arrays, "factor_sizes"),
            columns=_listed(arrays, f"{own}columns"),
        )
        log_vars = as_float(arrays[f"{own}log_var"], "log_var") if f"{own}log_var" in arrays else None
        if f"{own}information" in arrays:
            stored = as_float(arrays[f"{own}information"], "information")
            # Codes of a stage without an encoder are drawn from their prior, which is at zero from itself.
            information = stored if stored.any() else None
        else:
            information = None if log_vars is None else gaussian_kl(codes, log_vars).mean(axis=0)
        return replace(table, log_vars=log_vars, information=information, memo={})

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def discrete(self) -> tuple[bool, ...]:
        """For each factor whether its values are discrete; of a cyclic one, whether they recur."""
        return self.shared("discrete", lambda: tuple(map(self._is_discrete, range(len(self.kinds)))))

    @property
    def periods(self) -> tuple[float, ...]:
        """The period of each cyclic factor, 0 for the others."""
        return self.shared("periods", lambda: tuple(map(self._period, range(len(self.kinds)))))

    def shared(self, key: Any, make: Callable[[], T]) -> T:
        """What `make` returns, made once for this table."""
        if key not in self.memo:
            self.memo[key] = make()
        return cast(T, self.memo[key])

    def shared_by_codes(self, key: Any, make: Callable[[], T]) -> T:
        """What `make` returns, made once for all tables that differ from this one in their factors only."""
        known: dict[Any, Any] = self.shared(OF_CODES, dict)
        if key not in known:
            known[key] = make()
        return cast(T, known[key])

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

    def by_factor(self, values: Array) -> dict[str, float]:
        """One value a factor, by the factors' names."""
        return dict(zip(self.names, values.tolist(), strict=True))

    def with_factors(self, factors: Sequence[int]) -> Table:
        """The table with some of its factors only, and nothing remembered."""
        return replace(
            self,
            factors=self.factors[:, list(factors)],
            names=tuple(self.names[k] for k in factors),
            kinds=tuple(self.kinds[k] for k in factors),
            sizes=tuple(self.sizes[k] for k in factors),
            memo={},
        )

    def varying(self) -> Table:
        """This table without the factors that have fewer than two known values; `skipped` says which and why."""
        reasons = {name: why for k, name in enumerate(self.names) if (why := self.why_constant(k))}
        if not reasons:
            return self
        keep = [k for k, name in enumerate(self.names) if name not in reasons]
        return replace(self.with_factors(keep), skipped={**self.skipped, **reasons})

    def why_constant(self, factor: int) -> str:
        """Why a factor cannot be scored, or nothing."""
        known = self.factors[self.known(factor), factor]
        if known.size == 0:
            return "has no known label"
        return f"has one value only ({known[0]:g})" if (known == known[0]).all() else ""

    def _is_discrete(self, factor: int) -> bool:
        fixed = {"continuous": False, "ordinal": True, "categorical": True}
        kind = self.kinds[factor]
        return fixed[kind] if kind in fixed else _repeats(self.factors[:, factor])

    def _period(self, factor: int) -> float:
        if self.kinds[factor] != "cyclic":
            return 0.0
        if self.sizes[factor] > 0:
            return self.sizes[factor]
        known = np.unique(self.factors[self.known(factor), factor])
        reach = float(known[-1] - known[0]) if known.size else 0.0
        if self.discrete[factor]:
            return reach * len(known) / (len(known) - 1) if len(known) > 1 else 1.0
        if reach > 2 * np.pi * (1 + 1e-6):
            raise InputError(
                f"factor {self.names[factor]!r} is cyclic and spans {reach:g}, more than a turn in radians; "
                "give its period in sizes."
            )
        return 2 * np.pi


def latent_names(count: int) -> tuple[str, ...]:
    """What latents are called where the model does not say: z1, z2, …

    Example:
        >>> latent_names(3)
        ('z1', 'z2', 'z3')
    """
    return tuple(f"z{j + 1}" for j in range(count))


def stage_prefix(stage: int) -> str:
    """What stands before the names of a stage's arrays in `codes.npz`; nothing for the first stage.

    Example:
        >>> stage_prefix(1) + "codes", stage_prefix(2) + "codes"
        ('codes', 'stage-2/codes')
    """
    return "" if stage == 1 else f"stage-{stage}/"


def gaussian_kl(means: Array, log_vars: Array) -> Array:
    """KL of each Gaussian from the standard normal, in nats, of the same shape."""
    return np.asarray(0.5 * (np.square(means) + np.exp(log_vars) - log_vars - 1.0))


def matrix(values: Any, name: str) -> Array:
    """Numbers as a matrix [n, columns]; a single column of factors may be flat."""
    array = as_float(values, name)
    if name == "factors" and array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(f"{name} have shape {array.shape}; give one row for each observation, [n, columns].")
    return array


def _listed(arrays: Mapping[str, NDArray[Any]], name: str) -> list[Any] | None:
    return arrays[name].tolist() if name in arrays else None


def _repeats(column: Array) -> bool:
    """Whether a column looks discrete: whole numbers that recur, or few distinct values that recur often."""
    known = column[~np.isnan(column)]
    distinct = len(np.unique(known))
    if (known == np.round(known)).all():
        return distinct <= max(10, len(known) // 2)
    return distinct <= min(256, max(2, len(known) // 10))
