"""What each metric is invariant to, as the table in docs/metrics.md says."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from unbraid import metrics

DOCS = Path(__file__).parents[2] / "docs" / "metrics.md"
HEAD = "| metric | order of latents | sign | shift | scale of each | common scale |"
ORDER, SIGNS, SHIFTS = [2, 0, 3, 1], np.array([1, -1, 1, -1.0]), np.array([3, -1, 0.5, 7])
SCALES = np.array([2, 4, 0.5, 8.0])
Values = NDArray[np.float64]


def stated() -> dict[str, list[str]]:
    """The rows of the table: yes, ≈ or no for each change."""
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    rows = lines[lines.index(HEAD) + 2 :]
    found = {}
    for row in rows[: rows.index("")]:
        name, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        found[name.strip("`")] = cells
    return found


def table() -> tuple[Values, Values, Values]:
    """Codes that know something of three factors, the factors, and log-variances."""
    random = np.random.default_rng(0)
    v = np.stack([random.integers(size, size=600) for size in (4, 2, 3)], axis=1).astype(float)
    z = v @ random.normal(size=(3, 4)) + 0.5 * random.normal(size=(600, 4))
    return z, v, 0.3 * random.normal(size=z.shape) - 2


def changed(z: Values, log_var: Values) -> list[tuple[Values, Values]]:
    """The codes and their log-variances under each change, in the order of the docs' columns."""
    return [
        (z[:, ORDER], log_var[:, ORDER]),
        (z * SIGNS, log_var),
        (z + SHIFTS, log_var),
        (z * SCALES, log_var + 2 * np.log(SCALES)),
        (z * 3.7, log_var + 2 * np.log(3.7)),
    ]


def test_the_docs_speak_of_every_metric() -> None:
    assert set(stated()) == set(metrics.SUITE)


@pytest.mark.parametrize("name", metrics.SUITE)
def test_the_docs_say_what_a_metric_is_invariant_to(name: str) -> None:
    z, v, log_var = table()

    def values(codes: Values, variances: Values) -> Values:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = metrics.suite(codes, v, log_vars=variances, metrics=[name], replicates=0, calibrate=False)
        return np.array([score.value for score in scores.values()])

    before = values(z, log_var)
    for said, (codes, variances) in zip(stated()[name], changed(z, log_var), strict=True):
        difference = np.abs(values(codes, variances) - before).max()
        assert {"yes": difference < 1e-9, "≈": difference < 0.1, "no": difference > 1e-4}[said], difference


def test_explicitness_may_be_below_zero_and_total_correlation_infinite() -> None:
    random = np.random.default_rng(1)
    values = [
        metrics.explicitness(random.normal(size=(60, 2)), random.integers(2, size=60), replicates=0).value
        for _ in range(20)
    ]
    assert min(values) < 0 < max(values)
    codes = random.normal(size=(50, 1))
    assert metrics.total_correlation(np.hstack([codes, codes]), replicates=0).value == np.inf


def test_records_say_the_same_as_the_docs() -> None:
    from unbraid.metrics.record import CHANGES

    for name, cells in stated().items():
        said = tuple(change for change, cell in zip(CHANGES, cells, strict=True) if cell == "yes")
        assert metrics.METRICS[name].unchanged_by == said, name
