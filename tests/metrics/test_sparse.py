"""Codes as people have them: tensors, sparse matrices, thousands of latents."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from unbraid import metrics as m
from unbraid.errors import InputError
from unbraid.metrics import sparse
from unbraid.metrics._shared import numbers

from .conftest import random_table


def test_tensors_and_small_sparse_matrices_score_like_arrays() -> None:
    codes, factors = random_table(300)
    expected = m.mig(codes, factors, replicates=0).value
    tensor = torch.tensor(codes, requires_grad=True)
    assert m.mig(tensor, torch.tensor(factors), replicates=0).value == expected
    half = torch.tensor(codes, dtype=torch.bfloat16)
    assert m.mig(half, factors, replicates=0).value == pytest.approx(expected, abs=0.05)
    assert m.mig(csr_array(codes), factors, replicates=0).value == expected


def test_many_sparse_latents_score_as_if_they_were_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.random.default_rng(0)
    factors = draws.integers([3, 5], size=(600, 2)).astype(float)
    factors[::9, 0] = np.nan
    wide = draws.random((600, 40)) * (draws.random((600, 40)) < 0.05)
    wide[:, 7] = np.nan_to_num(factors[:, 0]) * (draws.random(600) < 0.7)
    wide[:, 33] = factors[:, 1]
    monkeypatch.setattr(sparse, "_AT_ONCE", 16)
    ours = sparse.sparse_suite(csr_array(wide), factors)
    dense = m.suite(wide, factors, metrics=list(sparse.METRICS_OF_MANY), replicates=0, calibrate=False)
    assert {name: score.value for name, score in ours.items()} == pytest.approx(
        {name: score.value for name, score in dense.items()}
    )
    assert ours["mig"].beyond_chance
    assert ours["sufficiency"].ceiling == pytest.approx(1.0)


def test_what_cannot_be_had_of_many_latents_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "LARGEST_DENSE", 1000)
    monkeypatch.setattr(sparse, "LARGEST_DENSE", 1000)
    codes, factors = random_table(300)
    assert set(m.suite(csr_array(codes), factors)) == set(sparse.METRICS_OF_MANY)
    with pytest.raises(InputError, match="dci reads all latents at once"):
        m.suite(csr_array(codes), factors, metrics=["dci"])
    with pytest.raises(InputError, match="give them to suite"):
        m.dci(csr_array(codes), factors)
