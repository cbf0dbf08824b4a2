"""Measures that read codes: the ELBO of a run, attributes, codes of later stages; and a perceptual network's file."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from unbraid import methods, metrics
from unbraid.api import fit
from unbraid.data.factor_data import FactorData
from unbraid.evaluation import downstream, lpips, table
from unbraid.evaluation.measure import MeasureOptions
from unbraid.metrics import Score
from unbraid.util.seeds import mix


def test_the_elbo_of_a_run_is_minus_its_losses_and_its_kl(squares: FactorData, tmp_path: Path) -> None:
    run = fit(squares, methods.BetaVAE(width=0.1, latents=2), steps=2, out=tmp_path / "run", show=False)
    found = run.evaluate(["elbo_terms", "mig"], show=False)
    assert found["mig"]["value"] is not None
    value = {name: found[f"elbo_terms/{name}"]["value"] for name in ("elbo", "reconstruction", "kl")}
    arrays = run.codes(show=False).arrays
    mean, log_var = arrays["codes"].astype(float), arrays["log_var"].astype(float)
    kl = 0.5 * (mean**2 + np.exp(log_var) - log_var - 1).sum(1).mean()
    model: Any = run.stage(1)
    torch.manual_seed(mix(0, "elbo"))
    with torch.inference_mode():
        losses = model.nll_rows(run.observations(np.arange(48))).mean().item()
    assert value == pytest.approx({"elbo": -losses - kl, "reconstruction": losses, "kl": kl}, rel=1e-6)


def test_attributes_are_factors_of_two_values() -> None:
    def asked(*sizes: int) -> str | None:
        data = {"name": "things", "factors": [{"size": size} for size in sizes]}
        run: Any = SimpleNamespace(plan=SimpleNamespace(data=data), config=lambda number: None)
        return table.refusal(run, "attribute_classification")

    assert asked(3, 2) is None
    assert asked(3, 5) == "attribute_classification needs factors with two values, which things does not have."


def test_codes_of_all_later_stages_are_read_beside_those_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    c, z, more = np.zeros((3, 2)), np.ones((3, 1)), np.full((3, 2), 2.0)
    tables = {
        number: SimpleNamespace(codes=codes, factors=c[:, :1], kinds=("cyclic",), names=("a",))
        for number, codes in ((1, c), (2, z), (3, more))
    }
    encoded: Any = SimpleNamespace(table=lambda number=1: tables[number], of=lambda part: encoded)
    chain = SimpleNamespace(stages=[nn.Identity(), nn.Identity(), nn.Identity()])
    run: Any = SimpleNamespace(codes=lambda **_: encoded, chain=chain, plan=SimpleNamespace(seed=5))
    given: list[Any] = []

    def caught(*arrays: np.ndarray, **options: Any) -> dict[str, Score]:
        given.extend((arrays, options))
        return {"c+z": Score(0.5)}

    monkeypatch.setattr(metrics, "downstream_by_stage", caught)
    found = downstream.compute(run, (), MeasureOptions(show=False), True)
    assert {key: score.value for key, score in found.items()} == {"downstream_by_stage/c+z": 0.5}
    for one, other in zip(given[0], (c, np.hstack([z, more]), c[:, :1]), strict=True):
        np.testing.assert_array_equal(one, other)
    assert given[1] == {"kinds": ("cyclic",), "names": ("a",), "seed": 5}


def test_terms_that_cannot_be_computed_do_not_lose_the_others(
    squares: FactorData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = fit(squares, methods.BetaVAE(width=0.1, latents=2), steps=1, out=tmp_path / "run", show=False)

    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("nothing there")

    monkeypatch.setattr(metrics, "elbo_terms", fails)
    found = table.compute(run, ("elbo_terms", "mig"), MeasureOptions(show=False), True)
    assert found["elbo_terms"].details["error"] == "ZeroDivisionError: nothing there"
    assert np.isfinite(found["mig"].value)


def test_a_perceptual_network_is_not_in_training(tmp_path: Path) -> None:
    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.drop = nn.Dropout(0.5)

        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return self.drop(a - b)

    file = tmp_path / "network.pt"
    torch.jit.script(Network().train()).save(str(file))
    assert not lpips.load_network(file).training
