"""Metrics of a run: one encoding of the data, then every metric that was asked for."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid import metrics
from unbraid.errors import InputError, unknown
from unbraid.evaluation.identifiability import identifiability
from unbraid.evaluation.stages import (
    MEASURES,
    OF_RUNS,
    by_inception,
    check_measures,
    conditioning_scores,
    downstream_scores,
    identity_score,
    refusal,
)
from unbraid.methods.labelled.parted_vae import PartedVAEModel
from unbraid.metrics.keys import WITHOUT
from unbraid.metrics.score import Score
from unbraid.runs.chain import Chain
from unbraid.runs.codes import CodeTable, choose_rows
from unbraid.training.batches import as_stored, mix
from unbraid.util.files import read_json, write_json
from unbraid.util.progress import Steps

if TYPE_CHECKING:
    from unbraid.runs.directory import Run

RECONSTRUCTED_ROWS = 10_000
FIRST = ("mig", "factor_score")  # of a table, for a first report
ERRORS, FEATURES = ("l1", "l2"), ("fid", "kid")


@runtime_checkable
class HasLikelihood(Protocol):
    """A method with an explicit p(x | z): its ELBO can be reported."""

    def nll_rows(self, x: Tensor) -> Tensor:
        """−log p(x | z) at a draw of q(z | x), for each observation, [b]."""


def evaluate(
    run: Run,
    names: Sequence[str] | None = None,
    *,
    show: bool = True,
    inception: Path | None = None,
    lpips: Path | None = None,
    images: int = 1000,
) -> dict[str, Any]:
    """Compute the metrics that metrics.json does not hold yet, and return all that it then holds.

    Left out, `names` are the few of a first report. `all` is everything that the run allows, without FID and KID
    unless the file of the Inception network is given: they take a quarter of a second for each image. Identity change
    reads that network's features where the file is given, else pixels. Where an encoder reads labels, scores of its
    codes and reconstructions come twice: with the labels, and as «without-labels/mig» and so on without them; M1 to M4
    are taken without, because a label would say what a picture does not.
    """
    path = run.folder / "metrics.json"
    results: dict[str, Any] = read_json(path) if path.is_file() else {}
    if names is None:
        names = [*(FIRST if run.data.factor_info else ()), *(ERRORS if reconstructing(run) else ())]
    chosen = possible(run, inception) if list(names) == ["all"] else known(names)
    missing = [name for name in chosen if not is_there(name, results, inception if run.data.is_image else None)]
    check_measures(run, chosen)
    began = time.monotonic()
    scores: dict[str, Score] = {}
    reads_labels = run.chain.needs_labels
    for labels in (True, False) if reads_labels and works_without_labels(run) else (True,):
        found = table_scores(run, [name for name in missing if name in metrics.SUITE], show, labels=labels)
        found |= error_scores(run, [name for name in missing if name in ERRORS], show, labels=labels)
        if "downstream_by_stage" in missing:
            found |= downstream_scores(run, show, labels=labels)
        if any(name in FEATURES for name in missing):
            from unbraid.evaluation.inception import feature_scores

            wanted = [name for name in missing if name in FEATURES]
            found |= feature_scores(run, wanted, inception, images, show, labels=labels)
        if "lpips" in missing:
            from unbraid.evaluation.lpips import perceptual_scores

            found |= perceptual_scores(run, lpips, images, show, labels=labels)
        scores |= {name if labels else f"{WITHOUT}{name}": score for name, score in found.items()}
    if refusal(run, "identifiability") is None:  # always: it takes no time
        scores |= {"identifiability": identifiability_score(run)}
    if "class_accuracy" in missing:
        from unbraid.evaluation.classes import class_scores

        scores |= class_scores(run)
    if "conditioning" in missing:
        scores |= conditioning_scores(run, show)
    if "identity_change" in missing:
        scores |= {"identity_change": identity_score(run, inception, images, show)}
    results |= {name: score.to_json() for name, score in scores.items()}
    seconds = results.get("_", {}).get("seconds", 0.0) + time.monotonic() - began
    results["_"] = {"seed": run.plan.seed, "rows": len(run.encode(show=show).rows), "seconds": seconds}
    results["_"] |= {"labels_at_test": True} if reads_labels else {}
    write_json(path, results)
    return results


def is_there(name: str, results: Mapping[str, Any], inception: Path | None) -> bool:
    """Whether a metric is computed; where the Inception network is given, identity change by pixels does not count."""
    if name == "identity_change" and inception is not None:
        return by_inception(results.get(name, {}))
    return name in results or any(key.startswith(f"{name}/") for key in results)


def evaluate_table(path: Path, names: Sequence[str], *, seed: int = 0, show: bool = True) -> dict[str, Any]:
    """Metrics of a table of codes and factors that any model has written."""
    table = metrics.load_table(path)
    chosen = None if list(names) == ["all"] else known(names)
    with Steps("metrics", len(chosen or metrics.SUITE), show=show) as bar:
        scores = metrics.suite(table, metrics=chosen, seed=seed, progress=advance(bar))
    return {name: score.to_json() for name, score in scores.items()}


def known(names: Sequence[str]) -> list[str]:
    """The names, each of which must be a metric."""
    for name in names:
        if name not in (*metrics.METRICS, *OF_RUNS):
            raise unknown("metric", name, {*metrics.METRICS, *OF_RUNS, "all"})
    if "udr" in names:
        raise InputError("udr compares several models: call unbraid.metrics.udr with the codes of each of them.")
    return list(names)


def possible(run: Run, inception: Path | None) -> list[str]:
    """Every metric that this run allows."""
    from unbraid.evaluation.classes import labelled_variables

    table = run.encode(show=False)
    names = [name for name in metrics.SUITE if table.factor_names or metrics.METRICS[name].needs in NEEDS_NO_FACTORS]
    if "log_var" not in table.arrays:
        names = [name for name in names if "log-variances" not in metrics.METRICS[name].needs]
    if not run.stage(1).config.standard_prior:
        names = [name for name in names if name != "elbo_terms"]
    if not any(size == 2 for size in table.arrays["factor_sizes"]):
        names = [name for name in names if name != "attribute_classification"]
    names += ERRORS if reconstructing(run) else ()
    names += [name for name in MEASURES if refusal(run, name) is None]
    names += ["class_accuracy"] if isinstance(run.stage(1), PartedVAEModel) and labelled_variables(run) else []
    if inception is not None and run.data.is_image:
        names += FEATURES
    return names


NEEDS_NO_FACTORS = ("codes", "means, log-variances")


def works_without_labels(run: Run) -> bool:
    """Whether an encoder that reads labels finds codes without them: not where the codes are the labels."""
    return not any(config.codes_are_labels for config, _ in run.plan.stages)


def identifiability_score(run: Run) -> Score:
    """Condition (iv) for the prior of stage 1: the condition number of L, and whether L has full rank."""
    found = identifiability(run)
    return Score(found.condition_number, None, {"holds": found.holds, **dataclasses.asdict(found)})


def table_scores(run: Run, names: Sequence[str], show: bool, *, labels: bool = True) -> dict[str, Score]:
    """Metrics of codes and factors; data without factors have none, which is said rather than guessed."""
    if not names:
        return {}
    table = run.encode(labels=labels, show=show)
    lacking = [name for name in names if metrics.METRICS[name].needs not in NEEDS_NO_FACTORS]
    if lacking and not table.factor_names:
        raise InputError(f"{run.data.name} has no factors, which {', '.join(lacking)} would need; ask for l1 and l2.")
    scores: dict[str, Score] = {}
    if "elbo_terms" in names:
        if not run.stage(1).config.standard_prior:
            name = run.plan.stages[0][0].name
            raise InputError(f"elbo_terms takes the prior of the codes to be standard normal, which {name}'s is not.")
        losses = row_losses(run, table.rows, show)
        terms = metrics.elbo_terms(table.codes, needs_log_var(table.arrays), seed=run.plan.seed, reconstruction=losses)
        scores |= {f"elbo_terms/{term}": score for term, score in terms.items()}
    with Steps("metrics", len(names), show=show) as bar:
        scores |= metrics.suite(
            steering_codes(run, table),
            table.factors if table.factor_names else None,
            metrics=[name for name in names if name != "elbo_terms"],
            kinds=[str(kind) for kind in table.arrays["factor_kinds"]],
            names=table.factor_names,
            sizes=[float(size) for size in table.arrays["factor_sizes"]],
            log_vars=None if run.chain.stages[-1].config.replaces_codes else table.arrays.get("log_var"),
            seed=run.plan.seed,
            progress=advance(bar),
        )
    return scores


def steering_codes(run: Run, table: CodeTable) -> NDArray[np.float32]:
    """The codes that the model is steered by: stage 1's, or what a last stage has in their place (c, then its z)."""
    if not run.chain.stages[-1].config.replaces_codes:
        return table.codes
    own: NDArray[np.float32] = table.arrays[f"stage-{len(run.plan.stages)}/codes"]
    return own[:, : table.codes.shape[1]]


