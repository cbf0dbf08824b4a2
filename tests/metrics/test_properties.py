"""What holds of every metric on any table: hypothesis draws tables, and shrinks one that breaks a rule.

Metrics come from the catalogue, so that a new one is tested for nothing. `UNBRAID_EXAMPLES=200` tries more.
"""

import math
import os
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.errors import InputError
from unbraid.metrics._shared.checks import as_table
from unbraid.metrics._shared.table import KINDS
from unbraid.metrics.record import POSTERIOR_TABLE, TABLE

from .test_invariances import stated

Values = NDArray[np.float64]
# Drawn by the test's name and not by chance: the same tables in every run.
drawn = settings(
    max_examples=int(os.environ.get("UNBRAID_EXAMPLES", "10")),
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
CHEAP: dict[str, dict[str, Any]] = {
    name: {"train": 60, "test": 40} for name in ("factor_score", "beta_score", "z_diff")
}
CHEAP["elbo_terms"] = {"points": 32}


@st.composite
def tables(draw: st.DrawFn, plain: bool = False) -> dict[str, Any]:
    """Codes beside factors: few rows, any kind, constant and doubled codes, gaps, and scales from tiny to huge."""
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, codes = draw(st.integers(24, 40) if plain else st.integers(1, 40)), draw(st.integers(1, 4))
    count = draw(st.integers(2, 3) if plain else st.integers(1, 3))
    kinds = [draw(st.sampled_from(KINDS)) for _ in range(count)]
    v = np.stack([random.integers(draw(st.integers(2, 4)), size=n) for _ in range(count)], axis=1).astype(float)
    v[:, [k == "continuous" for k in kinds]] += random.normal(size=(n, sum(k == "continuous" for k in kinds)))
    z = v @ random.normal(size=(count, codes)) + draw(
        st.sampled_from([0.3, 3.0] if plain else [0.0, 0.3, 3.0])
    ) * random.normal(size=(n, codes))
    log_vars = random.normal(size=z.shape) - 1
    if not plain:
        z = z * 10.0 ** draw(st.integers(-20, 20)) + draw(st.sampled_from([0.0, 1.7e9]))
        z[:, draw(st.lists(st.integers(0, codes - 1), max_size=codes))] = draw(st.sampled_from([0.0, -3.5]))
        if draw(st.booleans()):
            z[:, -1] = z[:, 0]
        v[random.random(v.shape) < draw(st.sampled_from([0.0, 0.0, 0.3, 0.9]))] = np.nan
    return {"codes": z, "factors": v, "kinds": kinds, "sizes": [8.0] * count, "log_vars": log_vars}


def made(**parts: Any) -> metrics.Table:
    """The table of some arrays."""
    return as_table(parts.pop("codes"), parts.pop("factors"), allow_constant=True, **parts).varying()


def values(name: str, table: metrics.Table, seed: int = 0) -> dict[str, float]:
    """Every value of a metric of one table."""
    metric, options = metrics.METRICS[name], CHEAP.get(name, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "elbo_terms":
            assert table.log_vars is not None
            found = metric.function(table.codes, table.log_vars, seed=seed, replicates=0, **options)
        else:
            found = metric.function(table, seed=seed, replicates=0, **options)
    parts = found if isinstance(found, dict) else {"": found}
    return {part: score.value for part, score in parts.items()}


@pytest.mark.parametrize("name", metrics.SUITE)
@drawn
@given(parts=tables())
def test_a_value_in_its_range_or_a_sentence(name: str, parts: dict[str, Any]) -> None:
    try:
        table = made(**parts)
        if metrics.METRICS[name].needs in (TABLE, POSTERIOR_TABLE) and not table.names:
            return
        found = values(name, table)
    except InputError:
        return
    for part, value in found.items():
        low, high = metrics.METRICS[name].display(part).range
        assert not math.isnan(value), part
        assert low is None or value >= low - 1e-9, part
        assert high is None or value <= high + 1e-9, part


@pytest.mark.parametrize("name", metrics.SUITE)
@drawn
@given(parts=tables(plain=True), data=st.data())
def test_order_and_sign_of_latents_do_not_matter_where_the_docs_say_so(
    name: str, parts: dict[str, Any], data: st.DataObject
) -> None:
    order, sign, *_ = stated()[name]
    latents = parts["codes"].shape[1]
    changed = dict(parts)
    if order == "yes":
        moved = data.draw(st.permutations(range(latents)))
        changed |= {key: parts[key][:, moved] for key in ("codes", "log_vars")}
    if sign == "yes":
        signs = data.draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=latents, max_size=latents))
        changed["codes"] = changed["codes"] * signs
    assert_same(name, parts, changed)


# What these compute has no draws of rows in it.
ROWS_IN_ANY_ORDER = ("mig", "mig_chen", "modularity", "irs", "mcc", "total_correlation")


@pytest.mark.parametrize("name", ROWS_IN_ANY_ORDER)
@drawn
@given(parts=tables(plain=True), seed=st.integers(0, 99))
def test_order_of_rows_does_not_matter(name: str, parts: dict[str, Any], seed: int) -> None:
    rows = np.random.default_rng(seed).permutation(len(parts["codes"]))
    changed = {key: parts[key][rows] for key in ("codes", "factors", "log_vars")}
    assert_same(name, parts, parts | changed)


def assert_same(name: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """The metric says the same of both tables, be it a value or that there is none."""

    def outcome(parts: dict[str, Any]) -> dict[str, float] | str:
        try:
            return values(name, made(**parts))
        except InputError as error:
            return str(error)

    first, second = outcome(before), outcome(after)
    if isinstance(first, str) or isinstance(second, str):
        assert first == second
    else:
        assert second == pytest.approx(first, rel=1e-3, abs=1e-5)  # what is fitted step by step ends a little apart
