"""Metrics of codes with very many latents, most of them 0: some columns at a time, never all of them as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import Array, stream
from unbraid.metrics._shared.checks import as_table
from unbraid.metrics._shared.correlation import squared_correlation
from unbraid.metrics._shared.information import POINTS, binned_information, code_entropy, gaps
from unbraid.metrics._shared.numbers import LARGEST_DENSE, ratio
from unbraid.metrics._shared.table import BINS, OF_CODES, Table, latent_names
from unbraid.metrics.minimality import FINE_BINS
from unbraid.metrics.score import Chance, Score

METRICS_OF_MANY = ("mig", "mig_sup", "minimality", "sufficiency", "mcc")
_AT_ONCE = 256
_DRAWS = 3


def too_many(codes: Any) -> bool:
    """Whether these are a sparse matrix of SciPy that is too large to be made plain numbers."""
    return hasattr(codes, "tocsc") and hasattr(codes, "nnz") and codes.shape[0] * codes.shape[1] > LARGEST_DENSE


def sparse_suite(
    codes: Any,
    factors: ArrayLike,
    *,
    metrics: Sequence[str] | None = None,
    points: int = POINTS,
    seed: int = 0,
    calibrate: bool = True,
    **about: Any,
) -> dict[str, Score]:
    """The metrics that can be had of thousands of sparse latents: MIG, MIG-sup, minimality, sufficiency, MCC.

    All are of `points` rows, without intervals; 256 latents at a time are made plain numbers. Chance is from three
    random orders, the ceiling from codes that are the factors' values.

    Args:
        codes: a sparse matrix of SciPy, [n, latent].
        factors: true factors [n, factor]; NaN where unknown.
        metrics: names from `METRICS_OF_MANY`; left out, all of them.
        points: rows to draw.
        seed: of the draw.
        calibrate: also the chance level and the ceiling.
        **about: `kinds`, `names`, `sizes`, `columns`, as in `as_table`.

    Returns:
        Scores by name.

    Example:
        >>> from scipy.sparse import csr_array
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> codes, factors = perfect_table()
        >>> {name: round(score.value, 2) for name, score in sparse_suite(csr_array(codes), factors).items()}
        {'mig': 1.0, 'mig_sup': 1.0, 'minimality': 1.0, 'sufficiency': 1.0, 'mcc': 1.0}
    """
    chosen = list(metrics or METRICS_OF_MANY)
    for name in chosen:
        if name not in METRICS_OF_MANY:
            raise InputError(
                f"{name} reads all latents at once, and {codes.shape[1]:,} sparse ones are too many for it; "
                f"ask for {', '.join(METRICS_OF_MANY)}, or choose some columns."
            )
    about.pop("columns", None)  # nothing here names a latent
    n = codes.shape[0]
    rows = np.arange(n) if n <= points else np.sort(stream(seed, "sample").choice(n, points, replace=False))
    some = codes.tocsr()[rows].tocsc()
    one = as_table(np.zeros((n, 1)), factors, allow_constant=True, **about).varying()
    if not one.names:
        raise InputError("no factor has two known values; a metric needs at least one that has.")
    frame = replace(one, codes=np.zeros((len(rows), 1)), factors=one.factors[rows], memo={})
    orders = [stream(seed, f"chance {i}").permutation(len(rows)) for i in range(_DRAWS)] if calibrate else []
    frames = [frame, *(replace(frame, factors=frame.factors[order], memo={}) for order in orders)]
    values, *drawn = _values(some, frames, chosen)
    details = {"rows": len(rows), "latents": codes.shape[1], "seed": seed}
    scores = {name: Score(values[name], None, details) for name in chosen}
    if not calibrate:
        return scores
    from scipy.sparse import csc_array  # deferred: importing the metrics should not import SciPy

    filled = np.where(np.isnan(frame.factors), np.nanmean(frame.factors, axis=0), frame.factors)
    (best,) = _values(csc_array(filled), [frame], chosen)
    return {
        name: replace(score, chance=Chance(tuple(draw[name] for draw in drawn)), ceiling=best[name])
        for name, score in scores.items()
    }


class _Matrices:
    """Matrices [latent, factor] of one table, put together from some latents at a time."""

    def __init__(self, frame: Table, chosen: Sequence[str]) -> None:
        self.frame, self.chosen = frame, set(chosen)
        self.coarse: list[Array] = []
        self.fine: list[Array] = []
        self.entropy: list[Array] = []
        self.strength: list[Array] = []
        self.of_factors = self.of_fine = np.ones(len(frame.names))

    def add(self, codes: Array, of_codes: dict[Any, Any]) -> None:
        """Some more latents; `of_codes` is what tables with these codes share."""
        kept = {key: value for key, value in self.frame.memo.items() if _of_factors(key)}
        table = replace(
            self.frame, codes=codes, columns=latent_names(codes.shape[1]), memo={**kept, OF_CODES: of_codes}
        )
        if self.chosen & {"mig", "mig_sup"}:
            found = binned_information(table, BINS, None)
            self.coarse.append(found.matrix)
            self.of_factors = found.entropy
        if self.chosen & {"minimality", "sufficiency"}:
            found = binned_information(table, FINE_BINS, None)
            self.fine.append(found.matrix)
            self.entropy.append(code_entropy(table, FINE_BINS, None, 0))
            self.of_fine = found.entropy
        if "mcc" in self.chosen:
            rows: NDArray[np.int64] = np.arange(len(table))
            each = [squared_correlation(table, f, rows, 0, 0)[0] for f in range(len(table.names))]
            self.strength.append(np.sqrt(np.stack(each, axis=1)))
        self.frame.memo.update({key: value for key, value in table.memo.items() if _of_factors(key)})
        table.memo.clear()  # it holds functions that hold the table, which would wait for the garbage collector

    def values(self) -> dict[str, float]:
        """The metrics of all latents."""
        out: dict[str, float] = {}
        if self.coarse:
            shares = np.concatenate(self.coarse) / self.of_factors
            out |= {"mig": float(gaps(shares).mean()), "mig_sup": float(gaps(shares.T).mean())}
        if self.fine:
            matrix, entropy = np.concatenate(self.fine), np.concatenate(self.entropy)
            own = ratio(matrix.max(axis=1), entropy, 0.0, least=1e-12)[entropy > 1e-12]
            out["minimality"] = float(own.mean()) if len(own) else 0.0
            out["sufficiency"] = float((matrix.max(axis=0) / self.of_fine).mean())
        if self.strength:
            from scipy.optimize import linear_sum_assignment

            strength = np.concatenate(self.strength)
            out["mcc"] = float(strength[linear_sum_assignment(-strength)].sum() / len(self.frame.names))
        return out


def _values(codes: Any, frames: Sequence[Table], chosen: Sequence[str]) -> list[dict[str, float]]:
    """The metrics of the same codes beside the factors of each table."""
    found = [_Matrices(frame, chosen) for frame in frames]
    for first in range(0, codes.shape[1], _AT_ONCE):
        block = np.asarray(codes[:, first : first + _AT_ONCE].toarray(), dtype=np.float64)
        of_codes: dict[Any, Any] = {}
        for one in found:
            one.add(block, of_codes)
    return [one.values() for one in found]


def _of_factors(key: Any) -> bool:
    return key in ("discrete", "periods") or (isinstance(key, tuple) and key[0] in ("levels", "groups"))
