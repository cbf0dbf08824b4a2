"""Stages that build on one another, used like a single method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from unbraid.core import Decodes, Encodes, Method, Posterior
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
        return any(stage.encoder_needs_labels for stage in self.stages)

    @torch.inference_mode()
    def encode(self, x: Tensor, labels: Tensor | None = None, *, sample: bool = False) -> list[dict[str, Posterior]]:
        """The posteriors of every stage; y for the next stage comes from codes' means, or from one draw of them."""
        return self._pass(x, labels, sample)[0]

    @torch.inference_mode()
    def reconstruct(self, x: Tensor, labels: Tensor | None = None, *, sample: bool = False) -> list[Tensor]:
        """What each stage makes of the observations: y first, x̂ last."""
        return self._pass(x, labels, sample)[1]

    @torch.inference_mode()
    def decode(self, codes: Sequence[Mapping[str, Tensor]]) -> list[Tensor]:
        """What each stage makes of its codes and of the output before it."""
        outputs: list[Tensor] = []
        for stage, own in zip(self.stages, codes, strict=True):
            outputs.append(decodes(stage).decode(own, outputs[-1] if outputs else None))
        return outputs

    @torch.inference_mode()
    def decode_last(self, codes: Mapping[str, Tensor], y: Tensor) -> Tensor:
        """What the last stage makes of its codes and of any y."""
        return decodes(self.stages[-1]).decode(codes, y)

    def _pass(
        self, x: Tensor, labels: Tensor | None, sample: bool
    ) -> tuple[list[dict[str, Posterior]], list[Tensor]]:
        posteriors: list[dict[str, Posterior]] = []
        outputs: list[Tensor] = []
        for stage in self.stages:
            y = outputs[-1] if outputs else None
            q = encodes(stage).encode(x, y, labels)
            codes = {key: posterior.rsample() if sample else posterior.mean for key, posterior in q.items()}
            posteriors.append(q)
            outputs.append(decodes(stage).decode(codes, y))
        return posteriors, outputs


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


def means(posteriors: Mapping[str, Posterior]) -> Codes:
    """The mean code of every group."""
    return {key: posterior.mean for key, posterior in posteriors.items()}


def columns(posteriors: Mapping[str, Posterior]) -> list[str]:
    """A name for every code of a stage: z1, z2, …"""
    return [f"{key}{number + 1}" for key, q in posteriors.items() for number in range(q.mean.shape[1])]


def flat(codes: Mapping[str, Tensor]) -> Tensor:
    """All groups of codes side by side, [b, code]."""
    return torch.cat(list(codes.values()), dim=1)


def unflat(values: Tensor, like: Mapping[str, Tensor]) -> Codes:
    """The groups that `flat` put side by side."""
    parts = values.split([group.shape[1] for group in like.values()], dim=1)
    return dict(zip(like, parts, strict=True))
