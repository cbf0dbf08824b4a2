"""pythae's β-TCVAE and trainer at their own defaults for some CPU seconds, for benchmarks/time_to_quality.py.

Run by a Python that has pythae; it needs nothing of this project. Its own networks, weights, batch size and learning
rate are kept; only the time is ours: training stops when it is over, and codes and errors are taken on the way.
"""

import argparse
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import torch
from pythae.data.datasets import BaseDataset
from pythae.models import BetaTCVAE, BetaTCVAEConfig
from pythae.trainers import BaseTrainer, BaseTrainerConfig
from pythae.trainers.training_callbacks import TrainingCallback

BATCH = 500


class TimeIsOver(Exception):
    """Training has had its seconds."""


class Looks(TrainingCallback):
    """Takes codes at some CPU seconds of training; what that takes itself is not counted."""

    def __init__(self, model: BetaTCVAE, images: torch.Tensor, rows: np.ndarray, marks: list[float]) -> None:
        self.model, self.images, self.rows, self.marks = model, images, rows, marks
        self.looking, self.steps = 0.0, 0
        self.found: list[dict[str, np.ndarray]] = []
        self.began = 0.0

    def on_train_begin(self, training_config: BaseTrainerConfig, **given: object) -> None:
        self.began = time.process_time()

    def on_train_step_end(self, training_config: BaseTrainerConfig, **given: object) -> None:
        self.steps += 1
        seconds = time.process_time() - self.began - self.looking
        if seconds < self.marks[len(self.found)]:
            return
        looked = time.process_time()
        self.found.append({"seconds": np.array(seconds), "steps": np.array(self.steps), **self.look()})
        self.looking += time.process_time() - looked
        if len(self.found) == len(self.marks):
            raise TimeIsOver

    @torch.no_grad()
    def look(self) -> dict[str, np.ndarray]:
        self.model.eval()
        codes, errors = [], []
        for part in torch.from_numpy(self.rows).split(BATCH):
            x = self.images[part]
            mean = self.model.encoder(x).embedding
            codes.append(mean.numpy())
            errors.append(((self.model.decoder(mean).reconstruction.reshape(x.shape) - x) ** 2).flatten(1).mean(1))
        self.model.train()
        return {"codes": np.concatenate(codes), "l2": torch.cat(errors).mean().numpy()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("images", type=Path, help="bytes [n, height, width, channel], .npy")
    parser.add_argument("rows", type=Path, help="the rows to take codes of, .npy")
    parser.add_argument("out", type=Path, help="where to, .npz")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--marks", type=float, nargs="+", required=True, help="CPU seconds")
    given = parser.parse_args()
    torch.set_num_threads(1)
    images = torch.from_numpy(np.load(given.images)).permute(0, 3, 1, 2).contiguous().float().div_(255)
    torch.manual_seed(given.seed)
    model = BetaTCVAE(BetaTCVAEConfig(input_dim=tuple(images.shape[1:])))
    config = BaseTrainerConfig(output_dir=str(given.out.with_suffix("")), num_epochs=10_000, seed=given.seed)
    dataset = BaseDataset(images, torch.zeros(len(images)))
    looks = Looks(model, images, np.load(given.rows), given.marks)
    trainer = BaseTrainer(model=model, train_dataset=dataset, training_config=config, callbacks=[looks])
    with suppress(TimeIsOver):
        trainer.train()
    arrays = {f"{name}/{number}": value for number, found in enumerate(looks.found) for name, value in found.items()}
    np.savez(given.out, **arrays)


if __name__ == "__main__":
    main()
