"""PartedVAE (Hajimiri et al. 2021): class-related codes u apart from class-independent codes z, from a few labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.core import Adam, Batch, DataSpec, Method, Posterior, Terms, Update
from unbraid.errors import InputError
from unbraid.methods.options import NetworkOptions, ObservedNetworks, check_likelihood, network_options
from unbraid.nets.attention import ClassAttention, MixtureModes
from unbraid.nets.stacks import Encoder, decoder
from unbraid.ops import likelihood
from unbraid.ops.categorical import Categorical, aggregate_kl, entropy
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.ops.masked import mean_where
from unbraid.ops.mixture import GaussianModes, PriorGaussian, kl_to_modes, moments, overlap
from unbraid.ops.schedules import linear
from unbraid.util.schema import option, with_default


@dataclass(frozen=True, kw_only=True)
class PartedVAE(ObservedNetworks):
    """PartedVAE: classes c by attention to class-related codes u, with the rest in codes z; few labels or none.

    Weights and capacities are the paper's for dSprites (table 6).

    Reference:
        Hajimiri et al. 2021, eq. 6 in the form of A.5.

    Example:
        >>> PartedVAE(classes=(10,)).class_latents
        1
    """

    name: ClassVar[str] = "parted-vae"
    title: ClassVar[str] = "PartedVAE"
    paper: ClassVar[str] = "Hajimiri et al. 2021"
    when: ClassVar[str] = (
        "Where there are classes, and few labels or none: it parts what depends on the class from what does not."
    )
    uses_labels: ClassVar[bool] = True
    standard_prior: ClassVar[bool] = False
    latents: int = option(5, "number of class-independent codes z", least=1)
    class_latents: int = option(1, "number of class-related codes u of each discrete variable", least=1)
    classes: tuple[int, ...] = option(
        (), "values of each discrete variable c; if none, those of the labelled factors", least=2
    )
    class_prior: Literal["uniform", "labels"] = option(
        "uniform", "p(c): all values alike, or as often as in the labels"
    )
    gamma_u: float = option(50.0, "weight of the distance between the KL of u and its capacity", least=0)
    gamma_z: float = option(50.0, "weight of the distance between the KL of z and its capacity", least=0)
    gamma_c: float = option(100.0, "weight of the KL between aggregate and prior of c", least=0)
    gamma_h: float = option(10.0, "weight of the entropy of q(c | x)", least=0)
    gamma_bc: float = option(10.0, "weight of the overlap of a prior's modes", least=0)
    tolerance: float = option(0.1, "Bhattacharyya coefficient up to which modes may overlap", least=0, most=1)
    capacity_u: float = option(5.0, "capacity of u at the end, in nats", least=0)
    capacity_z: float = option(30.0, "capacity of z at the end, in nats", least=0)
    capacity_steps: int = option(300_000, "steps until the capacities are reached", least=0)
    temperature: float = option(0.67, "of the Gumbel-softmax draws of c", above=0)
    attention_gain: float = option(8.0, "how sharp the attention is in the end; it starts at 1", least=0)
    attention_steps: int = option(35_000, "steps until it is; a run should be longer", least=0)
    label_batch_size: int = option(64, "labelled observations before every step", least=1)
    adam: Adam = with_default(NetworkOptions, "adam", Adam(lr=5e-4))
    label_adam: Adam = option(Adam(lr=5e-4), "optimiser of the labelled step: trunk and class head")

    def check(self, data: DataSpec) -> None:
        """Refuse a class prior that the visible labels cannot give."""
        if self.class_prior == "labels" and not data.labelled:
            raise InputError("--class-prior labels needs labels, and parted-vae is shown none: take uniform.")
        for factor, share in zip(data.factors, data.shares, strict=True):
            if self.class_prior == "labels" and 0 in share:
                name = (factor.values or range(factor.size))[share.index(0)]
                raise InputError(
                    f"no label shown has {factor.name} {name}, and --class-prior labels would forbid it: "
                    "take uniform, or show more labels."
                )

    def build(self, data: DataSpec) -> PartedVAEModel:
        """The untrained model."""
        return PartedVAEModel(self, data)


class PartedVAEModel(Method):
    """Eq. 6 in the form of A.5, for any number of discrete variables. The decoder sees u and z, never c itself."""

    config: PartedVAE

    class_shares: Tensor

    def __init__(self, config: PartedVAE, data: DataSpec) -> None:
        super().__init__()
        check_likelihood(config.likelihood, data)
        self.config, self.data = config, data
        self.sizes = class_sizes(config, data)
        nets = network_options(config, data)
        self.classifier = Encoder(data.shape, sum(self.sizes), **nets)
        features, u, z = self.classifier.head.in_features, config.class_latents, config.latents
        self.attention = nn.ModuleList(ClassAttention(size, features) for size in self.sizes)
        self.u_heads = nn.ModuleList(nn.Linear(features, 2 * u) for _ in self.sizes)
        self.z_head = nn.Linear(features, 2 * z)
        self.modes = nn.ModuleList(MixtureModes(size, u) for size in self.sizes)
        self.decoder = decoder(u * len(self.sizes) + z, data.shape, **nets)
        self.register_buffer("class_shares", class_shares(config, data, self.sizes))

    def infer(
        self, x: Tensor, gain: float, *, sample: bool
    ) -> tuple[Categorical, list[DiagonalGaussian], DiagonalGaussian, Tensor]:
        """q(c | x), q(uₖ | cₖ, x) for each k, q(z | x), and the c that they used: drawn, or the likeliest."""
        h = self.classifier.trunk(x)
        q_c = Categorical(self.classifier.head(h), self.sizes, self.config.temperature)
        c = q_c.rsample() if sample else q_c.mean
        q_u = [
            DiagonalGaussian.from_parameters(head(h * attention(one, gain)))
            for one, attention, head in zip(c.split(self.sizes, dim=1), self.attention, self.u_heads, strict=True)
        ]
        return q_c, q_u, DiagonalGaussian.from_parameters(self.z_head(h)), c

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | u, z) + γ_u·|KL_u − C_u| + γ_h·H[q(c | x)] + γ_c·KL[q(c) ‖ p(c)] + γ_z·|KL_z − C_z| + γ_bc·BC.

        q(c) is estimated by the batch. KL_u is an expectation over q(c | x): each mode's KL weighs as much as its
        class is probable, while u itself comes from the draw of c that the attention was given. Distances from the
        capacities are absolute values of batch means (Burgess et al. 2018), which the paper's brackets leave open.
        """
        o = self.config
        gain = linear(step, 1.0, o.attention_gain, o.attention_steps)
        q_c, q_u, q_z, _ = self.infer(batch.x, gain, sample=True)
        output = self.decoder(torch.cat([*(q.rsample() for q in q_u), q_z.rsample()], dim=1))
        reconstruction = likelihood.nll(o.likelihood, output, batch.x, o.scale, own_total=o.library_size)
        kl_u = torch.stack(
            [
                (one * kl_to_modes(q.mean, q.log_var, p.mean, p.log_var)).sum(1).mean()
                for one, q, p in zip(q_c.probabilities.split(self.sizes, dim=1), q_u, self.mode_list, strict=True)
            ]
        ).sum()
        kl_z, kl_c, uncertainty = q_z.kl(), aggregate_kl(q_c, self.class_shares), entropy(q_c)
        overlaps = torch.stack([overlap(p.mean, p.log_var, o.tolerance) for p in self.mode_list]).sum()
        capacity_u = linear(step, 0.0, o.capacity_u, o.capacity_steps)
        capacity_z = linear(step, 0.0, o.capacity_z, o.capacity_steps)
        far_u, far_z = (kl_u - capacity_u).abs(), (kl_z - capacity_z).abs()
        total = (
            reconstruction
            + o.gamma_u * far_u
            + o.gamma_h * uncertainty
            + o.gamma_c * kl_c
            + o.gamma_z * far_z
            + o.gamma_bc * overlaps
        )
        return Terms(
            total,
            reconstruction=reconstruction,
            kl_u_distance=(o.gamma_u, far_u),
            entropy=(o.gamma_h, uncertainty),
            kl_c=(o.gamma_c, kl_c),
            kl_z_distance=(o.gamma_z, far_z),
            overlap=(o.gamma_bc, overlaps),
            kl_u=lambda: kl_u,
            kl_z=lambda: kl_z,
        )

    def labelled_loss(self, batch: Batch, step: int) -> Terms:
        """−log q(c | x) at the labels (eq. 7), over the variables of which the label is known."""
        known = ~batch.factors.isnan()
        labels = batch.factors.nan_to_num(0.0).long()
        logits = self.classifier(batch.x).split(self.sizes, dim=1)
        errors = [F.cross_entropy(one, labels[:, k], reduction="none") for k, one in enumerate(logits)]
        total = torch.stack([mean_where(error, known[:, k]) for k, error in enumerate(errors)]).sum()
        right = torch.stack([one.argmax(1) == labels[:, k] for k, one in enumerate(logits)], dim=1)
        return Terms(total, accuracy=lambda: mean_where(right.flatten().float(), known.flatten()))

    def updates(self) -> tuple[Update, ...]:
        """Where there are labels, a labelled step for trunk and class head before every step for everything."""
        o, everything = self.config, ("classifier", "attention", "u_heads", "z_head", "modes", "decoder")
        main = Update("vae", self.loss, everything, o.adam, o.batch_size)
        if self.data.labelled == 0:
            return (main,)
        labelled = ("labelled", self.labelled_loss, ("classifier",), o.label_adam, o.label_batch_size)
        return (Update(*labelled, stream="partly-labelled"), main)

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """q(u | c, x) at the likeliest c, and q(z | x). The class itself, which no decoder sees, is in `classify`.

        The prior of u is a mixture; its KL is taken to the Gaussian with the same moments.
        """
        _, q_u, q_z, _ = self.infer(x, self.config.attention_gain, sample=False)
        shares = self.class_shares.split(self.sizes)
        prior = [moments(share, p.mean, p.log_var) for share, p in zip(shares, self.mode_list, strict=True)]
        u = PriorGaussian(
            torch.cat([q.mean for q in q_u], dim=1),
            torch.cat([q.log_var for q in q_u], dim=1),
            torch.cat([mean for mean, _ in prior]),
            torch.cat([log_var for _, log_var in prior]),
        )
        return {"u": u, "z": q_z}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The mean of p(x | u, z)."""
        return likelihood.mean(self.config.likelihood, self.decoder(torch.cat((codes["u"], codes["z"]), dim=1)))

    def prior(self, n: int) -> dict[str, Posterior]:
        """Classes drawn from p(c), and for each the mode p(u | c) that it names."""
        chosen = [torch.multinomial(share, n, replacement=True) for share in self.class_shares.split(self.sizes)]
        modes = list(zip(chosen, self.mode_list, strict=True))
        u = DiagonalGaussian(
            torch.cat([p.mean[c] for c, p in modes], dim=1), torch.cat([p.log_var[c] for c, p in modes], dim=1)
        )
        flat = u.mean.new_zeros(n, self.config.latents)
        return {"u": u, "z": DiagonalGaussian(flat, flat)}

    def classify(self, x: Tensor) -> list[Tensor]:
        """q(cₖ | x) for each discrete variable, [b, value]."""
        return [logits.softmax(1) for logits in self.classifier(x).split(self.sizes, dim=1)]

    @property
    def class_sizes(self) -> tuple[int, ...]:
        """How many classes each discrete variable has."""
        return self.sizes

    @property
    def codes_per_variable(self) -> int:
        """How many codes u belong to each discrete variable."""
        return self.config.class_latents

    def class_modes(self, variable: int) -> GaussianModes:
        """The learned prior of this variable's codes."""
        modes = self.mode_list[variable]
        return GaussianModes(self.class_shares.split(self.sizes)[variable], modes.mean, modes.log_var)

    def class_codes(self, variable: int, classes: Tensor) -> Tensor:
        """Expected u [n, code] for these classes [n] of one variable, the others being of their likeliest class."""
        found = [self.class_modes(k) for k in range(len(self.sizes))]
        chosen = [classes if k == variable else p.shares.argmax().expand(len(classes)) for k, p in enumerate(found)]
        return torch.cat([p.mean[c] for p, c in zip(found, chosen, strict=True)], dim=1)

    def transfer(self, content: Tensor, style: Tensor) -> Tensor:
        """Observations with the class-related codes of `content` and the class-independent ones of `style` (fig. 5)."""
        u, z = self.encode(content)["u"].mean, self.encode(style)["z"].mean
        return self.decode({"u": u, "z": z})

    @property
    def mode_list(self) -> Sequence[MixtureModes]:
        """The modes of each discrete variable's prior."""
        return list(self.modes)  # type: ignore[arg-type]


