"""A mixture of Gaussians as a first stage: C is the component, Y its centre (MS-FLOW, appendix D)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from sklearn.mixture import GaussianMixture as ScikitMixture
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.core import Adam, Batch, DataSpec, Method, MethodConfig, Posterior, Terms, Update
from unbraid.ops import logit_space
from unbraid.ops.categorical import gumbel_like
from unbraid.ops.gaussian import log_prob
from unbraid.util.schema import option, with_default

LEAST_VARIANCE = 1e-4


@dataclass(frozen=True, kw_only=True)
class GaussianMixture(MethodConfig):
    """Gaussian mixture: fitted by EM before the first step, then refined by gradients of its log-density.

    Reference:
        MS-VAE, appendix D.

    Example:
        >>> GaussianMixture(components=10).batch_size
        256
    """

    name: ClassVar[str] = "gaussian-mixture"
    title: ClassVar[str] = "Gaussian mixture"
    paper: ClassVar[str] = "MS-VAE, D"
    when: ClassVar[str] = "As a first stage for data in a few clusters, before MS-FLOW; seconds to fit."
    components: int = option(10, "number of Gaussians, each with a variance for every value", least=1)
    em_rows: int = option(
        20_000, "observations that EM looks at, chosen at random; 0 leaves everything to gradients", least=0
    )
    em_iterations: int = option(100, "most iterations of EM", least=1)
    batch_size: int = with_default(MethodConfig, "batch_size", 256)
    adam: Adam = option(Adam(lr=1e-3), "optimiser of the refinement")

    def build(self, data: DataSpec) -> GaussianMixtureModel:
        """The mixture before EM."""
        return GaussianMixtureModel(self, data)


class GaussianMixtureModel(Method):
    """p(x) = Σₖ πₖ N(x; μₖ, σₖ²), in logit space for images."""

    config: GaussianMixture

    def __init__(self, config: GaussianMixture, data: DataSpec) -> None:
        super().__init__()
        self.config, self.shape, self.observations = config, data.shape, data.size
        size = (config.components, logit_space.dimension(data.shape))
        self.logits = nn.Parameter(torch.zeros(config.components))
        self.means = nn.Parameter(torch.randn(size))
        self.log_vars = nn.Parameter(torch.zeros(size))

    def prepare(self, x: Iterator[Tensor]) -> None:
        """Expectation–maximisation on rows chosen at random: the first ones of a grid would be one corner of it."""
        chosen = torch.zeros(self.observations, dtype=torch.bool)
        chosen[torch.randperm(self.observations)[: self.config.em_rows]] = True
        if int(chosen.sum()) < self.config.components:
            return
        found, start = [], 0
        for batch in x:
            kept = batch[chosen[start : start + len(batch)].to(batch.device)]
            found.append(logit_space.enter_noisily(kept).cpu())
            start += len(batch)
        em = ScikitMixture(
            self.config.components,
            covariance_type="diag",
            max_iter=self.config.em_iterations,
            reg_covar=LEAST_VARIANCE,
            random_state=int(torch.randint(2**31, ())),
        )
        em.fit(torch.cat(found).numpy())
        self._take(em)

    @torch.no_grad()
    def _take(self, em: Any) -> None:
        self.logits.copy_(torch.from_numpy(em.weights_).clamp_min(1e-12).log())
        self.means.copy_(torch.from_numpy(em.means_))
        self.log_vars.copy_(torch.from_numpy(em.covariances_).log())

    def log_joint(self, t: Tensor) -> Tensor:
        """log πₖ + log N(t; μₖ, σₖ²), [b, component]."""
        each = log_prob(t[:, None], self.means, self.log_vars)  # [b, component, value]
        return F.log_softmax(self.logits, 0) + each.sum(2)

    def log_density(self, x: Tensor) -> Tensor:
        """log p(x), [b], of observations dequantised anew."""
        return self.log_joint(logit_space.enter_noisily(x)).logsumexp(1)

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x)."""
        density = self.log_density(batch.x).mean()
        return Terms(-density, log_density=(-1.0, density))

    def updates(self) -> tuple[Update, ...]:
        """One step for all parameters."""
        trains = ("logits", "means", "log_vars")
        return (Update("mixture", self.loss, trains, self.config.adam, self.config.batch_size),)

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """q(c | x), exactly: which component an observation comes from."""
        return {"c": Component(F.log_softmax(self.log_joint(logit_space.enter(x)), 1), F.log_softmax(self.logits, 0))}

    def prior(self, n: int) -> dict[str, Posterior]:
        """Components by their weights."""
        log_weights = F.log_softmax(self.logits, 0)
        return {"c": Component(log_weights.expand(n, -1), log_weights)}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The centre of the component; between components, a weighted mean of their centres."""
        return logit_space.leave(self._weights(codes["c"]) @ self.means, self.shape)

    def sample_x(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """A draw from the component."""
        weights = self._weights(codes["c"])
        t = weights @ self.means
        return logit_space.leave(t + (0.5 * weights @ self.log_vars).exp() * torch.randn_like(t), self.shape)

    def _weights(self, c: Tensor) -> Tensor:
        shares = c.clamp_min(0)
        return shares / shares.sum(1, keepdim=True).clamp_min(1e-12)


@dataclass(frozen=True)
class Component:
    """A distribution over components; as codes, one-hot."""

    log_probabilities: Tensor  # [b, component]
    log_weights: Tensor  # [component], the prior

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """A one-hot code lies between 0 and 1."""
        return [(0.0, 1.0)] * len(self.log_weights)

    @property
    def mean(self) -> Tensor:
        """The likeliest component."""
        return self._one_hot(self.log_probabilities)

    def rsample(self) -> Tensor:
        """A component drawn; a choice has no gradient, and nothing here needs one."""
        return self._one_hot(self.log_probabilities + gumbel_like(self.log_probabilities))

    def kl_per_latent(self) -> Tensor:
        """KL to the prior, shared out over components so that no part is negative."""
        p, weights = self.log_probabilities.exp(), self.log_weights.exp()
        return p * (self.log_probabilities.clamp_min(-1e4) - self.log_weights) - p + weights

    def _one_hot(self, scores: Tensor) -> Tensor:
        return F.one_hot(scores.argmax(1), scores.shape[1]).to(scores.dtype)
