"""Whether an object stays itself while stage 1's codes move (MS-VAE, appendix F)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid import metrics
from unbraid.core import HasPrior
from unbraid.evaluation import inception as inception_features
from unbraid.evaluation.measure import Measure, MeasureOptions
from unbraid.metrics import Score
from unbraid.runs.chain import Chain, Codes, draws_of, priors
from unbraid.runs.directory import RunDirectory
from unbraid.training.batches import as_stored
from unbraid.util.progress import Steps
from unbraid.util.seeds import mix

POSES = 16
BATCH = 256
INCEPTION = "inception"


def compute(run: RunDirectory, names: Sequence[str], options: MeasureOptions, labels: bool) -> dict[str, Score]:
    """The share of variance that moves with c while all other codes stay, over some images of drawn codes.

    Of pool features of the Inception network where its file is given, else of the plain pixels or values.
    """
    name, features = feature_function(run, options.inception)
    identities = max(2, options.images // POSES)
    with Steps("identity", identities * POSES, show=options.show) as bar:

        def watched(x: Tensor) -> Tensor:
            found = features(x)
            bar.advance(bar.step + len(x))
            return found

        made = traversed_features(run.chain, watched, identities=identities, poses=POSES, seed=run.plan.seed)
    score = metrics.identity_change(made, seed=run.plan.seed)
    details = {"features": name, "moved": moved_groups(run.chain), **score.details}
    return {"identity_change": replace(score, details=details)}


def refusal(run: RunDirectory, name: str) -> str | None:
    """All codes must have a prior, and some must stay while others move."""
    stages = run.chain.stages
    lacking = next((stage for stage in stages if not isinstance(stage, HasPrior)), None)
    if lacking is not None:
        return f"identity_change draws codes, and {type(lacking).__name__} has no prior to draw from."
    if len(stages) < 2 and set(moved_groups(run.chain)) == set(priors(stages[0]).prior(1)):
        return "identity_change moves the codes of stage 1 and keeps all others; this run has no others."
    return None


def feature_function(run: RunDirectory, file: Path | None) -> tuple[str, Callable[[Tensor], Tensor]]:
    """What observations are compared by, and its name: `inception`, `pixels` or, of vectors, `values`."""
    if file is None or not run.is_image:
        return "pixels" if run.is_image else "values", lambda x: x.flatten(1)
    network, _ = inception_features.load_network(inception_features.find_network(file))
    return INCEPTION, lambda x: torch.from_numpy(inception_features.features(network, as_stored(x), "", False))


def is_current(score: Mapping[str, Any], options: MeasureOptions) -> bool:
    """Where the Inception network is given, a score of pixels does not count; vectors have no other."""
    used = (score.get("details") or {}).get("features")
    return options.inception is None or used in (INCEPTION, "values")


def moved_groups(chain: Chain) -> list[str]:
    """The codes that are traversed: the group `c` of stage 1 (given factors, classes), or all where there is none."""
    groups = list(priors(chain.stages[0]).prior(1))
    return ["c"] if "c" in groups else groups


@torch.inference_mode()
def traversed_features(
    chain: Chain,
    features: Callable[[Tensor], Tensor],
    *,
    identities: int = 100,
    poses: int = POSES,
    seed: int = 0,
    batch: int = BATCH,
) -> NDArray[np.float32]:
    """Features [identity, pose, feature] of what a chain makes as c moves and everything else stays.

    What c is, `moved_groups` says. Poses are drawn once and shared by all identities. A `batch` of as many images as
    there are poses holds those of one identity.
    """
    torch.manual_seed(mix(seed, "identity"))
    fixed, _ = chain.sample(identities)
    drawn = draws_of(priors(chain.stages[0]).prior(poses))
    moved = {key: drawn[key] for key in moved_groups(chain)}
    made = []
    for rows in torch.arange(identities * poses).split(batch):
        kept: list[Codes] = [{key: value[rows // poses] for key, value in group.items()} for group in fixed]
        kept[0] |= {key: value[rows % poses] for key, value in moved.items()}
        made.append(features(chain.decode(kept)[-1]).float().cpu())
    stacked: NDArray[np.float32] = torch.cat(made).unflatten(0, (identities, poses)).numpy()
    return stacked


MEASURE = Measure(("identity_change",), compute, refusal, reads_labels=False, is_current=is_current)
