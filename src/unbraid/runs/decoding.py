"""Observations from codes that people pass: of the first stage alone, of every stage, or as a table of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.core import HasPrior, Method
from unbraid.data.own.arrays import as_numbers
from unbraid.errors import InputError
from unbraid.metrics import stage_prefix
from unbraid.ops.posterior import Posterior
from unbraid.runs.chain import (
    Codes,
    columns,
    decodes,
    drawn_codes,
    has_learned_prior,
    means,
    unflat,
    with_earlier_codes,
)
from unbraid.runs.codes import CodeTable, distinct
from unbraid.runs.directory import ENCODE_BATCH, RunDirectory
from unbraid.training.batches import as_stored
from unbraid.util.lists import few
from unbraid.util.names import named_columns, read_names
from unbraid.util.seeds import mix

Given = list[NDArray[np.float32] | None]  # the codes of each stage, None where the stage must do without


def decode_codes(run: RunDirectory, codes: Any) -> list[NDArray[Any]]:
    """What every stage makes of these codes, stored as the data set's observations are.

    Args:
        run: a run; its training data need not be there.
        codes: [n, code] of the first stage (or one row of them); a list with an array for each stage; a `CodeTable`; a
            DataFrame or mapping with the columns that `encode` writes.
    """
    likes = code_groups(run)
    given = given_codes(run, codes, likes)
    count = len(given[0]) if given[0] is not None else 0
    torch.manual_seed(mix(run.plan.seed, "decode"))  # what a later stage is not given, it may draw
    parts = [
        [as_stored(made) for made in decode_part(run, [part(own, start) for own in given], likes)]
        for start in range(0, count, ENCODE_BATCH)
    ]
    return [np.concatenate(outputs) for outputs in zip(*parts, strict=True)]


def part(own: NDArray[np.float32] | None, start: int) -> Tensor | None:
    """A few rows of a stage's codes."""
    return None if own is None else torch.from_numpy(own[start : start + ENCODE_BATCH])


@torch.inference_mode()
def decode_part(
    run: RunDirectory, given: Sequence[Tensor | None], likes: Sequence[Mapping[str, Tensor]]
) -> list[Tensor]:
    """What every stage makes of its codes and of the output before it."""
    outputs: list[Tensor] = []
    before: Codes = {}
    for stage, own, like in zip(run.chain.stages, given, likes, strict=True):
        y = outputs[-1] if outputs else None
        codes = own_codes(stage, like, len(outputs[-1]), y) if own is None else unflat(own.to(run.device), like)
        outputs.append(decodes(stage).decode(with_earlier_codes(stage, codes, before), y))
        before = codes
    return outputs


def own_codes(stage: Method, like: Mapping[str, Tensor], n: int, y: Tensor | None) -> Codes:
    """Codes for a later stage that is given none: drawn for y if it has learned to, else its prior's mean, or zero."""
    if has_learned_prior(stage):
        return drawn_codes(stage, n, y)
    if isinstance(stage, HasPrior):
        return means(stage.prior(n))
    return {key: group.new_zeros(n, group.shape[1]) for key, group in like.items()}


def posteriors(run: RunDirectory) -> list[dict[str, Posterior]]:
    """What the stages make of a blank observation: which codes they have, known without any data."""
    blank = torch.zeros(1, *run.plan.data["shape"], device=run.device)
    return run.chain.encode(blank, torch.zeros(1, len(run.label_factors), device=run.device))


def code_groups(run: RunDirectory) -> list[Codes]:
    """The groups of codes of every stage, by example."""
    return [means(q) for q in posteriors(run)]


def given_codes(run: RunDirectory, codes: Any, likes: Sequence[Mapping[str, Tensor]]) -> Given:
    """The codes of each stage, checked."""
    stages = len(run.plan.stages)
    widths = [sum(group.shape[1] for group in like.values()) for like in likes]
    if isinstance(codes, CodeTable):
        given: list[Any] = [codes.arrays.get(f"{stage_prefix(number)}codes") for number in range(1, stages + 1)]
    elif isinstance(codes, Mapping) or hasattr(codes, "to_dict"):
        given = from_columns(run, {str(name): codes[name] for name in codes})
    elif isinstance(codes, list | tuple) and len(codes) and np.ndim(codes[0]) == 2:
        given = list(codes)
    else:
        given = [codes]
    if len(given) > stages:
        raise InputError(f"codes of {len(given)} stages were given, and the run has {stages}.")
    checked = [
        None if own is None else rows_of(own, width, number)
        for number, (own, width) in enumerate(zip(given, widths, strict=False), 1)
    ]
    checked += [None] * (stages - len(checked))
    if checked[0] is None:
        raise InputError("codes of the first stage are missing: give them as [n, code].")
    counts = {len(own) for own in checked if own is not None}
    if len(counts) > 1 or 0 in counts:
        raise InputError(f"every stage needs codes of as many observations, at least one, not {sorted(counts)}.")
    last = run.config(stages)
    if last.replaces_codes and checked[-1] is None:
        raise InputError(f"{last.name} has codes in place of the first stage's: give a list with codes for each stage.")
    return checked


def rows_of(own: Any, width: int, number: int) -> NDArray[np.float32]:
    """The codes of one stage as rows; one row may come alone."""
    values = as_numbers(own).astype(np.float32)
    rows = values[None] if values.ndim == 1 else values
    if rows.ndim != 2 or rows.shape[1] != width:
        raise InputError(f"codes of stage {number} must be [n, {width}], not of shape {list(values.shape)}.")
    if not np.isfinite(rows).all():
        raise InputError(f"codes of stage {number} hold NaN or infinite values: fill or remove these rows.")
    return rows


def from_columns(run: RunDirectory, table: Mapping[str, Any]) -> list[Any]:
    """The codes of each stage from columns under their names, given or plain; None for a later stage without any."""
    names, given = read_names(run.folder), list[Any]()
    for number, q in enumerate(posteriors(run), 1):
        prefix, plain = stage_prefix(number), columns(q)
        called = distinct(plain, named_columns(plain, names, number))
        found = [
            next((key for key in (prefix + a, prefix + b) if key in table), None)
            for a, b in zip(called, plain, strict=True)
        ]
        if number > 1 and all(key is None for key in found):
            given.append(None)
            continue
        if None in found:
            raise InputError(
                f"the codes have no column {prefix + called[found.index(None)]!r}, only {few(list(table))}; "
                "give a table as unbraid encode writes it."
            )
        try:
            given.append(np.stack([np.asarray(table[str(key)], dtype=np.float32) for key in found], axis=1))
        except ValueError:
            raise InputError(
                "the codes hold text or gaps where numbers are needed: fill or remove these rows."
            ) from None
    return given
