"""LPIPS by a given network: here a stand-in whose distances are known."""

from pathlib import Path

import numpy as np
import pytest
import torch

import unbraid as ub
from unbraid.data.factor_data import FactorData
from unbraid.methods import VAE


class MeanDifference(torch.nn.Module):
    """Half the mean absolute difference of images in [−1, 1]: L1 of images in [0, 1]."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a - b).abs().mean(dim=(1, 2, 3), keepdim=True) / 2


def test_the_networks_distances_are_averaged(squares: FactorData, tmp_path: Path) -> None:
    file = tmp_path / "network.pt"
    torch.jit.save(torch.jit.trace(MeanDifference(), (torch.rand(2, 3, 8, 8), torch.rand(2, 3, 8, 8))), file)
    run = ub.fit(squares, VAE(width=0.1), steps=2, out=tmp_path / "run", show=False)
    scores = run.evaluate(["lpips", "l1"], show=False, lpips=file)
    assert scores["lpips"]["value"] == pytest.approx(scores["l1"]["value"], rel=1e-5)
    assert scores["lpips"]["interval"][0] < scores["lpips"]["value"] < scores["lpips"]["interval"][1]


def test_without_its_network_or_with_another_file_it_says_so(squares: FactorData, tmp_path: Path) -> None:
    run = ub.fit(squares, VAE(width=0.1), steps=2, out=tmp_path / "run", show=False)
    with pytest.raises(ub.InputError, match="--lpips FILE"):
        run.evaluate(["lpips"], show=False)
    np.save(tmp_path / "file.npy", np.zeros(3))
    with pytest.raises(ub.InputError, match="is not a TorchScript file"):
        run.evaluate(["lpips"], show=False, lpips=tmp_path / "file.npy")
