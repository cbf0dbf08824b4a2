"""Models an hour: `unbraid search` on all cores against a loop over pythae's trainer, same networks, data and steps.

Both train β-VAEs with this package's convolutional encoder and decoder on the same images. Ours includes starting the
processes, checkpoints, and the figures and codes of each trial; theirs the training alone, with all threads.

    pip install pythae
    python benchmarks/models_per_hour.py [--models 8] [--steps 400]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import unbraid as ub
from unbraid.core import build_method
from unbraid.data.spec import DataSpec
from unbraid.methods import BetaVAE

BATCH = 64


def ours(data: ub.data.FactorData, config: BetaVAE, models: int, steps: int, folder: Path) -> float:
    began = time.monotonic()
    betas = [float(n + 1) for n in range(models)]
    ub.search(data, config, vary={"beta": betas}, seeds=1, steps=steps, by="elbo", out=folder, show=False)
    return time.monotonic() - began


def theirs(data: ub.data.FactorData, config: BetaVAE, models: int, steps: int, folder: Path) -> float | None:
    try:
        from pythae.data.datasets import BaseDataset
        from pythae.models import BetaVAE as PeerVAE
        from pythae.models import BetaVAEConfig
        from pythae.models.base.base_utils import ModelOutput
        from pythae.models.nn import BaseDecoder, BaseEncoder
        from pythae.trainers import BaseTrainer, BaseTrainerConfig
    except ImportError as error:
        print(f"pythae is not here ({error}), so that there is nothing to compare with: pip install pythae.")
        return None

    class Encoder(BaseEncoder):
        def __init__(self, network: nn.Module) -> None:
            super().__init__()
            self.network = network

        def forward(self, x: torch.Tensor) -> Any:
            mean, log_var = self.network(x).chunk(2, dim=1)
            return ModelOutput(embedding=mean, log_covariance=log_var)

    class Decoder(BaseDecoder):
        def __init__(self, network: nn.Module) -> None:
            super().__init__()
            self.network = network

        def forward(self, z: torch.Tensor) -> Any:
            return ModelOutput(reconstruction=torch.sigmoid(self.network(z)))

    images = torch.from_numpy(data.observations).permute(0, 3, 1, 2).float().div(255)
    began = time.monotonic()
    for number in range(models):
        method = build_method(config, DataSpec(shape=data.shape, size=len(data)))
        shape = BetaVAEConfig(input_dim=data.shape, latent_dim=10, beta=float(number + 1), reconstruction_loss="bce")
        model = PeerVAE(shape, Encoder(method.encoder), Decoder(method.decoder))
        settings = BaseTrainerConfig(
            output_dir=str(folder),
            num_epochs=steps * BATCH // len(data),
            per_device_train_batch_size=BATCH,
            learning_rate=1e-3,
        )
        BaseTrainer(model, BaseDataset(images, torch.zeros(len(images))), training_config=settings).train()
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--steps", type=int, default=400)
    known = parser.parse_args()
    whole = ub.data.load("sprites", size=32, stride=4)
    data = whole.take(np.random.default_rng(0).choice(len(whole), 100 * BATCH, replace=False), "sprites, a part")
    config = BetaVAE(network="conv", width=0.25, batch_size=BATCH)
    with tempfile.TemporaryDirectory() as folder:
        peer = theirs(data, config, known.models, known.steps, Path(folder) / "theirs")
        own = ours(data, config, known.models, known.steps, Path(folder) / "ours")
    print(f"ours: {known.models / own * 3600:.0f} models an hour ({own:.1f} s)")
    if peer is not None:
        print(f"pythae: {known.models / peer * 3600:.0f} models an hour ({peer:.1f} s): {peer / own:.2f} times")


if __name__ == "__main__":
    main()
