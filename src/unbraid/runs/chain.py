"""Stages that build on one another, used like a single method."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import torch
from torch import Tensor

from unbraid.core import Condition, Decodes, Draws, Encodes, HasPrior, LearnsPrior, Method, Posterior
from unbraid.errors import InputError

Codes = dict[str, Tensor]


@dataclass(frozen=True)
class Chain:
    """Trained stages in order; each later one is given what the earlier ones make of the observation.

    A chain of one stage is that stage. Nothing here trains: gradients are off.
    """

    stages: Sequence[Method]

    @property
    def needs_labels(self) -> bool:
        """Whether encoding reads labels."""
        return any(stage.config.encoder_needs_labels for stage in self.stages)

    @property
    def device(self) -> torch.device:
        """Where the stages compute; inputs are moved there."""
        tensors = (tensor for stage in self.stages for tensor in (*stage.parameters(), *stage.buffers()))
        return next(tensors).device

    @torch.inference_mode()
    def encode(self, x: Tensor, labels: Tensor | None = None, *, sample: bool = False) -> list[dict[str, Posterior]]:
        """The posteriors of every stage. The last stage decodes nothing, so it may be one that only encodes.

        Args:
            x: observations as networks see them, [b, …].
            labels: [b, factor], NaN where unknown, for encoders that read them.
            sample: make y for the next stage from a draw of the codes, not from their means.
        """
        return self._pass(x, labels, sample, decode_last=False)[0]

    @torch.inference_mode()
    def reconstruct(self, x: Tensor, labels: Tensor | None = None, *, sample: bool = False) -> list[Tensor]:
        """What each stage makes of the observations: y first, x̂ last.

        A stage that does not reconstruct (a GAN, a flow) makes a draw: its codes come from their prior.
        """
        return self._pass(x, labels, sample, drawn=True)[1]

    @torch.inference_mode()
    def decode(self, codes: Sequence[Mapping[str, Tensor]]) -> list[Tensor]:
        """What each stage makes of its codes and of the output before it."""
        outputs: list[Tensor] = []
        moved = [{key: value.to(self.device) for key, value in own.items()} for own in codes]
        for number, (stage, own) in enumerate(zip(self.stages, moved, strict=True)):
            inputs = with_earlier_codes(stage, own, moved[number - 1] if number else {})
            outputs.append(decodes(stage).decode(inputs, outputs[-1] if outputs else None))
        return outputs

    @torch.inference_mode()
    def decode_last(self, codes: Mapping[str, Tensor], y: Tensor) -> Tensor:
        """What the last stage makes of its codes and of any y; codes of the stage before go under `given`."""
        return decodes(self.stages[-1]).decode(codes, y)

    @torch.inference_mode()
    def sample(self, n: int, *, learned: bool = True) -> tuple[list[Codes], list[Tensor]]:
        """Codes of every stage drawn from their priors, and what each stage makes of them.

        Later stages that have learned p(z | y) draw from it, or with `learned=False` from N(0, 1) as in the paper.
        """
        codes: list[Codes] = []
        outputs: list[Tensor] = []
        for stage in self.stages:
            y = outputs[-1] if outputs else None
            codes.append(drawn_codes(stage, n, y if learned else None))
            outputs.append(decodes(stage).decode(with_earlier_codes(stage, codes[-1], codes[-2] if outputs else {}), y))
        return codes, outputs

    @torch.inference_mode()
    def condition(self, x: Tensor, labels: Tensor | None, kind: Condition) -> tuple[Tensor, Tensor]:
        """What a next stage is trained on: y and, [b, code], the last codes that it was made from."""
        _, outputs, codes = self._pass(x, labels, kind != "mean")
        if kind == "observation":
            last = self.stages[-1]
            if not isinstance(last, Draws):
                raise InputError(f"{type(last).__name__} draws no observations.")  # plans are checked for it
            earlier = codes[-2] if len(codes) > 1 else {}
            y = last.sample_x(with_earlier_codes(last, codes[-1], earlier), outputs[-2] if len(outputs) > 1 else None)
            return y, flat(codes[-1])
        return outputs[-1], flat(codes[-1])

    def _pass(
        self, x: Tensor, labels: Tensor | None, sample: bool, *, drawn: bool = False, decode_last: bool = True
    ) -> tuple[list[dict[str, Posterior]], list[Tensor], list[Codes]]:
        posteriors: list[dict[str, Posterior]] = []
        outputs: list[Tensor] = []
        codes: list[Codes] = []
        x, labels = x.to(self.device), None if labels is None else labels.to(self.device)
        for number, stage in enumerate(self.stages, 1):
            y = outputs[-1] if outputs else None
            # A stage without an encoder knows no more of its codes than their prior.
            q = stage.prior(len(x)) if knows_prior_only(stage) else encodes(stage).encode(x, y, labels)
            posteriors.append(q)
            codes.append(draws_of(q) if sample else means(q))
            if number == len(self.stages) and not decode_last:
                break
            if drawn and not stage.config.reconstructs:
                codes[-1] = codes[-1] | drawn_z(stage, len(x))
            own = with_earlier_codes(stage, codes[-1], codes[-2] if outputs else {})
            outputs.append(decodes(stage).decode(own, y))
        return posteriors, outputs, codes


def knows_prior_only(method: Method) -> TypeGuard[HasPrior]:
    """Whether the method has a prior over its codes and no encoder."""
    return isinstance(method, HasPrior) and not isinstance(method, Encodes)


def with_earlier_codes(stage: Method, own: Mapping[str, Tensor], earlier: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """A stage's codes and, if it uses them, those of the stage before under the key `given`."""
    return {**own, "given": flat(earlier)} if stage.config.uses_codes else own


