"""What turning an object changes besides its pose: the measures of GANs that are given a pose."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.api import Run
from unbraid.methods.staged.control_inputs import ControlInputs
from unbraid.papers.measures import chains, identity
from unbraid.runs.chain import Codes, draws_of, priors
from unbraid.runs.codes import choose_rows
from unbraid.training.batches import as_stored
from unbraid.training.log import read_log
from unbraid.util.seeds import mix

POSE, IDENTITY = ("azimuth", "elevation"), "object"
Features = Callable[[Run, str], NDArray[np.float32]]  # of a run and the factor that is the identity
SHOWN = 4  # identities of each model in the picture
POINTS = (0.125, 0.25, 0.5)  # parts of the training of generators and critics after which identity is looked at too


def identity_change(run: Run, features: Features = identity.features_of_model) -> float:
    """The share of the variance of identity features that moves with the pose."""
    return identity.change(features(run, IDENTITY))


def variety(run: Run, features: Features = identity.features_of_model) -> float:
    """How much identities differ, in parts of how much the data's do; 0: z does nothing."""
    return identity.variety(features(run, IDENTITY)) / identity.variety(identity.features_of_data(run, IDENTITY))


def pixel_change(run: Run) -> float:
    """The share of all pixels' variance that moves with the pose."""
    return float(run.evaluate(["identity_change"], show=False)["identity_change"]["value"])


def decode_in_poses(run: Run, labels: Tensor, z: Codes | None = None) -> list[Tensor]:
    """What each stage makes in the poses among these labels [b, factor], with z drawn, or given."""
    codes = [draws_of(priors(stage).prior(len(labels))) for stage in run.chain.stages]
    inputs = run.stage(1).inputs
    assert isinstance(inputs, ControlInputs)
    codes[0]["c"] = inputs.given(labels).mean
    codes[-1] |= z or {}
    return run.chain.decode(codes)


def pose_obeyed(run: Run, images: int = 1_000, sides: int = 1) -> float:
    """The share of made images whose azimuth is read as it was asked for: the guard against an idle c."""
    rows = choose_rows(len(run.data), images, 1)
    torch.manual_seed(mix(run.plan.seed, "poses"))
    made = as_stored(decode_in_poses(run, run.labels(rows))[-1]).astype(np.uint8)
    return identity.PoseReader(run.data, POSE[0]).share_right(made, run.data.column(POSE[0])[rows], sides)


def pose_of_data(run: Run, images: int = 1_000) -> float:
    """The same of images of the data that the reader was not shown."""
    reader = identity.PoseReader(run.data, POSE[0])
    rows = np.setdiff1d(choose_rows(len(run.data), images + len(reader.rows), 1), reader.rows)[:images]
    if not len(rows):
        return chains.NOTHING
    return reader.share_right(np.asarray(run.data.observations[rows]), run.data.column(POSE[0])[rows])


TURNED = 4  # steps of azimuth, of 24: pairs of images that are less apart say little about turning


