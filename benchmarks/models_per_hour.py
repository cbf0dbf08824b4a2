"""Models an hour: `unbraid search` on all cores against loops over the peers' trainers, same networks, data and steps.

All train β-VAEs with this package's convolutional encoder and decoder on the same images, in turns within one run. Ours
includes codes, figures and files of each trial and a look at held-out rows now and then; theirs the training
alone, one model after the other in one process with PyTorch's default threads. The peers' networks have PyTorch's own
layers, as their users would write them; `--our-layers` gives them this package's `Downsampling` and `Upsampling` as
well. Processes are started and packages imported before the clock. CPU seconds count all threads and processes of a
side.

    pip install pythae disent
    python benchmarks/models_per_hour.py [--models 4] [--steps 600] [--size 32] [--width 0.25] [--rounds 3]

disent imports torchvision, whose builds for a GPU do not load beside a torch for the CPU: in an environment of its own,
without the line `_meta_registrations,` in torchvision/__init__.py, they do, and its β-VAE uses nothing of them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import unbraid as ub
from unbraid.core import build_method
from unbraid.data.spec import DataSpec
from unbraid.methods import BetaVAE
from unbraid.nets.downsampling import Downsampling
from unbraid.nets.upsampling import Upsampling
from unbraid.training.machine import Machine

BATCH = 64
LATENTS = 10
OUR_LAYERS = False  # whether the peers' networks have this package's layers
Side = Callable[[ub.data.FactorData, BetaVAE, int, int, Path], None]


def ours(precision: str) -> Side:
    def side(data: ub.data.FactorData, config: BetaVAE, models: int, steps: int, folder: Path) -> None:
        betas, machine = [float(n + 1) for n in range(models)], Machine("cpu", precision=precision)
        vary = {"beta": betas}
        shared: Any = {"seeds": 1, "steps": steps, "by": "elbo", "held_out": 0.0}  # all images, as the peers train on
        ub.search(data, config, vary=vary, out=folder, machine=machine, show=False, **shared)

    return side


def networks(data: ub.data.FactorData, config: BetaVAE) -> tuple[nn.Module, nn.Module]:
    method: Any = build_method(config, DataSpec(shape=data.shape, size=len(data)))
    if not OUR_LAYERS:
        for layers in (method.encoder.trunk, method.decoder):
            for place, layer in enumerate(layers):
                if isinstance(layer, Downsampling | Upsampling):
                    layers[place] = plain(layer)
    return method.encoder, method.decoder


def plain(layer: Downsampling | Upsampling) -> nn.Module:
    """PyTorch's own layer with the same weights."""
    kind = nn.Conv2d if isinstance(layer, Downsampling) else nn.ConvTranspose2d
    made = kind(layer.in_channels, layer.out_channels, 4, stride=2, padding=1)
    made.load_state_dict(layer.state_dict())
    return made


def images_of(data: ub.data.FactorData) -> torch.Tensor:
    return torch.from_numpy(data.observations).permute(0, 3, 1, 2).float().div(255).contiguous()


