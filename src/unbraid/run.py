"""A run is a directory: what it holds, and what its trained stages make of observations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid import checkpoint, known_labels, methods
from unbraid.batches import TrainingData, as_network_input, as_stored, mix
from unbraid.between import made_by_earlier_stages
from unbraid.chain import Chain, flat, means
from unbraid.codes import CodeTable, choose_rows, code_table, encode_batches, factor_columns
from unbraid.config import from_json
from unbraid.core import Method, MethodConfig
from unbraid.data import load as load_data
from unbraid.data.base import FactorData
from unbraid.errors import InputError
from unbraid.files import read_json, write_arrays
from unbraid.labels import LabelPlan
from unbraid.plan import FORMAT, Plan
from unbraid.progress import Steps
from unbraid.tensors import read_tensors

ENCODE_BATCH = 256
ENCODED_ROWS = 50_000  # of a larger data set, a random part of this size is encoded unless more are asked for


class Run:
    """A run directory and the trained stages in it."""

    def __init__(self, folder: Path, plan: Plan, data: FactorData | None = None) -> None:
        self.folder, self.plan = folder, plan
        self._data = data
        self._stages: dict[int, Method] = {}

    @staticmethod
    def open(folder: str | Path, data: FactorData | None = None, more: Sequence[type[MethodConfig]] = ()) -> Run:
        """An existing run. Give its `data` where they did not come from `load`, and methods of your own in `more`."""
        folder = Path(folder)
        if not (folder / "config.json").is_file():
            raise InputError(f"{str(folder)!r} is not a run directory: it has no config.json.")
        saved = read_json(folder / "config.json")
        if saved.get("format") != FORMAT:
            raise InputError(f"{str(folder)!r} has format {saved.get('format')}; this version reads {FORMAT}.")
        stages = tuple((methods.restore(stage, more), int(stage["steps"])) for stage in saved["stages"])
        labels = from_json(LabelPlan, saved["labels"]) if "labels" in saved else None
        return Run(folder, Plan(saved["data"], stages, int(saved["seed"]), labels), data)

    @cached_property
    def data(self) -> FactorData:
        """The data set, loaded again by name and checked against the one that the run was trained on."""
        data, saved = self._data, self.plan.data
        if data is None:
            if saved["arguments"] is None:
                raise InputError(f"{saved['name']!r} was given as arrays: open the run with Run.open(folder, data=…).")
            data = load_data(saved["name"], **saved["arguments"])
        if data.fingerprint != saved["fingerprint"]:
            raise InputError(f"{data.name!r} is not what {str(self.folder)!r} was trained on: its content has changed.")
        return data

    @cached_property
    def device(self) -> torch.device:
        """Where codes and pictures are computed."""
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")

    @property
    def chain(self) -> Chain:
        """All stages, trained, ready to encode and decode."""
        return self.chain_before(len(self.plan.stages) + 1)

    def chain_before(self, number: int) -> Chain:
        """The trained stages before stage `number`."""
        return Chain([self.stage(earlier) for earlier in range(1, number)])

    def stage_folder(self, number: int) -> Path:
        """Where stage `number` (from 1) stands."""
        return self.folder / f"stage-{number}"

    def is_finished(self, number: int) -> bool:
        """Whether this stage is trained, with the weights of this very plan."""
        record = self.stage_folder(number) / "stage.json"
        return record.is_file() and read_json(record).get("key") == self.plan.key(number)

    def stage(self, number: int) -> Method:
        """The trained method of one stage, in evaluation mode."""
        if number not in self._stages:
            if not self.is_finished(number):
                raise InputError(f"stage {number} of {str(self.folder)!r} is not finished: repeat its command.")
            self._stages[number] = self._load(number, self.stage_folder(number) / checkpoint.WEIGHTS)
        return self._stages[number]

    def stage_after(self, number: int, step: int) -> Method:
        """The method of one stage as it was after this step, for steps whose weights were kept."""
        kept = checkpoint.kept(self.stage_folder(number))
        if step not in kept:
            known = ", ".join(map(str, kept)) or "none"
            where = f"stage {number} of {str(self.folder)!r}"
            raise InputError(f"{where} kept no weights after step {step}; kept: {known}.")
        return self._load(number, kept[step])

    def _load(self, number: int, weights: Path) -> Method:
        with torch.random.fork_rng(devices=()):  # a caller's seed must not depend on what was loaded before
            method = self.plan.stages[number - 1][0].build(self.training_data(number).spec)
        method.load_state_dict(read_tensors(weights)[0])
        method.to(device=self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        return method.eval().requires_grad_(False)

    def training_data(
        self,
        number: int,
        y: NDArray[np.uint8] | NDArray[np.float32] | None = None,
        codes: NDArray[np.float32] | None = None,
    ) -> TrainingData:
        """What stage `number` may see: labels only if it learns from them, and of those only the budget's."""
        config = self.plan.stages[number - 1][0]
        if config.uses_codes and codes is None:
            codes = np.empty((0, self.codes_before(number)), np.float32)
        rows = known_labels.rows_with_codes(self, number)
        if not config.uses_labels or self.plan.labels is None:
            return TrainingData(self.data, np.empty((len(self.data), 0)), y, codes, factors=(), rows=rows)
        info = self.plan.labels.info(self.data)
        required = known_labels.required_columns(self, config)
        return TrainingData(self.data, self.visible_labels, y, codes, info, rows, required or None)

    def codes_before(self, number: int) -> int:
        """How many codes the stage before stage `number` has."""
        one = np.arange(1)
        return flat(means(self.chain_before(number).encode(self.observations(one), self.labels(one))[-1])).shape[1]

    @cached_property
    def visible_labels(self) -> NDArray[np.float64]:
        """The labels that training is shown, [n, factor]; NaN elsewhere. The same whenever it is asked for."""
        if self.plan.labels is None:
            return np.empty((len(self.data), 0))
        return self.plan.labels.visible(self.data, self.plan.seed)

    def conditioning(
        self, number: int, *, show: bool = True
    ) -> tuple[NDArray[np.uint8] | NDArray[np.float32], NDArray[np.float32] | None]:
        """y for stage `number`, and the codes it was made from where the stage uses them: computed once and kept."""
        return made_by_earlier_stages(self, number, show)

    def observations(self, rows: NDArray[np.int64]) -> Tensor:
        """Rows of the data set as networks see them."""
        return as_network_input(torch.from_numpy(np.ascontiguousarray(self.data.observations[rows])), self.device)

    def labels(self, rows: NDArray[np.int64], *, shown: bool = False) -> Tensor:
        """The labels of these rows, for encoders that read them: all there are, or those `shown` in training."""
        plan = self.plan.labels
        table = self.visible_labels if shown else self.data.factors[:, [] if plan is None else plan.columns(self.data)]
        return torch.from_numpy(table[rows].astype(np.float32)).to(self.device)

    def encode(
        self,
        x: NDArray[Any] | None = None,
        *,
        labels: bool | NDArray[Any] = True,
        rows: int | None = ENCODED_ROWS,
        show: bool = True,
    ) -> CodeTable:
        """The codes of the data set (of at most `rows` observations, chosen at random), computed once and kept.

        Encoders that read labels are given those of the data set, or with `labels=False` none: that is what they can
        do for new observations. Given observations `x`, stored as the data set's are, their codes instead; their
        `labels`, where some are known, are an array [n, factor] with NaN for gaps.
        """
        if x is not None:
            arrays = encode_batches(self.chain, self.parts(x, labels if isinstance(labels, np.ndarray) else None))
            return code_table(arrays | {"rows": np.arange(len(x))} | factor_columns(np.zeros((len(x), 0)), ()))
        chosen = choose_rows(len(self.data), rows, self.plan.seed)
        if isinstance(labels, np.ndarray):
            raise InputError("labels are known of the data set's own observations: pass true or false, or give x too.")
        labels = labels or not self.chain.needs_labels
        path = self.folder / ("codes.npz" if labels else "codes-without-labels.npz")
        if path.is_file():
            with np.load(path, allow_pickle=False) as file:
                arrays = dict(file)
            if np.array_equal(arrays["rows"], chosen):
                return code_table(arrays)
        arrays = encode_batches(self.chain, self.batches(chosen, "encoding", labels=labels, show=show))
        arrays |= {"rows": chosen} | factor_columns(self.data.factors[chosen], self.data.factor_info)
        write_arrays(path, arrays)
        return code_table(arrays)

    def reconstruct(self, x: NDArray[Any], *, labels: NDArray[Any] | None = None) -> list[NDArray[Any]]:
        """What each stage makes of observations: y first, x̂ last, stored as the data set's are.

        `labels` [n, factor] are for encoders that read them, NaN where unknown; given controls cannot do without.
        """
        torch.manual_seed(mix(self.plan.seed, "reconstruct"))  # GANs and flows draw
        batches = self.parts(x, labels)
        parts = [[as_stored(y) for y in self.chain.reconstruct(batch, known)] for batch, known in batches]
        return [np.concatenate(outputs) for outputs in zip(*parts, strict=True)]

    def traverse(
        self, x: NDArray[Any], *, stage: int = 1, steps: int = 9, labels: NDArray[Any] | None = None
    ) -> list[NDArray[Any]]:
        """What every stage from `stage` on makes of the first observation of `x` as each code of that stage is moved.

        Each array is [code, step, …]; codes move over the range that the data set's codes have. For `labels` see
        `reconstruct`.
        """
        from unbraid.pictures import code_ranges, traversal

        base = [means(q) for q in self.chain.encode(*next(self.parts(x[:1], None if labels is None else labels[:1])))]
        return traversal(self.chain, base, stage, code_ranges(self.encode(), stage, steps))

    def evaluate(self, names: Sequence[str] | None = None, *, show: bool = True) -> dict[str, Any]:
        """Metrics by name, kept in metrics.json; see `unbraid.evaluate`."""
        from unbraid.evaluate import evaluate

        return evaluate(self, names, show=show)

    def report(self) -> Path:
        """Write report.html from the files of the run, and return its path."""
        from unbraid.pictures import write_pictures
        from unbraid.report import write_report

        self.encode(show=False)
        write_pictures(self)
        return write_report(self.folder)

    def explore(self) -> Any:
        """The page with sliders as a widget for notebooks; `unbraid explore RUN` opens the same page in a browser."""
        from unbraid.explore.widget import Explorer

        return Explorer(self)

    def batches(
        self, rows: NDArray[np.int64], title: str, *, labels: bool = True, show: bool = True
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Observations and labels (NaN, if `labels` are not to be read) of these rows, batch by batch, with a bar."""
        with Steps(title, len(rows), show=show) as bar:
            for start in range(0, len(rows), ENCODE_BATCH):
                batch = rows[start : start + ENCODE_BATCH]
                given = self.labels(batch)
                yield self.observations(batch), given if labels else torch.full_like(given, torch.nan)
                bar.advance(start + len(batch))

    def parts(self, x: NDArray[Any], labels: NDArray[Any] | None = None) -> Iterator[tuple[Tensor, Tensor]]:
        """Observations that are not of the data set, batch by batch, with what is known of their labels."""
        known = torch.from_numpy(known_labels.of_new(self, len(x), labels)).to(self.device)
        return zip(self.inputs(x), known.split(ENCODE_BATCH), strict=True)

    def inputs(self, x: NDArray[Any]) -> Iterator[Tensor]:
        """Observations that are not of the data set as networks see them, batch by batch."""
        check_observations(x, self.data)
        for start in range(0, len(x), ENCODE_BATCH):
            batch = torch.from_numpy(np.ascontiguousarray(x[start : start + ENCODE_BATCH]))
            yield as_network_input(batch, self.device)


def check_observations(x: NDArray[Any], data: FactorData) -> None:
    """Observations must look like those that the run was trained on."""
    expected = data.observations
    if not len(x):
        raise InputError("there are no observations: give at least one.")
    if x.shape[1:] != expected.shape[1:] or x.dtype != expected.dtype:
        raise InputError(
            f"observations must be {expected.dtype} of shape [n, {', '.join(map(str, expected.shape[1:]))}], "
            f"not {x.dtype} of shape {list(x.shape)}."
        )
