"""A run as a directory: where its files are, what was planned, and its trained stages. It knows nothing above it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.core import Method, MethodConfig, build_method
from unbraid.data.factor_data import Factor, FactorData
from unbraid.data.preprocessing import Preprocessing
from unbraid.data.spec import DataSpec
from unbraid.errors import InputError
from unbraid.runs import label_access
from unbraid.runs.chain import Chain, flat, means
from unbraid.runs.codes import CodeTable, choose_rows, encode_batches, factor_columns
from unbraid.runs.held_out import held_out_rows
from unbraid.runs.observations import check_observations
from unbraid.runs.opening import read_plan, training_data_set
from unbraid.runs.plan import Plan
from unbraid.runs.preprocessing import read_preprocessing
from unbraid.runs.products import checked_weights, kept_codes
from unbraid.runs.records import read_stage
from unbraid.training import checkpoint
from unbraid.training.batches import TrainingData, as_network_input
from unbraid.util.files import file_digest, write_arrays
from unbraid.util.names import read_names
from unbraid.util.progress import Steps
from unbraid.util.schema import digest, from_json

ENCODE_BATCH = 256
ENCODED_ROWS = 50_000  # of a larger data set, a random part of this size is encoded unless more are asked for


class RunDirectory:
    """A run directory and the trained stages in it."""

    def __init__(
        self, folder: Path, plan: Plan, data: FactorData | None = None, device: str | torch.device | None = None
    ) -> None:
        self.folder, self.plan = folder, plan
        automatic = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(automatic if device is None else device)  # where codes and pictures are computed
        self._data = data
        self._stages: dict[int, Method] = {}
        self._weights: dict[int, str] = {}  # their digests

    @classmethod
    def open(
        cls,
        folder: str | Path,
        data: FactorData | None = None,
        more: Sequence[type[MethodConfig]] = (),
        *,
        device: str | torch.device | None = None,
    ) -> Self:
        """An existing run.

        Args:
            folder: the run directory.
            data: its data set, where that did not come from `load`.
            more: methods of your own that it was trained with.
            device: where to compute: "cpu", "cuda", …; left out, a GPU if there is one.
        """
        folder = Path(folder)
        return cls(folder, read_plan(folder, more), data, device)

    @cached_property
    def data(self) -> FactorData:
        """The data set, loaded again by name and checked against the one that the run was trained on."""
        return training_data_set(self.folder, self.plan, self._data)

    @property
    def is_image(self) -> bool:
        """Whether observations are images (else vectors)."""
        return len(self.plan.data["shape"]) == 3

    @cached_property
    def preprocessing(self) -> Preprocessing:
        """How raw values became the observations of the data set; what new ones go through as well."""
        return read_preprocessing(self.folder, self.plan.data)

    # Stages

    @property
    def chain(self) -> Chain:
        """All stages, trained, ready to encode and decode."""
        return self.chain_before(len(self.plan.stages) + 1)

    def chain_before(self, number: int) -> Chain:
        """The trained stages before stage `number`."""
        return Chain([self.stage(earlier) for earlier in range(1, number)])

    def config(self, number: int) -> MethodConfig:
        """The configuration of stage `number` (from 1)."""
        return self.plan.stages[number - 1][0]

    def stage_folder(self, number: int) -> Path:
        """Where stage `number` (from 1) stands."""
        return self.folder / f"stage-{number}"

    def stage_record(self, number: int) -> Mapping[str, Any]:
        """What stage.json says of a stage; empty where it is not there."""
        return read_stage(self.stage_folder(number))

    def is_finished(self, number: int) -> bool:
        """Whether this stage is trained, with the weights of this very plan."""
        return self.stage_record(number).get("key") == self.plan.key(number)

    def stage(self, number: int) -> Method:
        """The trained method of one stage, in evaluation mode."""
        if number not in self._stages:
            if not self.is_finished(number):
                raise InputError(f"stage {number} of {str(self.folder)!r} is not finished: repeat its command.")
            self._stages[number] = self._load(number, checkpoint.WEIGHTS)
        return self._stages[number]

    def forget(self, number: int) -> None:
        """Read a stage again when it is next asked for: its files have changed."""
        self._stages.pop(number, None)
        self._weights.pop(number, None)

    def stage_after(self, number: int, step: int) -> Method:
        """The method of one stage as it was after this step, for steps whose weights were kept."""
        kept = checkpoint.kept(self.stage_folder(number))
        if step not in kept:
            known = ", ".join(map(str, kept)) or "none"
            where = f"stage {number} of {str(self.folder)!r}"
            raise InputError(f"{where} kept no weights after step {step}; kept: {known}.")
        return self._load(number, kept[step].name)

    def _load(self, number: int, weights: str) -> Method:
        folder = self.stage_folder(number)
        tensors = checked_weights(folder, self.stage_record(number), self.plan.key(number), weights)
        with torch.random.fork_rng(devices=()):  # a caller's seed must not depend on what was loaded before
            method = build_method(self.config(number), self.spec(number))
        if not checkpoint.fits(method, tensors):
            raise InputError(
                f"{str(folder / weights)!r} holds weights of another network than {self.config(number).name} with "
                f"these options; delete {str(folder)!r} and repeat the command to train the stage again."
            )
        method.load_state_dict(tensors)
        method.to(device=self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        return method.eval().requires_grad_(False)

    def spec(self, number: int) -> DataSpec:
        """What stage `number` knew of the data: as its record says, or from the data for runs made before it did."""
        record = self.stage_record(number)
        return from_json(DataSpec, record["spec"]) if "spec" in record else self.training_data(number).spec

    # What products are made from

    def made_from(self, number: int) -> str:
        """What identifies anything that is made with stages 1 to `number`: their plan and their very weights."""
        for earlier in range(1, number + 1):
            if earlier not in self._weights:
                recorded = (self.stage_record(earlier).get("files") or {}).get(checkpoint.WEIGHTS)
                path = self.stage_folder(earlier) / checkpoint.WEIGHTS
                self._weights[earlier] = file_digest(path) if recorded is None else recorded["sha256"]
        return digest([self.plan.key(number), *(self._weights[earlier] for earlier in range(1, number + 1))])

    @property
    def key(self) -> str:
        """What identifies products of the whole run: codes, pictures, scores."""
        return self.made_from(len(self.plan.stages))

    def is_current(self, key: str | None) -> bool:
        """Whether a product with this key was made from the weights that are here.

        Products of runs that were made before there were keys have none; neither have such runs digests of weights.
        """
        if key is not None:
            return key == self.key
        stages = range(1, len(self.plan.stages) + 1)
        return all(self.is_finished(number) and self.stage_record(number).get("files") is None for number in stages)

    # What stages are trained on

    def training_data(
        self,
        number: int,
        y: NDArray[np.uint8] | NDArray[np.float32] | None = None,
        codes: NDArray[np.float32] | None = None,
    ) -> TrainingData:
        """What stage `number` may see: labels only if it learns from them, and of those only the budget's."""
        config = self.config(number)
        if config.uses_codes and codes is None:
            codes = np.empty((0, self.codes_before(number)), np.float32)
        rows = label_access.rows_with_codes(self.plan, number, self.visible_labels)
        if (drawn := self.data.train_rows) is not None:
            rows = drawn if rows is None else drawn[np.isin(drawn, rows)]
        if not config.uses_labels or self.plan.labels is None:
            return TrainingData(self.data, np.empty((len(self.data), 0)), y, codes, (), rows, None, self.held_out_rows)
        known = (self.label_factors, rows, label_access.required_columns(self.plan, config) or None)
        return TrainingData(self.data, self.visible_labels, y, codes, *known, self.held_out_rows)

    def codes_before(self, number: int) -> int:
        """How many codes the stage before stage `number` has."""
        one = np.arange(1)
        return flat(means(self.chain_before(number).encode(self.observations(one), self.labels(one))[-1])).shape[1]

    @cached_property
    def visible_labels(self) -> NDArray[np.float64]:
        """The labels that training is shown, [n, factor]; NaN elsewhere."""
        return label_access.visible_labels(self.plan, self.data, self.held_out_rows)

    @cached_property
    def held_out_rows(self) -> NDArray[np.int64]:
        """The rows that no stage is trained on, in order; empty where nothing is held out."""
        return held_out_rows(self.plan, self.data)

    @property
    def label_factors(self) -> tuple[Factor, ...]:
        """The factors whose labels the run's methods may see."""
        return label_access.label_factors(self.plan)

    # Observations as networks see them

    def observations(self, rows: NDArray[np.int64]) -> Tensor:
        """Rows of the data set as networks see them."""
        return as_network_input(torch.from_numpy(np.ascontiguousarray(self.data.observations[rows])), self.device)

    def labels(self, rows: NDArray[np.int64], *, shown: bool = False) -> Tensor:
        """The labels of these rows, for encoders that read them: all there are, or those `shown` in training."""
        plan = self.plan.labels
        table = self.visible_labels if shown else self.data.factors[:, [] if plan is None else plan.columns(self.data)]
        return torch.from_numpy(table[rows].astype(np.float32)).to(self.device)

    def batches(
        self, rows: NDArray[np.int64], title: str, *, labels: bool = True, show: bool = True
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Observations and labels (NaN, if `labels` are not to be read) of these rows, batch by batch, with a bar."""
        with Steps(title, len(rows), show=show) as bar:
            for start in range(0, len(rows), ENCODE_BATCH):
                batch = rows[start : start + ENCODE_BATCH]
                known = self.labels(batch)
                yield self.observations(batch), known if labels else torch.full_like(known, torch.nan)
                bar.advance(start + len(batch))

    def new_batches(self, x: NDArray[Any], labels: NDArray[Any] | None = None) -> Iterator[tuple[Tensor, Tensor]]:
        """Observations that are not of the data set, batch by batch, with what is known of their labels."""
        known = torch.from_numpy(label_access.labels_of_new(self.plan, self.label_factors, len(x), labels))
        return zip(self.inputs(x), known.to(self.device).split(ENCODE_BATCH), strict=True)

    def inputs(self, x: NDArray[Any]) -> Iterator[Tensor]:
        """Observations that are not of the data set as networks see them, batch by batch."""
        check_observations(self.plan, x)
        for start in range(0, len(x), ENCODE_BATCH):
            batch = torch.from_numpy(np.ascontiguousarray(x[start : start + ENCODE_BATCH]))
            yield as_network_input(batch, self.device)

    # Codes

    def codes(self, *, labels: bool = True, rows: int | None = ENCODED_ROWS, show: bool = True) -> CodeTable:
        """The codes of the data set (of at most `rows` observations, chosen at random), computed once and kept.

        Encoders that read labels are given those of the data set, or with `labels=False` none.
        """
        chosen = choose_rows(int(self.plan.data["n"]), rows, self.plan.seed)
        labels = not self.chain.needs_labels or labels  # weights are read, and so checked, even if the codes are there
        path = self.folder / ("codes.npz" if labels else "codes-without-labels.npz")
        kept = kept_codes(path, self.is_current)
        if kept is not None and np.array_equal(kept["rows"], chosen):
            return CodeTable(kept, read_names(self.folder))
        arrays = encode_batches(self.chain, self.batches(chosen, "encoding", labels=labels, show=show))
        arrays |= {"rows": chosen, "key": np.array(self.key)}
        arrays |= {"held_out": np.isin(chosen, self.held_out_rows)} if self.plan.held_out is not None else {}
        arrays |= factor_columns(self.data.factors[chosen], self.data.factor_info)
        write_arrays(path, arrays)
        return CodeTable(arrays, read_names(self.folder))

    def codes_of(
        self,
        x: NDArray[Any],
        labels: NDArray[Any] | None = None,
        *,
        names: Sequence[str] = (),
        factors: NDArray[np.float64] | None = None,
        info: tuple[Factor, ...] = (),
    ) -> CodeTable:
        """The codes of observations that are not of the data set, stored as its own are.

        Args:
            x: the observations.
            labels: what encoders may read, [n, factor], NaN where unknown.
            names: of the observations.
            factors: what is known of them, [n, factor], to stand beside the codes.
            info: what these are factors of.
        """
        arrays = encode_batches(self.chain, self.new_batches(x, labels)) | {"rows": np.arange(len(x))}
        arrays |= factor_columns(np.zeros((len(x), 0)) if factors is None else factors, info)
        arrays |= {"names": np.array(names, dtype=str)} if names else {}
        return CodeTable(arrays, read_names(self.folder))
