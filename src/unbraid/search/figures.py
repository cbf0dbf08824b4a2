"""Figures of one trial: what can be known of a run without labels, and scores with them, on rows that all share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from unbraid import metrics
from unbraid.api import Run
from unbraid.data.factor_data import FactorData
from unbraid.errors import InputError
from unbraid.evaluation.evaluate import measure_of
from unbraid.evaluation.reconstruction import outputs, reconstructing
from unbraid.evaluation.table import row_losses
from unbraid.metrics import Table
from unbraid.metrics.usage import in_use
from unbraid.runs.chain import Chain
from unbraid.runs.codes import choose_rows, encode_batches, factor_columns
from unbraid.training.log import read_log
from unbraid.util.files import write_arrays

CODES = "shared-codes.npz"  # of a trial: codes of the observations that all trials of a search encode
ROWS = 5_000  # observations that codes are compared on
LOSS_ROWS = 2_000  # observations that the reconstruction and the ELBO are taken of
FREE = ("elbo", "reconstruction", "l2", "codes_used")  # what every trial has, as far as its method allows


def measure(run: Run, names: Sequence[str]) -> dict[str, float]:
    """Figures of a trained run, and the codes that UDR compares; NaN where one could not be computed.

    Args:
        run: a trained run.
        names: scores beyond those that need no labels: mig, dci, …

    Returns:
        Values by name.
    """
    codes = shared_codes(run)
    table = Table.from_arrays(codes, 1)
    figures = {"codes_used": float(in_use(table).sum())} | losses(run, codes)
    in_suite = [name for name in names if name in metrics.SUITE]
    scores = metrics.suite(table, metrics=in_suite, replicates=0) if in_suite else {}
    figures |= {name: scores[name].value if name in scores else float("nan") for name in in_suite}
    others = [name for name in names if name not in metrics.SUITE and name not in figures]
    if others:
        found = run.evaluate(others, show=False)
        figures |= {name: value_of(found.get(name)) for name in others}
    return figures


def shared_codes(run: Run, step: int | None = None) -> dict[str, NDArray[Any]]:
    """The codes of the same observations whatever the run's seed, beside their factors, kept in the run directory.

    Args:
        run: a trained run, or one that has kept weights after `step`.
        step: after which; the end of training, if left out.
    """
    rows = choose_rows(len(run.data), ROWS, 0)
    chain = run.chain_before(2) if step is None else Chain([run.stage_after(1, step)])
    arrays = encode_batches(chain, run.batches(rows, "", show=False))
    kept = {name: arrays[name] for name in ("codes", "columns", "information") if name in arrays}
    write_arrays(run.folder / codes_file(step), kept | {"rows": rows})
    return arrays | {"rows": rows} | factor_columns(run.data.factors[rows], run.data.factor_info)


def codes_file(step: int | None = None) -> str:
    """Where the shared codes of a trial are: at the end of training, or as they were after a step."""
    return CODES if step is None else f"shared-codes-{step:09d}.npz"


def losses(run: Run, codes: dict[str, NDArray[Any]]) -> dict[str, float]:
    """The reconstruction's −log p(x | z) and the ELBO of the first stage in nats, and the error of the last stage."""
    rows = choose_rows(len(run.data), LOSS_ROWS, 0)
    found: dict[str, float] = {}
    nll = row_losses(run, rows, False)
    if nll is not None:
        found["reconstruction"] = float(nll.mean())
        if "information" in codes and run.config(1).standard_prior:
            found["elbo"] = -found["reconstruction"] - float(codes["information"].sum())
    if len(run.plan.stages) in reconstructing(run):
        made = outputs(run, rows, False)[-1]
        found["l2"] = metrics.l2(run.data.observations[rows], made, replicates=0).value
    return found


def value_of(entry: Any) -> float:
    """The value of an entry of metrics.json; NaN where there is none."""
    value = entry.get("value") if isinstance(entry, dict) else None
    return float("nan") if value is None else float(value)


def check_measures(names: Sequence[str], data: FactorData) -> None:
    """Refuse a score that there is not, or that the data do not allow, before anything is trained."""
    for name in names:
        measure_of(name)
        if name in metrics.SUITE and "factors" in metrics.METRICS[name].needs and not data.factor_info:
            raise InputError(f"{data.name} has no factors, which {name} would need; choose --by udr.")


def seconds_of_training(folder: Path) -> float:
    """What all stages of a run took, by their logs: these count the time before an interruption too."""
    logs = [read_log(path) for path in sorted(folder.glob("stage-*/log.jsonl"))]
    return sum(float(log[-1]["seconds"]) for log in logs if log)