def priors(method: Method) -> HasPrior:
    """The method as one with a prior, or an error that says that it has none."""
    if not isinstance(method, HasPrior):
        raise InputError(f"{type(method).__name__} has no prior over its codes, so it cannot be sampled from.")
    return method


def encodes(method: Method) -> Encodes:
    """The method as one that encodes, or an error that says that it does not."""
    if not isinstance(method, Encodes):
        raise InputError(f"{type(method).__name__} has no encoder, so it finds no codes for observations.")
    return method


def decodes(method: Method) -> Decodes:
    """The method as one that decodes, or an error that says that it does not."""
    if not isinstance(method, Decodes):
        raise InputError(f"{type(method).__name__} has no decoder, so it makes no observations from codes.")
    return method


def drawn_z(stage: Method, n: int) -> Codes:
    """z of a stage that does not reconstruct, for n observations, from its prior."""
    return {"z": priors(stage).prior(n)["z"].rsample()}


def has_learned_prior(stage: Method) -> bool:
    """Whether the stage has a p(z | y) to draw from."""
    return isinstance(stage, LearnsPrior) and stage.prior_rows > 0


def drawn_codes(stage: Method, n: int, y: Tensor | None) -> Codes:
    """Codes for n observations: given y [n, …], from p(z | y) if the stage has learned it, else from its prior."""
    if y is not None and isinstance(stage, LearnsPrior) and stage.prior_rows > 0:
        return stage.draw_given(y)
    return draws_of(priors(stage).prior(n))


def draws_of(posteriors: Mapping[str, Posterior]) -> Codes:
    """A draw of every group of codes."""
    return {key: posterior.rsample() for key, posterior in posteriors.items()}


def means(posteriors: Mapping[str, Posterior]) -> Codes:
    """The mean code of every group."""
    return {key: posterior.mean for key, posterior in posteriors.items()}


def columns(posteriors: Mapping[str, Posterior]) -> list[str]:
    """A name for every code of a stage: z1, z2, … or, where codes are given variables, theirs."""
    return [name for key, q in posteriors.items() for name in _names(key, q)]


def _names(key: str, q: Posterior) -> Sequence[str]:
    numbered = [f"{key}{number + 1}" for number in range(q.mean.shape[1])]
    return getattr(q, "names", numbered)


def bounds(posteriors: Mapping[str, Posterior]) -> list[tuple[float, float]]:
    """The range that each code may take, infinite where there is no limit."""
    free = (-math.inf, math.inf)
    return [pair for q in posteriors.values() for pair in getattr(q, "bounds", [free] * q.mean.shape[1])]


def flat(codes: Mapping[str, Tensor]) -> Tensor:
    """All groups of codes side by side, [b, code]."""
    return torch.cat(list(codes.values()), dim=1)


def unflat(values: Tensor, like: Mapping[str, Tensor]) -> Codes:
    """The groups that `flat` put side by side."""
    parts = values.split([group.shape[1] for group in like.values()], dim=1)
    return dict(zip(like, parts, strict=True))
