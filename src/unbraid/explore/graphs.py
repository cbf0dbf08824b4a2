"""Stages as ONNX graphs: an encoder from observations to codes and a decoder from codes to observations."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from unbraid.core import Decodes, Encodes, Method, Posterior
from unbraid.errors import InputError
from unbraid.runs.chain import Chain, Codes, flat, knows_prior_only, means, unflat, with_earlier_codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx

OPSET = 18
ROWS = 3  # of the example that graphs are traced with: any number but 0 and 1, which torch takes for constants


class Encoder(nn.Module):
    """Observations to the mean codes of one stage, all groups side by side, and class probabilities if it has any."""

    def __init__(self, stage: Method) -> None:
        super().__init__()
        self.stage = stage

    def forward(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> tuple[Tensor, ...]:
        """Codes [b, code] and, of a classifier, probabilities [b, Σ classes]."""
        codes = flat(means(cast(Encodes, self.stage).encode(x, y, labels)))
        classify = getattr(self.stage, "classify", None)
        return (codes,) if classify is None else (codes, torch.cat(classify(x), dim=1))


class Decoder(nn.Module):
    """Codes of one stage, side by side, to observations as networks see them."""

    def __init__(self, stage: Method, groups: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.stage, self.groups = stage, dict(groups)

    def forward(self, codes: Tensor, y: Tensor | None = None, given: Tensor | None = None) -> Tensor:
        """The mean of p(x | codes): [b, channel, height, width] in [0, 1], or [b, value]."""
        own = unflat(codes, self.groups)
        return cast(Decodes, self.stage).decode(own if given is None else {**own, "given": given}, y)


@dataclass(frozen=True)
class StageGraphs:
    """The graphs of one stage; a stage without an encoder has a decoder alone, whose codes are drawn."""

    encoder: onnx.ModelProto | None
    decoder: onnx.ModelProto | None  # None where the model stays with a server, and is no graph
    groups: Mapping[str, int]  # how many codes each group has, in the order in which they stand side by side


@dataclass(frozen=True)
class Example:
    """What flows into one stage for a few observations: enough to trace its graphs, or to compare them."""

    x: Tensor
    y: Tensor | None
    labels: Tensor | None
    codes: Codes
    given: Tensor | None

    @property
    def encoder_inputs(self) -> dict[str, Tensor]:
        """By the names that the graph has for them."""
        return {key: v for key, v in {"x": self.x, "y": self.y, "labels": self.labels}.items() if v is not None}

    @property
    def decoder_inputs(self) -> dict[str, Tensor]:
        """By the names that the graph has for them."""
        pairs = {"codes": flat(self.codes), "y": self.y, "given": self.given}
        return {key: v for key, v in pairs.items() if v is not None}


@torch.no_grad()
def examples(chain: Chain, x: Tensor, labels: Tensor | None) -> list[Example]:
    """What every stage of the chain is given for these observations.

    `labels` None stands for new observations, of which no label is known: encoders then do without.
    """
    found: list[Example] = []
    y: Tensor | None = None
    for stage in chain.stages:
        read = labels if stage.config.encoder_needs_labels else None
        codes = means(posterior(stage, x, y, read))
        earlier = found[-1].codes if found else {}
        given = with_earlier_codes(stage, codes, earlier).get("given")
        found.append(Example(x, y, read, codes, given))
        y = Decoder(stage, codes)(**found[-1].decoder_inputs)
    return found


def posterior(stage: Method, x: Tensor, y: Tensor | None, labels: Tensor | None) -> dict[str, Posterior]:
    """What a stage knows of its codes: its posterior, or the prior of one that has no encoder."""
    if knows_prior_only(stage):
        return stage.prior(len(x))
    return cast(Encodes, stage).encode(x, y, labels)


def stage_graphs(stage: Method, example: Example, name: str) -> StageGraphs:
    """Both graphs of one stage, traced with the example; `name` is the method's, for refusals."""
    if not isinstance(stage, Decodes):
        raise InputError(f"{name} has no decoder, so there is nothing to export that makes observations.")
    outputs = ["codes", "classes"] if hasattr(stage, "classify") else ["codes"]
    decoder = traced(Decoder(stage, example.codes), example.decoder_inputs, ["x"], f"the decoder of {name}")
    encoder = None
    if not knows_prior_only(stage):
        encoder = traced(Encoder(stage), example.encoder_inputs, outputs, f"the encoder of {name}")
    return StageGraphs(encoder, decoder, {key: value.shape[1] for key, value in example.codes.items()})


def traced(module: nn.Module, inputs: Mapping[str, Tensor], outputs: Sequence[str], what: str) -> onnx.ModelProto:
    """The ONNX graph of a module, with any number of rows; what cannot be written as one is refused."""
    require_onnx()
    module.eval()
    # A copy of each: an example made in inference mode, or shared by two inputs, cannot be traced.
    example = {key: value[:ROWS].detach().clone().contiguous() for key, value in inputs.items()}
    rows = torch.export.Dim("batch", min=1, max=1 << 20)
    try:
        with quiet():
            program = torch.onnx.export(
                module,
                kwargs=example,
                dynamo=True,
                opset_version=OPSET,
                input_names=list(example),
                output_names=list(outputs),
                dynamic_shapes={key: {0: rows} for key in example},
                verbose=False,
            )
    except torch.onnx.errors.OnnxExporterError as error:
        reason = str(error.__cause__ or error).strip().splitlines()[0]
        raise InputError(f"{what} cannot be written as ONNX ({reason}); use it from Python instead.") from error
    if program is None:
        raise InputError(f"{what} cannot be written as ONNX; use it from Python instead.")
    return program.model_proto


def require_onnx() -> None:
    """The packages that graphs are written with, or how to get them."""
    try:
        import onnx
        import onnxscript
    except ImportError as error:
        raise InputError(f"exporting needs {error.name}: pip install 'unbraid[export]'.") from error
    del onnx, onnxscript


@contextmanager
def quiet() -> Iterator[None]:
    """Without the exporter's own talk: its steps, and warnings about packages that nothing here uses."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "torch.export", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def session(model: onnx.ModelProto) -> Any:
    """The graph ready to run with onnxruntime, on one thread."""
    try:
        import onnxruntime
    except ImportError as error:
        raise InputError(f"checking an export needs {error.name}: pip install 'unbraid[export]'.") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