def turned_apart(run: Run, images: NDArray[Any], labels: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Features [identity, pose, feature] of images [identity, pose, …], and which of them show the azimuth asked for.

    Args:
        run: whose witness and pose reader look at them.
        images: as stored.
        labels: azimuths that were asked for, [pose].
    """
    flat = images.reshape(-1, *images.shape[2:])
    witness = identity.identity_network(run, IDENTITY).features
    with torch.inference_mode():
        features = torch.cat([witness(x).cpu() for x in run.inputs(flat)]).numpy()
    right = identity.PoseReader(run.data, POSE[0]).right(flat, np.tile(labels, len(images)))
    return features.reshape(*images.shape[:2], -1), right.reshape(images.shape[:2])


def change_when_turned(
    features: NDArray[np.float32], obeyed: NDArray[np.bool_], azimuths: NDArray[Any], circle: int
) -> tuple[float, float]:
    """How far turning takes an identity, in parts of the way to another one, among images that obey.

    A model that does not turn has no pairs here; its identities cannot be praised for staying as they are.

    Args:
        features: [identity, pose, feature].
        obeyed: whether the azimuth is the one asked for, [identity, pose].
        azimuths: asked for, [pose].
        circle: how many azimuths there are.

    Returns:
        Squared distance between pairs of one identity, turned apart, over that of pairs of two; and which share of
        all such pairs of one identity obeys.

    Example:
        >>> same = np.eye(2, dtype=np.float32)[:, None].repeat(3, 1)  # two identities, three poses, no change
        >>> change_when_turned(same, np.ones((2, 3), bool), np.array([0, 4, 8]), circle=12)
        (0.0, 1.0)
    """
    apart = steps_between(azimuths[:, None], azimuths, circle) >= TURNED  # [pose, pose]
    both = obeyed[:, :, None, None] & obeyed[None, None] & apart[None, :, None, :]
    value, pairs = change_of_pairs(features, both)
    return value, float(pairs / (len(features) * apart.sum()))


def change_where_it_turns(features: NDArray[np.float32], azimuths: NDArray[Any], circle: int) -> tuple[float, float]:
    """How far an identity is taken by what turns it, in parts of the way to another one: c is not told what to do.

    Args:
        features: [identity, c, feature].
        azimuths: as they are read off the images, [identity, c].
        circle: how many azimuths there are.

    Returns:
        Squared distance between pairs of one identity whose azimuths are apart, over that of such pairs of two; and
        which share of all pairs of one identity is apart.

    Example:
        >>> same = np.eye(2, dtype=np.float32)[:, None].repeat(3, 1)  # two identities, three values of c, no change
        >>> value, share = change_where_it_turns(same, np.array([[0, 4, 8], [0, 4, 4]]), circle=12)
        >>> value, round(share, 2)  # all three pairs of the first are apart, and two of three of the second
        (0.0, 0.83)
    """
    apart = steps_between(azimuths[:, :, None, None], azimuths[None, None], circle) >= TURNED
    value, pairs = change_of_pairs(features, apart)
    identities, values = azimuths.shape
    return value, float(pairs / (identities * values * (values - 1)))


def steps_between(one: NDArray[Any], other: NDArray[Any], circle: int) -> NDArray[Any]:
    """How many steps two places on a circle are apart, the shorter way.

    Example:
        >>> int(steps_between(np.array(23), np.array(1), circle=24))
        2
    """
    distance = np.abs(one - other) % circle
    shorter: NDArray[Any] = np.minimum(distance, circle - distance)
    return shorter


def change_of_pairs(features: NDArray[np.float32], both: NDArray[np.bool_]) -> tuple[float, int]:
    """Squared distance between chosen pairs of one identity over that of chosen pairs of two.

    Args:
        features: [identity, pose, feature].
        both: which pairs are chosen, [identity, pose, identity, pose].

    Returns:
        The ratio, and how many pairs of one identity were chosen (each pair twice, once a way).

    Example:
        >>> features = np.array([[[0.0], [1.0]], [[4.0], [5.0]]], np.float32)
        >>> others = np.broadcast_to(~np.eye(2, dtype=bool)[None, :, None], (2, 2, 2, 2))
        >>> value, pairs = change_of_pairs(features, others)
        >>> round(value * 17, 4), pairs  # 1 over the mean of 9 and 25
        (1.0, 4)
    """
    norms = np.square(features).sum(-1)
    squares = norms[:, :, None, None] + norms[None, None] - 2 * np.einsum("iaf,jbf->iajb", features, features)
    one = np.eye(len(features), dtype=bool)[:, None, :, None]
    same, other = both & one, both & ~one
    if not same.any() or not other.any():
        return chains.NOTHING, 0
    return float(squares[same].mean() / squares[other].mean()), int(same.sum())


@lru_cache(maxsize=2)
def kept_when_turned(folder: Path) -> tuple[float, float]:
    """Both figures of `change_when_turned` of a run."""
    run = Run.open(folder)
    (identities, _), sides = identity.counts(run), int(run.data.column(POSE[0]).max()) + 1
    identities //= 2  # pairs of all images are compared
    azimuths, elevations = (run.data.column(name) for name in POSE)
    table = np.stack([np.arange(sides), np.full(sides, np.median(elevations))], axis=1)
    labels = torch.from_numpy(table.astype(np.float32)).to(run.device)
    torch.manual_seed(mix(run.plan.seed, "turned apart"))
    parts = []
    for _ in range(identities):
        z = draws_of(priors(run.chain.stages[-1]).prior(1))["z"].expand(sides, -1)
        parts.append(as_stored(decode_in_poses(run, labels, {"z": z})[-1]).astype(np.uint8))
    features, obeyed = turned_apart(run, np.stack(parts), np.arange(sides))
    return change_when_turned(features, obeyed, np.arange(sides), int(azimuths.max()) + 1)


def turned_figure(run: Run, which: int) -> float:
    """The change of identity among turned pairs (0), or the share of pairs that are turned as asked (1)."""
    return kept_when_turned(run.folder)[which]


def critic_right(run: Run) -> float:
    """The critic's accuracy over the second half of training: at 0.5 it is beaten and has nothing to teach."""
    log = read_log(run.stage_folder(len(run.plan.stages)) / "log.jsonl")
    return float(np.mean([line["critic/accuracy"] for line in log[len(log) // 2 :]]))


def sample_fid(run: Run) -> float:
    """FID of samples: poses as the data have them, z from its prior."""
    count = images(run)
    if not count:
        return chains.NOTHING
    torch.manual_seed(mix(run.plan.seed, "samples"))
    with torch.inference_mode():
        parts = [as_stored(run.chain.sample(100)[1][-1]) for _ in range(count // 100)]
    return chains.fid_of(run, np.concatenate(parts))


def images(run: Run) -> int:
    """How many images FID is taken over: none at smoke scale, whose data have few objects."""
    return 200 if len(run.data) > 1_000 else 0


MEASURES: dict[str, Callable[[Run], float]] = {
    "identity": identity_change,
    "identity-data": partial(
        identity_change, features=identity.features_of_data
    ),  # what the network itself cannot ignore
    "variety": variety,
    "identity-batch": partial(identity_change, features=identity.features_as_one_batch),
    "variety-batch": partial(variety, features=identity.features_as_one_batch),
    "pixels": pixel_change,
    "turned": partial(turned_figure, which=0),
    "turned-share": partial(turned_figure, which=1),
    "pose": pose_obeyed,
    "pose-sides": partial(pose_obeyed, sides=2),
    "pose-data": pose_of_data,
    "fid": sample_fid,
    "critic": critic_right,
    **{
        f"identity-{part:g}": partial(identity_change, features=partial(identity.features_of_model, part=part))
        for part in POINTS
    },
}
COLUMNS = {
    "identity": ("identity change", 3),
    "identity-data": ("the data's own", 3),
    "turned": ("identity change of pairs turned as asked", 3),
    "turned-share": ("share of pairs turned as asked", 2),
    "variety": ("variety, data = 1", 2),
    "identity-batch": ("identity change, each z a batch", 3),
    "variety-batch": ("variety, each z a batch", 2),
    "pose": ("pose as asked", 2),
    "pose-sides": ("or its opposite", 2),
    "pose-data": ("the data's own", 2),
    "pixels": ("share of pixels' variance", 3),
    "fid": ("FID of samples", 0),
    "critic": ("critic is right", 2),
}


def turned_images(run: Run) -> dict[str, NDArray[Any]]:
    """y where there is one, and some identities, as the azimuth goes round."""
    azimuths, elevations = (run.data.column(name) for name in POSE)
    steps = np.linspace(0, azimuths.max(), 10)
    table = np.stack([steps, np.full(len(steps), np.median(elevations))], axis=1).astype(np.float32)
    labels = torch.from_numpy(table).to(run.device)
    torch.manual_seed(mix(run.plan.seed, "turned"))
    rows: dict[str, NDArray[Any]] = {}
    for number in range(SHOWN):
        one = draws_of(priors(run.chain.stages[-1]).prior(1))["z"]
        outputs = decode_in_poses(run, labels, {"z": one.expand(len(labels), -1)})
        if len(outputs) > 1:
            rows.setdefault("y", as_stored(outputs[0]))
        rows[f"z {number + 1}"] = as_stored(outputs[-1])
    return rows
