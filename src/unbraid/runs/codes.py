"""Codes of observations beside their factors: encoded once, read by every metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from unbraid.data.factor_data import Factor
from unbraid.runs.chain import Chain, bounds, columns, flat, means
from unbraid.training.batches import mix


@dataclass(frozen=True)
class CodeTable:
    """Codes of observations beside their factors: what metrics read."""

    codes: NDArray[np.float32]  # [n, code]: mean codes of the first stage
    factors: NDArray[np.float64]  # [n, factor]
    columns: tuple[str, ...]
    factor_names: tuple[str, ...]
    rows: NDArray[np.int64]  # their place in the data set
    arrays: Mapping[str, NDArray[Any]]  # all of codes.npz: later stages, log-variances, information


def encode_batches(chain: Chain, batches: Iterable[tuple[Tensor, Tensor]]) -> dict[str, NDArray[Any]]:
    """The codes of all stages for batches of (observations, labels), as they stand in codes.npz."""
    parts: dict[str, list[NDArray[Any]]] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for x, labels in batches:
        for number, q in enumerate(chain.encode(x, labels), 1):
            prefix = "" if number == 1 else f"stage-{number}/"
            arrays[f"{prefix}columns"] = np.array(columns(q))
            arrays[f"{prefix}bounds"] = np.array(bounds(q))
            found = {"codes": flat(means(q)), "kl": flat({key: p.kl_per_latent() for key, p in q.items()})}
            if all(hasattr(p, "log_var") for p in q.values()):
                found["log_var"] = flat({key: p.log_var for key, p in q.items()})  # type: ignore[attr-defined]
            for name, value in found.items():
                parts.setdefault(f"{prefix}{name}", []).append(value.float().cpu().numpy())
    for name, values in parts.items():
        joined = np.concatenate(values)
        if name.endswith("kl"):
            # A variable that is given has no finite KL: there is nothing to report of what the model found out.
            if np.isfinite(joined).all():
                arrays[f"{name.removesuffix('kl')}information"] = joined.mean(axis=0)
        else:
            arrays[name] = joined
    return arrays


def factor_columns(factors: NDArray[np.float64], info: tuple[Factor, ...]) -> dict[str, NDArray[Any]]:
    """The factors' side of codes.npz."""
    return {
        "factors": factors,
        "factor_names": np.array([factor.name for factor in info], dtype=str),
        "factor_sizes": np.array([factor.size for factor in info], dtype=np.int64),
        "factor_kinds": np.array([factor.kind for factor in info], dtype=str),
    }


def code_table(arrays: Mapping[str, NDArray[Any]]) -> CodeTable:
    """The table that codes.npz holds."""
    return CodeTable(
        arrays["codes"],
        arrays["factors"],
        tuple(map(str, arrays["columns"])),
        tuple(map(str, arrays["factor_names"])),
        arrays["rows"],
        arrays,
    )


def choose_rows(n: int, most: int | None, seed: int) -> NDArray[np.int64]:
    """All rows, or as many of them as asked for, chosen at random and in order."""
    if most is None or most >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(mix(seed, "rows")).choice(n, most, replace=False))
