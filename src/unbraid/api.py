"""What people import: `fit` trains a run, `open` opens one, and `Run` is what both give."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.core import MethodConfig
from unbraid.data.factor_data import FactorData
from unbraid.data.held_out import HeldOut
from unbraid.data.label_budget import LabelBudget
from unbraid.data.load import load as load_data
from unbraid.data.own.signals import shaped_signals
from unbraid.errors import DataMissing, InputError
from unbraid.evaluation import classes, pictures
from unbraid.evaluation.evaluate import evaluate
from unbraid.evaluation.measure import FEATURE_PRECISION, MeasureOptions
from unbraid.evaluation.scores_file import kept_scores
from unbraid.evaluation.verdict import write_verdict
from unbraid.explore import sharing
from unbraid.explore.traversal import move_codes
from unbraid.report import write_report
from unbraid.report.animation import Traversal
from unbraid.report.notebook import run_html, run_line
from unbraid.runs.budget import Budget
from unbraid.runs.codes import CodeTable
from unbraid.runs.count_scales import with_own_total
from unbraid.runs.decoding import decode_codes
from unbraid.runs.directory import ENCODE_BATCH, ENCODED_ROWS, RunDirectory
from unbraid.runs.fit import train_run
from unbraid.runs.new_data import factors_of, read_new
from unbraid.runs.records import check_environment
from unbraid.runs.request import Request, prepare
from unbraid.training.batches import as_stored
from unbraid.training.machine import Machine
from unbraid.util.seeds import mix


class Run(RunDirectory):
    """A run directory with what people do with a trained model: encode, decode, look, score, report.

    Example:
        >>> import tempfile
        >>> from unbraid import methods
        >>> from unbraid.data import load
        >>> traces = load("pendulum", n=40)
        >>> vae = methods.VAE(likelihood="gaussian", latents=3, width=0.05)
        >>> run = fit(traces, vae, steps=2, out=f"{tempfile.mkdtemp()}/run", show=False)
        >>> run.encode(show=False).codes.shape, run.reconstruct(traces)[-1].shape
        ((40, 3), (40, 100))
    """

    def encode(
        self,
        x: Any = None,
        *,
        labels: bool | NDArray[Any] = True,
        rows: int | None = ENCODED_ROWS,
        show: bool = True,
    ) -> CodeTable:
        """The codes of the data set, computed once and kept; or of new observations.

        Args:
            x: new observations in raw units: arrays (bytes, floats in [0, 1], one or many), paths, folders, tables,
                pictures, DataFrames; left out, the data set.
            labels: for encoders that read labels. Of the data set: whether they may (without, they do what they can
                do for new observations). Of new observations: what is known, [n, factor], NaN for gaps.
            rows: of a larger data set, how many observations to encode, chosen at random.
            show: whether to show progress.

        Returns:
            Codes beside factors, which every metric reads.
        """
        if x is not None:
            found = read_new(self, x)
            known = found.labels_for(self) if labels is True else labels if isinstance(labels, np.ndarray) else None
            info = factors_of(self) if found.factors is not None else ()
            return self.codes_of(found.observations, known, names=found.names, factors=found.factors, info=info)
        if isinstance(labels, np.ndarray):
            raise InputError("labels are known of the data set's own observations: pass true or false, or give x too.")
        return self.codes(labels=labels, rows=rows, show=show)

    def decode(self, codes: Any) -> list[NDArray[Any]]:
        """What each stage makes of codes: y first, x̂ last; images as bytes, vectors in their own units.

        Args:
            codes: [n, code] of the first stage, a list with an array for each stage, what `encode` gives, or a
                DataFrame with its columns. A later stage that is given none draws its codes if it has learned to, and
                takes the mean of their prior otherwise.
        """
        return [self._raw(made) for made in decode_codes(self, codes)]

    def reconstruct(self, x: Any, *, labels: NDArray[Any] | None = None) -> list[NDArray[Any]]:
        """What each stage makes of observations: y first, x̂ last; images as bytes, vectors in their own units.

        Of counts these are rates.

        Args:
            x: observations, as for `encode`.
            labels: [n, factor] for encoders that read them, NaN where unknown; given controls cannot do without.
        """
        torch.manual_seed(mix(self.plan.seed, "reconstruct"))  # GANs and flows draw
        found = read_new(self, x)
        batches = self.new_batches(found.observations, found.labels_for(self) if labels is None else labels)
        parts = [[as_stored(y) for y in self.chain.reconstruct(batch, known)] for batch, known in batches]
        made = [np.concatenate(outputs) for outputs in zip(*parts, strict=True)]
        return [self._raw(with_own_total(self, output, found.observations)) for output in made]

    def sample(self, n: int, *, seed: int | None = None, learned: bool = True) -> list[NDArray[Any]]:
        """New observations, as every stage makes them of codes that are drawn: y first, x̂ last.

        Args:
            n: how many.
            seed: the same seed makes the same observations; the run's, if none is given.
            learned: a later stage that has learned which z belong to a y draws from that; if False, from N(0, 1), as
                in the paper.
        """
        torch.manual_seed(mix(self.plan.seed if seed is None else seed, "sample"))
        counts = [min(ENCODE_BATCH, n - start) for start in range(0, n, ENCODE_BATCH)]
        parts = [[as_stored(made) for made in self.chain.sample(count, learned=learned)[1]] for count in counts]
        return [self._raw(np.concatenate(outputs)) for outputs in zip(*parts, strict=True)]

    def traverse(
        self,
        x: Any = None,
        *,
        row: int | None = None,
        stage: int = 1,
        steps: int = 9,
        latents: Sequence[str] | str | None = None,
        labels: NDArray[Any] | None = None,
    ) -> Traversal:
        """What every stage from `stage` on makes of one observation as each code of that stage is moved.

        Args:
            x: observations, as for `encode`; the first is the one that is moved. Left out, one of the data set.
            row: which one, by its place in the data set; the first that the report shows, if left out.
            stage: whose codes are moved, from 1.
            steps: how many values each code takes over the range that the data set's codes have.
            latents: which codes, by column or by the name they were given ("z1,z3"); all, if left out.
            labels: see `reconstruct`.

        Returns:
            For every stage from `stage` on an array [code, step, …]; `.save("traversal.gif")` writes an animation.
        """
        made = move_codes(self, x, row=row, stage=stage, steps=steps, latents=latents, labels=labels)
        original = None if made.original is None else self._raw(made.original)
        return replace(made, outputs=tuple(self._raw(output) for output in made.outputs), original=original)

    def classify(self, x: Any) -> list[NDArray[np.float32]]:
        """q(c | x) for each discrete variable of a method that finds classes, [n, value]."""
        return classes.classify(self, read_new(self, x).observations)

    def transfer(self, content: Any, style: Any) -> NDArray[Any]:
        """[content, style, …]: each of `content` with all but its class taken from each of `style`."""
        made = classes.transfer(self, read_new(self, content).observations, read_new(self, style).observations)
        return self._raw(made)

    def _raw(self, made: NDArray[Any]) -> NDArray[Any]:
        """What a stage made, in the units of the raw data."""
        if self.is_image:
            return made
        how = self.preprocessing
        raw = how.raw(made)
        return raw if how.signal is None else shaped_signals(raw, how.signal, how.layout)

    def evaluate(
        self,
        names: str | Sequence[str] | None = None,
        *,
        show: bool = True,
        inception: Path | None = None,
        lpips: Path | None = None,
        images: int = 1000,
        rows: int = 10_000,
        feature_precision: str = FEATURE_PRECISION,
    ) -> dict[str, Any]:
        """Scores by name, kept in metrics.json; see `unbraid.evaluation.evaluate`."""
        names = [names] if isinstance(names, str) else names
        options = MeasureOptions(inception, lpips, images, rows, show, feature_precision=feature_precision)
        return evaluate(self, names, options)

    def __repr__(self) -> str:
        if not (self.folder / "config.json").is_file():
            return f"Run({str(self.folder)!r}: not begun)"
        return run_line(self.folder)

    def _repr_html_(self) -> str:
        """What notebooks show: the verdict, reconstructions and scores, as far as they have been computed."""
        return run_html(self.folder)

    def verdict(self) -> list[tuple[str, str]]:
        """What there is to know of this run in plain sentences, each with its level: good, note or bad.

        They are kept in verdict.json and stand at the top of the page.
        """
        return [(sentence.level, sentence.text) for sentence in write_verdict(self)]

    def report(self) -> Path:
        """Write report.html from the files of the run, and return its path.

        Without the training data the page shows what the run holds already.
        """
        with suppress(DataMissing):
            self.codes(show=False)
            pictures.write_pictures(self)
            if (self.folder / "metrics.json").exists() and not kept_scores(self):
                self.evaluate(show=False)  # what stands there is of other weights
        check_environment(self.folder)
        return write_report(self.folder)

    def explore(self) -> Any:
        """The page with sliders as a widget for notebooks; `unbraid explore RUN` opens the same page in a browser."""
        from unbraid.explore.widget import Explorer  # needs the notebook extra

        return Explorer(self)


def fit(
    data: FactorData | str | Path,
    method: MethodConfig | str | Sequence[MethodConfig | str] | None = None,
    *,
    steps: int | Sequence[int] | None = None,
    minutes: float | Budget | None = None,
    seed: int = 0,
    labels: LabelBudget | str | int | None = None,
    held_out: HeldOut | float | None = None,
    out: str | Path | None = None,
    machine: Machine | None = None,
    show: bool = True,
    command: str | None = None,
) -> Run:
    """Train one method, or several stages in order, and return the run.

    What the directory `out` already holds of this very run is kept: finished stages are skipped, an unfinished one
    goes on where it stopped. A stage that another run beside it has finished is reused.

    Args:
        data: a data set, the name of one, or a path.
        method: a configuration, or the name of a method with options that suit the data, as `unbraid fit` has them;
            several are stages in order. Left out, what the table of tried chains names for such data
            (`unbraid.methods.budgets`): for images β-TCVAE, then MS-VAE.
        steps: for all stages, or for each; left out, 20,000, or those of the table.
        minutes: in place of steps, a budget: a few steps are measured, then those are chosen that leave time for codes,
            scores and the page. What was chosen stands in config.json.
        seed: of weights, batches and noise.
        labels: how many labels methods may see (256, "0.5%", a `LabelBudget`); all, if left out.
        held_out: the part of the observations that no training sees, or a `HeldOut` that groups them. Left out, a
            tenth of your own data if there are 50 or more, and nothing of built-in and published data.
        out: the run directory; `runs/…` by default.
        machine: where to compute.
        show: whether to show progress.
        command: the command that asked for it, for the record.

    Returns:
        The run, which is its directory with what people do with a trained model.

    Example:
        >>> import tempfile
        >>> from unbraid import methods
        >>> run = fit("pendulum", methods.VAE(likelihood="gaussian", width=0.05), steps=1,
        ...           out=f"{tempfile.mkdtemp()}/run", show=False)
        >>> [config.title for config, _ in run.plan.stages]
        ['VAE']
    """
    if not isinstance(data, FactorData):
        data = load_data(data)
    ready = prepare(data, Request(method, steps, minutes, seed, labels, out, machine, held_out), show=show)
    run = Run(ready.folder, ready.plan, data)
    train_run(run, ready.machine, show=show, command=command, budget=ready.budget)
    return run


def open(
    folder: str | Path,
    data: FactorData | None = None,
    more: Sequence[type[MethodConfig]] = (),
    *,
    device: str | torch.device | None = None,
) -> Run:
    """Open a run directory; or a shared run at `https://…` or `hf://organisation/name`.

    Args:
        folder: the run directory, or where it is shared.
        data: its data set, where that did not come from `load`.
        more: methods of your own that it was trained with.
        device: where to compute; left out, a GPU if there is one.

    Returns:
        The run, ready to encode, decode and report, with its training data or without.
    """
    place = sharing.fetch_run(str(folder)) if sharing.is_address(folder) else folder
    return Run.open(place, data, more, device=device)