def needs_log_var(arrays: Any) -> NDArray[np.float32]:
    """The log-variances of Gaussian codes, which the ELBO's terms need."""
    if "log_var" not in arrays:
        raise InputError("elbo_terms needs Gaussian codes, which this method does not have.")
    return arrays["log_var"]  # type: ignore[no-any-return]


def row_losses(run: Run, rows: NDArray[np.int64], show: bool) -> NDArray[np.float32] | None:
    """−log p(x | z) of each row under stage 1, where it has a likelihood."""
    method = run.stage(1)
    if not isinstance(method, HasLikelihood):
        return None
    torch.manual_seed(mix(run.plan.seed, "elbo"))
    with torch.inference_mode():
        parts = [method.nll_rows(x).cpu().numpy() for x, _ in run.batches(rows, "likelihoods", show=show)]
    return np.concatenate(parts)


def error_scores(run: Run, names: Sequence[str], show: bool, *, labels: bool = True) -> dict[str, Score]:
    """Reconstruction errors of the final output, and of every stage before it as «stage-1/l2» and so on."""
    if not names:
        return {}
    if not reconstructing(run):
        method = run.plan.stages[-1][0].name
        raise InputError(f"{' and '.join(names)} need reconstructions, which {method} does not make: ask for fid.")
    rows = choose_rows(len(run.data), RECONSTRUCTED_ROWS, run.plan.seed)
    originals, stages = run.data.observations[rows], outputs(run, rows, show, labels=labels)
    return {
        stage_name(name, number, len(stages)): metrics.METRICS[name].function(
            originals, stages[number - 1], seed=run.plan.seed
        )
        for name in names
        for number in reconstructing(run)
    }


def reconstructing(run: Run) -> list[int]:
    """The stages whose output is a reconstruction. Of GANs and flows it is a draw: they have no L1 or L2."""
    return [number for number, stage in enumerate(run.chain.stages, 1) if stage.config.reconstructs]


def outputs(
    run: Run, rows: NDArray[np.int64], show: bool, *, labels: bool = True, chain: Chain | None = None
) -> list[NDArray[Any]]:
    """What each stage makes of these rows; of the run's own chain, or of another one for the same data."""
    torch.manual_seed(mix(run.plan.seed, "outputs"))
    batches, chain = run.batches(rows, "reconstructing", labels=labels, show=show), chain or run.chain
    parts = [[as_stored(output) for output in chain.reconstruct(x, given)] for x, given in batches]
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def stage_name(metric: str, number: int, stages: int) -> str:
    """How the metric of an earlier stage's output is called."""
    return metric if number == stages else f"stage-{number}/{metric}"


def advance(bar: Steps) -> Callable[[str, int, int], None]:
    """A callback that moves the bar."""

    def report(name: str, done: int, total: int) -> None:
        bar.total = total
        bar.advance(done, note=name)

    return report
