"""How far half precision moves FID, and what it saves: real images against noisy, blurred and other real ones.

    python benchmarks/fid_precision.py [--data celeba] [--images 2000] [--against blurred] [--out FOLDER]

Features are made in turn in float32 and in bfloat16, and kept in FOLDER: a repeated command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid import data
from unbraid.evaluation import inception
from unbraid.metrics import fid

PART = 100
PRECISIONS = ("float32", "bfloat16")


def variants(images: NDArray[np.uint8]) -> dict[str, NDArray[np.uint8]]:
    """The images as they are, with noise of deviation 25 of 255, and as means of 5×5 pixels."""
    draws = np.random.default_rng(0)
    noisy = np.clip(images + draws.normal(scale=25, size=images.shape), 0, 255).astype(np.uint8)
    x = torch.from_numpy(images).permute(0, 3, 1, 2).float()
    blurred = torch.nn.functional.avg_pool2d(x, 5, 1, 2, count_include_pad=False)
    return {"real": images, "noisy": noisy, "blurred": blurred.permute(0, 2, 3, 1).round().to(torch.uint8).numpy()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="celeba")
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--against", nargs="*", default=["noisy", "blurred"], choices=["noisy", "blurred"])
    parser.add_argument("--out", type=Path, default=Path("fid-precision"))
    known = parser.parse_args()
    torch.set_num_threads(1)
    known.out.mkdir(parents=True, exist_ok=True)
    network, _ = inception.load_network(inception.find_network(None))
    observations = data.load(known.data).observations
    chosen = np.sort(np.random.default_rng(0).choice(len(observations), known.images, replace=False))
    seconds: dict[str, float] = dict.fromkeys(PRECISIONS, 0.0)
    made: dict[tuple[str, str], list[Any]] = {}
    seen = variants(np.asarray(observations[chosen]))
    for name, images in ((name, seen[name]) for name in ("real", *known.against)):
        for start in range(0, len(images), PART):
            for precision in PRECISIONS:
                place = known.out / f"{known.data}-{name}-{start}-{precision}.npz"
                if not place.is_file():
                    began = time.process_time()
                    found = inception.features(network, images[start : start + PART], "", False, precision)
                    np.savez(place, found=found, seconds=time.process_time() - began)
                with np.load(place) as kept:
                    made.setdefault((name, precision), []).append(kept["found"])
                    seconds[precision] += float(kept["seconds"])
    whole = {key: np.concatenate(found) for key, found in made.items()}
    half = known.images // 2
    for name in (*known.against, "other half"):
        values = []
        for precision in PRECISIONS:
            real = whole["real", precision]
            pair = (real[:half], real[half:]) if name == "other half" else (real, whole[name, precision])
            values.append(fid(*pair, replicates=0).value)
        moved = values[1] / values[0] - 1
        print(json.dumps({"data": known.data, "against": name, "fid": values, "moved": f"{moved:+.3%}"}))
    count = (1 + len(known.against)) * known.images
    print(json.dumps({name: f"{1000 * spent / count:.1f} s per 1,000" for name, spent in seconds.items()}))


if __name__ == "__main__":
    main()
