"""FID and KID of a run: features of the 2015-12-05 Inception network, computed once for each data set."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from unbraid import metrics
from unbraid.data import cache
from unbraid.data.published.download import RemoteFile, fetch
from unbraid.errors import InputError, unknown
from unbraid.evaluation.measure import Measure, MeasureOptions
from unbraid.evaluation.reconstruction import outputs, stage_key
from unbraid.metrics import Score
from unbraid.nets.inception import Inception
from unbraid.runs.codes import choose_rows
from unbraid.runs.directory import RunDirectory
from unbraid.util.allocator import keep_freed_memory
from unbraid.util.files import complete_file
from unbraid.util.progress import Steps
from unbraid.util.schema import digest

BATCH = 16
# The network as it is published, in either form: (file, sha256 or the part of it that the publisher states).
PUBLIC_FILE = "pt_inception-2015-12-05-6726825d.pth"
KNOWN_FILES = {
    PUBLIC_FILE: "6726825d",
    "inception-2015-12-05.pt": "7ff4a85c3a6378f0dfc8433ffd789663b01176bec0a683a435651739c091fa34",
}
ADDRESS = f"https://github.com/mseitzer/pytorch-fid/releases/download/fid_weights/{PUBLIC_FILE}"
Network = Callable[[Tensor], Tensor]
PRECISIONS = ("auto", "float32", "bfloat16")


def compute(run: RunDirectory, names: Sequence[str], options: MeasureOptions, labels: bool) -> dict[str, Score]:
    """FID and KID between data and reconstructions, or draws of GANs and flows: of the last stage and every earlier."""
    rows = choose_rows(len(run.data), options.images, run.plan.seed)
    network, identity = load_network(find_network(options.inception))
    precision = chosen_precision(options.feature_precision)
    real = cached_features(network, identity, run, rows, options.show, precision)
    scores: dict[str, Score] = {}
    stages = outputs(run, rows, options.show, labels=labels)
    for number, stage in enumerate(stages, 1):
        made = features(network, stage, f"features of stage {number}", options.show, precision)
        for name in names:
            key = stage_key(name, number, len(stages))
            score = metrics.METRICS[name].function(real, made, seed=run.plan.seed)
            scores[key] = replace(score, details={**score.details, "precision": precision})
    return scores


def refusal(run: RunDirectory, name: str) -> str | None:
    """Only images have Inception features."""
    return None if run.is_image else f"{name} compares images; this run's observations are vectors."


def chosen_precision(asked: str) -> str:
    """What the network computes in: as asked, or where it is left open what this processor does fast.

    Example:
        >>> chosen_precision("float32")
        'float32'
    """
    if asked not in PRECISIONS:
        raise unknown("precision of features", asked, PRECISIONS)
    if asked != "auto":
        return asked
    able = torch.cpu.get_capabilities()
    return "bfloat16" if able.get("avx512_bf16") or able.get("amx_bf16") else "float32"


def find_network(file: Path | None) -> Path:
    """The given file, or one of the known ones in the data folder."""
    if file is not None:
        if not file.is_file():
            raise InputError(f"{str(file)!r} is not a file; --inception needs the Inception network of 2015-12-05.")
        return file
    for name in KNOWN_FILES:
        if (kept := cache.place(f"inception/{name}")).is_file():
            return kept
    try:
        return fetch(RemoteFile(PUBLIC_FILE, (ADDRESS,), fixed=True), cache.place(f"inception/{PUBLIC_FILE}").parent)
    except InputError as error:
        raise InputError(f"fid and kid need the Inception network: give it with --inception FILE ({error})") from error


def load_network(path: Path) -> tuple[Network, str]:
    """The network in a file (the public weights, or TorchScript) and what identifies it. Known files are verified."""
    identity = hashlib.sha256(path.read_bytes()).hexdigest()
    expected = KNOWN_FILES.get(path.name, "")
    if not identity.startswith(expected):
        raise InputError(f"{str(path)!r} is damaged: its sha256 is {identity[:8]}…, not {expected[:8]}…; get it again.")
    try:
        if zipfile.is_zipfile(path) and any("code/" in name for name in zipfile.ZipFile(path).namelist()):
            loaded = torch.jit.load(path, map_location="cpu").eval()
            return guarded(loaded.to(memory_format=torch.channels_last), path), identity
        network = Inception()
        weights = torch.load(path, map_location="cpu", weights_only=True)
        kept = {name: value for name, value in weights.items() if not name.startswith(("fc.", "AuxLogits."))}
        network.load_state_dict(kept)
    except Exception as error:
        raise InputError(f"{str(path)!r} does not hold the weights of the Inception network of 2015-12-05.") from error
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return network.eval(), identity


def guarded(network: Network, path: Path) -> Network:
    """A network of someone's own, refused in a sentence if it does not map images to features."""

    def checked(x: Tensor) -> Tensor:
        try:
            found = network(x)
        except Exception as error:  # whatever a foreign network raises
            why = (str(error).strip() or type(error).__name__).splitlines()[-1]
            raise InputError(f"{str(path)!r} does not take images [n, 3, 299, 299] ({why}): give Inception.") from error
        if not isinstance(found, Tensor) or found.ndim < 2 or len(found) != len(x) or not torch.isfinite(found).all():
            raise InputError(f"{str(path)!r} does not give finite features [n, feature] of images: give Inception.")
        return found

    return checked


def cached_features(
    network: Network,
    identity: str,
    run: RunDirectory,
    rows: NDArray[np.int64],
    show: bool,
    precision: str = "float32",
) -> NDArray[np.float32]:
    """Features of the data set's own images, kept beside the data: one file for each precision."""
    told = [] if precision == "float32" else [precision]  # so that what was kept before there was a choice still counts
    key = digest([identity, run.data.fingerprint, rows.tolist(), *told])
    path = cache.place(f"features/{key}.npy")
    kept: NDArray[np.float32] | None = cache.open_array(path)
    if kept is not None and kept.ndim == 2 and len(kept) == len(rows):
        return kept
    found = features(network, run.data.observations[rows], "features of the data", show, precision)
    with complete_file(path) as place, place.open("wb") as file:
        np.save(file, found)
    return found


@torch.inference_mode()
def features(
    network: Network, images: NDArray[Any], title: str, show: bool, precision: str = "float32"
) -> NDArray[np.float32]:
    """Pool features [n, 2048] of uint8 images [n, h, w, c]; grey ones are given three equal channels."""
    keep_freed_memory()
    parts = []
    half = torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bfloat16")
    with Steps(title, len(images), show=show) as bar, half:
        for start in range(0, len(images), BATCH):
            batch = torch.from_numpy(np.ascontiguousarray(images[start : start + BATCH])).permute(0, 3, 1, 2)
            x = batch.float().div(127.5).sub(1).expand(-1, 3, -1, -1)
            x = F.interpolate(x, (299, 299), mode="bilinear", align_corners=False)
            # Nine tenths of the time of the usual order, and the same features to six digits.
            parts.append(network(x.contiguous(memory_format=torch.channels_last)).flatten(1).float().numpy())
            bar.advance(start + len(batch))
    return np.concatenate(parts)


def is_current(score: Mapping[str, Any], options: MeasureOptions) -> bool:
    """Where a precision is asked for, a score of features in another does not count."""
    used = (score.get("details") or {}).get("precision", "float32")
    return options.feature_precision in ("auto", used)


MEASURE = Measure(
    ("fid", "kid"), compute, refusal, needs_file=lambda options: options.inception is None, is_current=is_current
)
