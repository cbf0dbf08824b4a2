"""What a later stage adds, and what it keeps: measures of trained chains (MS-VAE, §4 and appendix F)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid import metrics
from unbraid.batches import as_stored, mix
from unbraid.chain import (
    Chain,
    Codes,
    drawn_codes,
    drawn_z,
    draws_of,
    has_learned_prior,
    knows_prior_only,
    means,
    priors,
    with_given,
)
from unbraid.codes import choose_rows
from unbraid.core import HasPrior
from unbraid.errors import InputError
from unbraid.methods.conditional import ConditionalVAE
from unbraid.metrics.score import Score
from unbraid.progress import Steps

if TYPE_CHECKING:
    from unbraid.run import Run

MEASURES = ("conditioning", "downstream_by_stage", "identity_change")
OF_RUNS = (*MEASURES, "identifiability")  # what some runs do not allow
CONDITIONING_ROWS = 10_000
POSES = 16
BATCH = 256
INCEPTION = "inception"


def refusal(run: Run, name: str) -> str | None:
    """Why a run does not allow a measure, in one sentence; None if it does."""
    stages = run.chain.stages
    if name == "identifiability":
        first = run.plan.stages[0][0].name
        return None if isinstance(stages[0], ConditionalVAE) else f"{first} has no conditional prior to identify."
    if name == "identity_change":
        lacking = next((stage for stage in stages if not isinstance(stage, HasPrior)), None)
        if lacking is not None:
            return f"identity_change draws codes, and {type(lacking).__name__} has no prior to draw from."
        if len(stages) < 2 and set(moved_groups(run.chain)) == set(priors(stages[0]).prior(1)):
            return "identity_change moves the codes of stage 1 and keeps all others; this run has no others."
        return None
    if len(stages) < 2:
        return f"{name} compares later stages with the first; this run has one stage."
    if name == "conditioning" and run.plan.stages[0][0].codes_are_labels:
        return (
            f"conditioning says nothing after {run.plan.stages[0][0].name}, whose codes are the labels whatever a "
            "later stage makes of them, so that each counts 1 in M1 to M4; ask for identity_change."
        )
    if name in ("conditioning", "downstream_by_stage") and stages[-1].replaces_codes:
        return (
            f"{name} asks what is added to stage 1's codes; {run.plan.stages[-1][0].name} has codes of its own in "
            "their place, so score these (mig, dci)."
        )
    if name == "downstream_by_stage" and not run.data.factor_info:
        return f"{run.data.name} has no factors, which downstream_by_stage would need; ask for identity_change."
    if name == "downstream_by_stage" and not encoded_later(run):
        return "downstream_by_stage reads the codes of later stages; no later stage of this run has an encoder."
    return None


def check_measures(run: Run, names: Sequence[str]) -> None:
    """Refuse measures that the run does not allow, before any work is done."""
    for name in names:
        why = refusal(run, name) if name in OF_RUNS else None
        if why is not None:
            raise InputError(why)


def conditioning_scores(run: Run, show: bool) -> dict[str, Score]:
    """M1–M4 of the last stage against stage 1's codes (MS-VAE, §4); noise in place of y is N(0, 1), as in the paper.

    So is noise in place of z (M3), unless the stage has learned p(z | y): M3 is then with draws of that, and the
    paper's is beside it, under `normal` in its details.
    """
    rows = choose_rows(len(run.data), CONDITIONING_ROWS, run.plan.seed)
    chain, first = run.chain, Chain([run.stage(1)])
    torch.manual_seed(mix(run.plan.seed, "conditioning"))
    found: list[list[NDArray[np.float32]]] = []
    # Where stage 1 reads labels, without them: what a label says would be found in any picture, noise too.
    reads = run.stage(1).encoder_needs_labels
    for x, labels in run.batches(rows, "conditioning", labels=not reads, show=show):

        def code(observations: Tensor, labels: Tensor = labels) -> NDArray[np.float32]:
            posteriors = first.encode(observations, labels)[0]
            return torch.cat([q.mean for q in posteriors.values()], dim=1).cpu().numpy()

        codes = [means(q) for q in chain.encode(x, labels)]
        if not chain.stages[-1].reconstructs:
            codes[-1] |= drawn_z(chain.stages[-1], len(x))
        *_, y, restored = chain.decode(codes)
        noise = {key: torch.randn_like(value) for key, value in codes[-1].items()}
        without_z = [chain.decode([*codes[:-1], noise])[-1]]
        if has_learned_prior(chain.stages[-1]):
            without_z.insert(0, chain.decode([*codes[:-1], drawn_codes(chain.stages[-1], len(x), y)])[-1])
        # A stage that starts from the codes in place of y is given noise in their place too.
        earlier = {key: torch.randn_like(value) for key, value in codes[-2].items()}
        without_y = chain.decode_last(with_given(chain.stages[-1], codes[-1], earlier), torch.randn_like(y))
        found.append([code(image) for image in (x, y, restored, without_y, *without_z)])
    arrays = [np.concatenate(part) for part in zip(*found, strict=True)]
    of_x, of_y, of_restored, of_noise, *of_draws = arrays
    terms = metrics.conditioning(of_x, of_y, of_restored, of_draws[0], of_noise, seed=run.plan.seed)
    if len(of_draws) > 1:
        normal = metrics.code_information(of_x, of_draws[1], seed=run.plan.seed, replicates=0).value
        details = {"z": "learned", "normal": normal, **terms["M3"].details}
        terms["M3"] = replace(terms["M3"], details=details)
    return {f"conditioning/{name}": score for name, score in terms.items()}


def encoded_later(run: Run) -> list[int]:
    """The later stages that find codes: of the others only the prior is known, the same for every observation."""
    return [number for number, stage in enumerate(run.chain.stages, 1) if number > 1 and not knows_prior_only(stage)]


def downstream_scores(run: Run, show: bool, *, labels: bool = True) -> dict[str, Score]:
    """Accuracy of a probe that reads the factors off C (stage 1), Z (all later stages) and both (figure 6)."""
    table = run.encode(labels=labels, show=show)
    z = np.concatenate([table.arrays[f"stage-{number}/codes"] for number in encoded_later(run)], axis=1)
    kinds = [str(kind) for kind in table.arrays["factor_kinds"]]
    found = metrics.downstream_by_stage(
        table.codes, z, table.factors, kinds=kinds, names=table.factor_names, seed=run.plan.seed
    )
    return {f"downstream_by_stage/{name}": score for name, score in found.items()}


def identity_score(run: Run, inception: Path | None, images: int, show: bool) -> Score:
    """The share of variance that moves with c while all other codes stay, over some `images` of drawn codes.

    Of pool features of the Inception network where its file is given, else of the plain pixels or values.
    """
    name, features = feature_function(run, inception)
    identities = max(2, images // POSES)
    with Steps("identity", identities * POSES, show=show) as bar:

        def watched(x: Tensor) -> Tensor:
            found = features(x)
            bar.advance(bar.step + len(x))
            return found

        made = traversed_features(run.chain, watched, identities=identities, poses=POSES, seed=run.plan.seed)
    score = metrics.identity_change(made, seed=run.plan.seed)
    return replace(score, details={"features": name, "moved": moved_groups(run.chain), **score.details})


def feature_function(run: Run, inception: Path | None) -> tuple[str, Callable[[Tensor], Tensor]]:
    """What observations are compared by, and its name: `inception`, `pixels` or, of vectors, `values`."""
    if inception is None or not run.data.is_image:
        return "pixels" if run.data.is_image else "values", lambda x: x.flatten(1)
    from unbraid.inception import features, find_network, load_network

    network, _ = load_network(find_network(inception))
    return INCEPTION, lambda x: torch.from_numpy(features(network, as_stored(x), "", False))


def by_inception(score: Mapping[str, Any]) -> bool:
    """Whether a score of metrics.json was made from Inception features."""
    return bool(score.get("details", {}).get("features") == INCEPTION)


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
