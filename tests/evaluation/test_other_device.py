"""Measures that use networks run where the networks are: on torch's meta device, a tensor left on the CPU raises."""

from pathlib import Path

import pytest
import torch

from unbraid import methods
from unbraid.api import fit
from unbraid.core import MethodConfig
from unbraid.evaluation import classes, conditioning, downstream, identifiability, identity, reconstruction
from unbraid.evaluation.measure import Measure, MeasureOptions
from unbraid.nets.inception import Inception
from unbraid.training.contract import small_images
from unbraid.training.device_check import META, OnMeta

OPTIONS = MeasureOptions(images=32, rows=20, show=False)
RUNS: dict[str, tuple[MethodConfig, ...]] = {
    "stages": (methods.BetaTCVAE(width=0.1), methods.MSVAE.fast(width=0.1, latents=6)),
    "classes": (methods.PartedVAE(width=0.1),),
    "labels": (methods.IDVAE(width=0.1),),
}


@pytest.mark.parametrize(
    ("stages", "measure"),
    [
        ("stages", reconstruction.MEASURE),
        ("stages", downstream.MEASURE),
        ("stages", conditioning.MEASURE),
        ("stages", identity.MEASURE),
        ("classes", classes.MEASURE),
        ("labels", identifiability.MEASURE),
    ],
)
def test_measures_stay_on_the_device_of_the_run(
    stages: str, measure: Measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = fit(small_images(), RUNS[stages], steps=1, out=tmp_path / "run", show=False)
    with OnMeta(*run.chain.stages, results=True):
        monkeypatch.setattr(run, "device", META)
        found = measure.compute(run, measure.names, OPTIONS, False)
    assert {name.split("/")[-1] for name in found} & {*measure.names, "M1", "c+z", "place"}


def test_a_measure_that_leaves_a_tensor_behind_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = fit(small_images(), RUNS["stages"], steps=1, out=tmp_path / "run", show=False)
    with OnMeta(*run.chain.stages, results=True):
        with pytest.raises(RuntimeError, match="device"):
            run.chain.decode_last({"z": torch.zeros(2, 6)}, torch.zeros(2, 3, 16, 16))
        codes = run.chain.decode([{"z": torch.zeros(2, 10)}, {"z": torch.zeros(2, 6)}])
    assert all(part.device == META for part in codes), "a chain moves codes to where its stages are"


def test_inception_runs_where_its_weights_are() -> None:
    network = Inception().eval()
    with OnMeta(network), torch.no_grad():
        assert network(torch.zeros(1, 3, 299, 299, device=META)).device == META
