"""What every metric of the catalogue does unless it is told otherwise, and which way it is read."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from unbraid import metrics as m
from unbraid.metrics import METRICS

# Locatello et al. 2019: 20 bins of 10,000 points; probes on 10,000 rows, tested on 5,000; batches of 64.
BINNED = {"bins": 20, "points": 10_000}
PROBE = {"train": 10_000, "test": 5_000}
DEFAULTS: dict[str, dict[str, Any]] = {
    "mig": {"convention": "locatello", **BINNED},
    "mig_sup": BINNED,
    "modularity": BINNED,
    "minimality": {"bins": 15, "points": 10_000},  # as the authors have it
    "sufficiency": {"bins": 15, "points": 10_000},
    "sap": {"mode": "auto", **PROBE, "penalty": 0.01, "inactive": None, "group_above": None},
    "explicitness": {"convention": "normalised", **PROBE},
    "factor_score": {"convention": "kim", "batch": None, **PROBE, "inactive": None},
    "beta_score": {"batch": 64, **PROBE},
    "z_diff": {"batch": 64, **PROBE},
    "dci": {"mode": "fast", **PROBE},
    "dci_es": {"train": 5_000, "test": 2_500},
    "infomec": {"points": 5_000, "neighbours": 10, "active": 0.05, "train": 4_000, "test": 2_000},
    "omes": {"alpha": 0.5, "pool": "average", "points": 10_000, "inactive": 0.05},
    "edi": {"captured": "probe", **BINNED, "train": 2_000, "test": 1_000},
    "irs": {"quantile": 0.99},
    "mcc": {"method": "pearson"},
    "downstream": {"probe": "mlp", "latents": None, **PROBE, "hidden": 100, "epochs": 20},
    "attribute_classification": PROBE,
    "total_correlation": {},
    "elbo_terms": {"method": "auto", "reconstruction": None, "points": 4096, "samples": None, "batch": 256},
    "udr": {"information": None, "method": "spearman", "threshold": 0.01, "points": 10_000},
    "leakage": {"latents": None, "train": 4_000, "test": 2_000},
    "factor_leakage": {"pairs": None, "train": 4_000, "test": 2_000},
    "conditioning": {"bins": 20},
    "downstream_by_stage": {"probe": "mlp"},
    "identity_change": {},
    "class_accuracy": {"naming": "given"},
    "l1": {}, "l2": {}, "lpips": {}, "fid": {}, "kid": {},
}  # fmt: skip
# The same functions by another convention.
OTHERS = {
    "mig_chen": ("mig", {"convention": "chen"}),
    "sap_threshold": ("sap", {"mode": "threshold"}),
    "sap_dip": ("sap", {"mode": "dip"}),
    "explicitness_auc": ("explicitness", {"convention": "auc"}),
    "factor_score_parted": ("factor_score", {"convention": "parted"}),
    "downstream_linear": ("downstream", {"probe": "linear"}),
}
LOWER = {"total_correlation", "leakage", "factor_leakage", "l1", "l2", "lpips", "fid", "kid"}
NEITHER = {"elbo_terms", "conditioning", "identity_change"}
# Where it is not from 0 to 1; and what codes that know nothing get in theory, where that is known.
RANGES: dict[str, tuple[float | None, float | None]] = {
    "explicitness": (-1.0, 1.0), "dci_es": (-1.0, 1.0), "elbo_terms": (None, None), "kid": (None, None),
    "leakage": (None, 1.0), "factor_leakage": (None, 1.0),
    **dict.fromkeys(("total_correlation", "l1", "l2", "lpips", "fid"), (0.0, None)),
}  # fmt: skip
CHANCE = {
    **dict.fromkeys(("mig", "mig_chen", "mig_sup", "sap", "sap_threshold", "sap_dip", "explicitness"), 0.0),
    "explicitness_auc": 0.5, "leakage": 0.0, "factor_leakage": 0.0,
}  # fmt: skip
PARTS = {
    "dci": {"disentanglement": "higher", "completeness": "higher", "informativeness": "higher"},
    "infomec": {"modularity": "higher", "compactness": "higher", "explicitness": "higher"},
    "edi": {"modularity": "higher", "compactness": "higher", "explicitness": "higher"},
    "elbo_terms": {
        "index_code_mi": "neither", "total_correlation": "lower", "dimension_kl": "neither", "kl": "neither",
        "reconstruction": "lower", "elbo": "higher",
    },
    "leakage": {"class": "lower", "later": "neither"},
    "conditioning": {"M1": "higher", "M2": "higher", "M3": "higher", "M4": "lower"},
    "downstream_by_stage": {"c": "higher", "z": "neither", "c+z": "higher"},
}  # fmt: skip


def own_defaults(function: Any) -> dict[str, Any]:
    return dict(inspect.unwrap(function).__kwdefaults__ or {})


def test_every_metric_is_named_here() -> None:
    assert set(METRICS) == {*DEFAULTS, *OTHERS}


@pytest.mark.parametrize("name", DEFAULTS)
def test_what_a_metric_does_unless_it_is_told_otherwise(name: str) -> None:
    found = own_defaults(METRICS[name].function)
    assert (found.pop("seed"), found.pop("replicates"), found.pop("calibrate", False)) == (0, 200, False)
    assert found == DEFAULTS[name]


@pytest.mark.parametrize("name", OTHERS)
def test_other_conventions_have_names_of_their_own(name: str) -> None:
    function: Any = METRICS[name].function
    plain, changed = OTHERS[name]
    assert function.func is METRICS[plain].function
    assert function.keywords == changed


@pytest.mark.parametrize("name", [*DEFAULTS, *OTHERS])
def test_which_way_a_metric_is_read(name: str) -> None:
    metric = METRICS[name]
    assert metric.better == ("lower" if name in LOWER else "neither" if name in NEITHER else "higher")
    assert metric.range == RANGES.get(name, (0.0, 1.0))
    assert metric.chance == CHANCE.get(name)
    assert {part: shown.better for part, shown in (metric.parts or {}).items()} == PARTS.get(name, {})


def test_terms_of_a_chain_are_asked_for_alike() -> None:
    """M1 to M4 have the bins, the seed and the number of bootstrap samples that they were asked for."""
    assert own_defaults(m.code_information) == {"bins": 20, "seed": 0, "replicates": 200, "calibrate": False}
    assert own_defaults(m.mutual_information_matrix) == {**BINNED, "normalise": False, "seed": 0}
    draws = np.random.default_rng(0)
    codes = draws.normal(size=(60, 2))
    others = [codes + k * draws.normal(size=codes.shape) for k in (0.2, 0.4, 0.8, 1.6)]
    terms = m.conditioning(codes, *others, bins=3, seed=5, replicates=40, calibrate=True)
    for term, other in zip(("M1", "M2", "M3", "M4"), others, strict=True):
        alone = m.code_information(codes, other, bins=3, seed=5, replicates=40, calibrate=True)
        assert (terms[term].value, terms[term].interval, terms[term].details["seed"]) == (
            alone.value,
            alone.interval,
            5,
        )
        assert terms[term].chance == alone.chance
    plain = m.conditioning(codes, *others, bins=3, replicates=0)
    assert all(score.interval is None and score.chance is None for score in plain.values())
    assert plain["M1"].value != m.conditioning(codes, *others, replicates=0)["M1"].value