def class_sizes(config: PartedVAE, data: DataSpec) -> tuple[int, ...]:
    """The number of values of each discrete variable: as configured, and in agreement with the labels."""
    continuous = [factor.name for factor in data.factors if factor.size == 0]
    if data.labelled and continuous:
        raise InputError(
            f"parted-vae needs classes and {continuous[0]!r} is continuous: choose others with --label-factors, or "
            "--labels 0 --classes 3 to learn without."
        )
    labelled = tuple(factor.size for factor in data.factors if factor.size)
    if config.classes and data.labelled and config.classes != labelled:
        raise InputError(f"--classes {list(config.classes)} does not match the labels, which have {list(labelled)}.")
    if data.labelled and 1 in labelled:
        name = next(factor.name for factor in data.factors if factor.size == 1)
        raise InputError(f"{name!r} has one value, and no class to learn: leave it out with --label-factors.")
    sizes = config.classes or labelled
    if not sizes:
        raise InputError("parted-vae is shown no labels, and needs to know how many classes there are: --classes 3.")
    return sizes


def class_shares(config: PartedVAE, data: DataSpec, sizes: Sequence[int]) -> Tensor:
    """p(c) of each discrete variable, one after another, [Σ sizes]."""
    if config.class_prior == "labels" and data.labelled:
        return torch.cat([torch.tensor(share) for share in data.shares])
    return torch.cat([torch.full((size,), 1 / size) for size in sizes])
