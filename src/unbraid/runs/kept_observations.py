"""observations.npz of a run: a few hundred of its observations, so that pages have pictures when the data are gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import DataMissing
from unbraid.runs.codes import choose_rows
from unbraid.runs.directory import ENCODED_ROWS, RunDirectory
from unbraid.runs.new_data import NewData
from unbraid.runs.products import kept_arrays
from unbraid.util.files import write_arrays
from unbraid.util.seeds import mix

FILE = "observations.npz"
MOST, LEAST = 200, 20  # observations
BYTES = 5_000_000  # of large observations as many as this holds, but LEAST in any case


@dataclass(frozen=True)
class KeptObservations:
    """Observations of the data set, stored as it stores them, with their places in it and what is known of them."""

    x: NDArray[Any]
    rows: NDArray[np.int64]
    factors: NDArray[np.float64]  # [n, factor], NaN where unknown

    def labels_for(self, run: RunDirectory) -> NDArray[np.float64] | None:
        """The labels that the run's encoders may read, [n, factor]."""
        return NewData(self.x, factors=self.factors).labels_for(run)


def write_observations(run: RunDirectory) -> None:
    """Keep some observations of the data set in the run directory, unless they are there."""
    if read_observations(run) is None:
        found = from_data(run)
        write_arrays(
            run.folder / FILE,
            {"observations": found.x, "rows": found.rows, "factors": found.factors, "key": np.array(key(run))},
        )


def some_observations(run: RunDirectory) -> KeptObservations | None:
    """Observations of the data set: those that the run keeps, else out of the data; None where both are gone."""
    kept = read_observations(run)
    if kept is not None:
        return kept
    try:
        return from_data(run)
    except DataMissing:
        return None


def read_observations(run: RunDirectory) -> KeptObservations | None:
    """What the run keeps; None where that is not there, damaged, or of other data."""
    arrays = kept_arrays(run.folder / FILE, lambda there: there == key(run))
    if arrays is None or not {"observations", "rows", "factors"} <= arrays.keys():
        return None
    return KeptObservations(arrays["observations"], arrays["rows"], arrays["factors"])


def from_data(run: RunDirectory) -> KeptObservations:
    """Observations chosen at random out of those that are encoded; never more than a few megabytes of them."""
    encoded = choose_rows(int(run.plan.data["n"]), ENCODED_ROWS, run.plan.seed)
    one = run.data.observations[:1].nbytes
    count = min(MOST, max(LEAST, BYTES // one))
    chosen = np.random.default_rng(mix(run.plan.seed, "explore")).permutation(len(encoded))[:count]
    rows = encoded[np.sort(chosen)]
    return KeptObservations(np.ascontiguousarray(run.data.observations[rows]), rows, run.data.factors[rows])


def key(run: RunDirectory) -> str:
    """What the observations are of: the data, whatever is trained on them."""
    return str(run.plan.data["fingerprint"])