def pythae(data: ub.data.FactorData, config: BetaVAE, models: int, steps: int, folder: Path) -> None:
    from pythae.data.datasets import BaseDataset
    from pythae.models import BetaVAE as PeerVAE
    from pythae.models import BetaVAEConfig
    from pythae.models.base.base_utils import ModelOutput
    from pythae.models.nn import BaseDecoder, BaseEncoder
    from pythae.trainers import BaseTrainer, BaseTrainerConfig

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

    images = images_of(data)
    for number in range(models):
        encoder, decoder = networks(data, config)
        shape = BetaVAEConfig(
            input_dim=data.shape, latent_dim=LATENTS, beta=float(number + 1), reconstruction_loss="bce"
        )
        settings = BaseTrainerConfig(
            output_dir=str(folder),
            num_epochs=max(1, steps * BATCH // len(data)),
            per_device_train_batch_size=BATCH,
            learning_rate=1e-3,
            train_dataloader_num_workers=0,
        )
        model = PeerVAE(shape, Encoder(encoder), Decoder(decoder))
        BaseTrainer(model, BaseDataset(images, torch.zeros(len(images))), training_config=settings).train()


def disent(data: ub.data.FactorData, config: BetaVAE, models: int, steps: int, folder: Path) -> None:
    import lightning
    from disent.frameworks.vae import BetaVae
    from disent.model import AutoEncoder
    from disent.model._base import DisentDecoder, DisentEncoder
    from torch.utils.data import DataLoader, Dataset

    images = images_of(data)

    class Rows(Dataset[Any]):
        def __len__(self) -> int:
            return len(images)

        def __getitem__(self, row: int) -> dict[str, Any]:
            return {"x_targ": (images[row],)}

    class Encoder(DisentEncoder):
        def __init__(self, network: nn.Module) -> None:
            super().__init__(x_shape=data.shape, z_size=LATENTS, z_multiplier=2)
            self.network = network

        def encode(self, x: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.network(x)
            return found

    class Decoder(DisentDecoder):
        def __init__(self, network: nn.Module) -> None:
            super().__init__(x_shape=data.shape, z_size=LATENTS, z_multiplier=1)
            self.network = network

        def decode(self, z: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.network(z)
            return found

    for number in range(models):
        encoder, decoder = networks(data, config)
        settings = BetaVae.cfg(
            optimizer="adam", optimizer_kwargs={"lr": 1e-3}, recon_loss="bce", beta=float(number + 1)
        )
        model = BetaVae(model=AutoEncoder(encoder=Encoder(encoder), decoder=Decoder(decoder)), cfg=settings)
        trainer = lightning.Trainer(
            max_steps=steps,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=str(folder),
        )
        trainer.fit(model, DataLoader(Rows(), batch_size=BATCH, shuffle=True, num_workers=0))


def cpu_seconds() -> float:
    """Of this process and all below it, those that have ended too."""
    clock, total, parents = os.sysconf("SC_CLK_TCK"), 0, {os.getpid()}
    known = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rsplit(")", 1)[1].split()
            known[int(path.parent.name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    while parents:
        total += sum(known[one][1] for one in parents if one in known)
        parents = {one for one, (parent, _) in known.items() if parent in parents}
    return total / clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=4)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--width", type=float, default=0.25)
    parser.add_argument("--sides", nargs="+", default=["ours", "ours, precision auto", "pythae", "disent"])
    parser.add_argument("--our-layers", action="store_true", help="the peers' networks have this package's layers too")
    known = parser.parse_args()
    globals()["OUR_LAYERS"] = known.our_layers
    logging.disable(logging.WARNING)
    whole = ub.data.load("sprites", size=known.size, stride=4)
    data = whole.take(np.random.default_rng(0).choice(len(whole), 50 * BATCH, replace=False), "sprites, a part")
    config = BetaVAE(network="conv", width=known.width, batch_size=BATCH, latents=LATENTS)
    every: dict[str, Side] = {"ours": ours("32-true"), "ours, precision auto": ours("auto")}
    every |= {"pythae": pythae, "disent": disent}
    sides = {name: every[name] for name in known.sides}
    wall: dict[str, list[float]] = {name: [] for name in sides}
    busy: dict[str, list[float]] = {name: [] for name in sides}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(known.rounds + 1):
            for name in list(sides):
                models, steps = (known.models, known.steps) if turn else (2, 50)  # the first one starts processes
                began, before = time.monotonic(), cpu_seconds()
                try:
                    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                        sides[name](data, config, models, steps, Path(folder) / f"{turn}-{name}")
                except ImportError as error:
                    print(f"{name} is not here: {error}")
                    del sides[name]
                    continue
                if turn:
                    wall[name].append((time.monotonic() - began) / known.models)
                    busy[name].append((cpu_seconds() - before) / known.models)
    print(
        f"{known.steps} steps of {known.size}×{known.size}, width {known.width:g}, batches of {BATCH}; "
        f"{torch.get_num_threads()} threads; load {os.getloadavg()[0]:.1f}; median of {known.rounds} (least)"
    )
    base = statistics.median(wall["ours"])
    for name in sides:
        seconds, least = statistics.median(wall[name]), min(wall[name])
        print(
            f"{name:22} {3600 / seconds:6.0f} models an hour: {seconds:6.2f} s ({least:.2f}) each, "
            f"{statistics.median(busy[name]):6.2f} CPU s ({min(busy[name]):.2f}); {seconds / base:.2f} of ours' time"
        )


if __name__ == "__main__":
    main()
