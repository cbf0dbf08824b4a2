"""How well the seeds of one setting agree: UDR in both published versions, and how stable single codes are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError
from unbraid.metrics import udr
from unbraid.search.figures import codes_file
from unbraid.util.arrays import read_arrays

METHODS = {"udr": "spearman", "udr_lasso": "lasso", "udr_active": "spearman"}
ACTIVE = 0.01  # variance of a latent's means from which it says something (Burda et al. 2016)
STABILITY_ROWS = 2_000  # enough for two digits of a mean
NAMES = (*METHODS, "stability")


@dataclass(frozen=True)
class Agreement:
    """A score of one setting that only several seeds can have."""

    value: float
    interval: tuple[float, float] | None
    per_model: tuple[float, ...]  # in the order of the trials


def agreement(folders: Sequence[Path], step: int | None = None) -> dict[str, Agreement]:
    """UDR (Spearman and Lasso) and the stability of codes over the runs of one setting; empty for a single run.

    `udr_active` is UDR of the latents that are active as well as informative. The paper's KL is more than its threshold
    also where a latent's variance is not the prior's and its mean never moves, as after short trainings; what such
    latents say is noise, and counts in UDR as much as what the others say.

    Args:
        folders: run directories of the same setting with different seeds.
        step: compare the codes as they were after this step; left out, those at the end of training.
    """
    if len(folders) < 2:
        return {}
    remedy = "delete its folder and repeat the command."
    tables = [
        read_arrays(folder / codes_file(step), remedy, only=("codes", "information", "rows")) for folder in folders
    ]
    codes = [table["codes"].astype(np.float64) for table in tables]
    if any(not np.array_equal(table["rows"], tables[0]["rows"]) for table in tables):
        raise InputError(f"{str(folders[0].parent)!r} holds codes of different observations: choose another --out.")
    known = all("information" in table for table in tables)
    information = [table["information"] for table in tables] if known else None
    found = {}
    for name, method in METHODS.items():
        known_of = information
        if name == "udr_active" and information is not None:
            known_of = [np.where(active(one), kl, 0.0) for one, kl in zip(codes, information, strict=True)]
        score = udr(codes, information=known_of, method=method)
        found[name] = Agreement(score.value, score.interval, tuple(map(float, score.details["per_model"])))
    return found | {"stability": stability(codes, tables)}


def active(codes: NDArray[Any]) -> NDArray[np.bool_]:
    """Which latents' means move from observation to observation, in units of the prior's."""
    return np.asarray(codes.var(axis=0) > ACTIVE)


def early_agreement(folders: Sequence[Path], step: int, by: str) -> float:
    """One of these after a step; −∞ where too few runs are left to agree."""
    found = agreement(folders, step)
    return found[by].value if found else -math.inf


def stability(codes: Sequence[NDArray[Any]], tables: Sequence[Mapping[str, Any]]) -> Agreement:
    """The mean absolute rank correlation of codes with their partners in other runs, each code with one of its own.

    1 if every seed finds the same codes, in any order and with any sign; a code without a partner counts as 0.
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.stats import rankdata

    ranks = []
    for whole, table in zip(codes, tables, strict=True):
        values = whole[:STABILITY_ROWS]
        used = np.ptp(values, axis=0) > 0
        if "information" in table:
            used &= (table["information"] > 0.01) & active(whole)
        centred = rankdata(values[:, used], axis=0) - (len(values) + 1) / 2
        ranks.append(centred / np.maximum(np.sqrt((centred**2).sum(axis=0)), 1e-12))
    pairwise = np.full((len(codes), len(codes)), np.nan)
    for a in range(len(ranks)):
        for b in range(a):
            similarity = np.abs(ranks[a].T @ ranks[b])
            rows, columns = linear_sum_assignment(-similarity)
            pairwise[a, b] = pairwise[b, a] = similarity[rows, columns].sum() / max(*similarity.shape, 1)
    per_model = np.nanmean(pairwise, axis=1)
    return Agreement(float(per_model.mean()), None, tuple(map(float, per_model)))
