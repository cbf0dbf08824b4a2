"""The map of latents and factors, ready for the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError
from unbraid.metrics import MetricKey, Table, mutual_information_matrix
from unbraid.report.draw.order import by_information
from unbraid.report.read.content import RunFiles, as_mapping

TELLING = 0.2  # of a factor's entropy: what a latent must know of it to be called by its name
MIG = (MetricKey("mig"), MetricKey("mig_chen"))


@dataclass(frozen=True)
class HeatCell:
    """Mutual information of one latent and one factor: nats, and as a share of the factor's entropy."""

    nats: float
    share: float
    best: bool


@dataclass(frozen=True)
class HeatMap:
    """Latents (most informative first) by factors, and how the information was estimated."""

    factors: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    convention: str


BINNED = (
    "Mutual information by counting mean codes in bins of equal width, divided by the factor’s entropy. "
    "Counting reads high where rows are few and a factor has many values."
)
POSTERIOR = "Mutual information from the posteriors of all rows, divided by the factor’s entropy."
LABELS_READ = {True: " Labels were read at test time.", False: " No label was read at test time."}


class Information(NamedTuple):
    """Names of the factors, mutual information [latent, factor] in nats and as a share of the entropy."""

    names: tuple[str, ...]
    nats: NDArray[Any]
    share: NDArray[Any]
    convention: str


def heat_map(run: RunFiles) -> HeatMap | None:
    """Mutual information between every latent of stage 1 and every factor, as a share of the factor's entropy."""
    table = run.tables.get(1)
    found = None if table is None else _stored(run, table) or _computed(run, table)
    if table is None or found is None:
        return None
    names, nats = found.names, found.nats
    share = np.clip(np.nan_to_num(found.share), 0, 1)
    best = np.argmax(share, axis=0)
    rows = []
    for j in by_information(table.information, len(table.columns)):
        cells = tuple(HeatCell(float(nats[j, k]), float(share[j, k]), bool(best[k] == j)) for k in range(len(names)))
        rows.append((table.columns[j], cells))
    return HeatMap(names, tuple(rows), found.convention)


def meanings(run: RunFiles) -> dict[str, str]:
    """What each latent of stage 1 is about: the factors that it knows best, and well enough to be called by them."""
    found = heat_map(run)
    if found is None:
        return {}
    told = {
        name: [factor for factor, cell in zip(found.factors, cells, strict=True) if cell.best and cell.share >= TELLING]
        for name, cells in found.rows
    }
    return {name: ", ".join(factors) for name, factors in told.items() if factors}


def _stored(run: RunFiles, table: Table) -> Information | None:
    """As MIG left it in its details: nats [latent, factor] and the factors' entropies."""
    for score in run.metrics:
        given = score.details
        if score.key not in MIG or score.labels_read or "entropy" not in given:
            continue
        names = tuple(map(str, as_mapping(given.get("per_factor"))))
        if len(table.names) == len(names):
            names = table.names  # a metric may have been given the table without its names
        nats, entropy = _numbers(given.get("information")), _numbers(given["entropy"])
        if names and nats.shape == (len(table.columns), len(names)):
            how = POSTERIOR if given.get("convention") == "chen" else BINNED
            said = LABELS_READ[False] if run.reads_labels else ""
            return Information(names, nats, nats / np.maximum(entropy, 1e-12), how + said)
    return None


def _computed(run: RunFiles, table: Table) -> Information | None:
    """From the codes, for runs that have not been evaluated; factors that never vary are left out."""
    varying = table.varying()
    if not varying.names:
        return None
    try:
        nats = mutual_information_matrix(varying)
        share = mutual_information_matrix(varying, normalise=True)
        return Information(varying.names, nats, share, BINNED + (LABELS_READ[True] if run.reads_labels else ""))
    except InputError:
        return None  # a table that no metric takes has no map either


def _numbers(given: Any) -> NDArray[Any]:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        return np.empty(0)
