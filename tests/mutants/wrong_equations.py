"""Wrong equations that somebody could write and believe: (file, what stands there, what must not).

`python -m mutants --wrong` tries them all; every one must be killed.
"""

from __future__ import annotations

import ast
import hashlib

from .mutant import Mutant

WRONG: tuple[tuple[str, str, str], ...] = (
    # Losses of one stage.
    ("methods/vae/beta_vae.py", "reconstruction + self.beta * kl,", "self.beta * reconstruction + kl,"),
    ("methods/vae/annealed_vae.py", "(kl - capacity).abs()", "(kl - capacity).relu()"),
    ("methods/vae/annealed_vae.py", "linear(step, 0.0, self", "linear(step + 1, 0.0, self"),
    ("methods/vae/beta_tcvae.py", "alpha * index_code", "gamma * index_code"),
    (
        "methods/vae/beta_tcvae.py",
        "beta * correlation + gamma * dimension_kl",
        "beta * dimension_kl + gamma * correlation",
    ),
    ("methods/vae/beta_tcvae.py", 'self.decompose(q, z, "mss")', "self.decompose(q, z, self.config.estimator)"),
    ("methods/vae/beta_tcvae.py", "standard_log_prob(z).sum(1)", "standard_log_prob(q.mean).sum(1)"),
    ("methods/vae/factor_vae.py", "self.critic(z).mean()", "(-self.critic(z)).mean()"),
    ("methods/vae/factor_vae.py", "self.critic(shuffle_each_dimension(other))", "self.critic(other)"),
    ("methods/vae/factor_vae.py", "shuffle_each_dimension(other)", "shuffle_each_dimension(joint)"),
    ("methods/vae/dip_vae.py", "covariance(q.mean)", "covariance(q.rsample())"),
    (
        "methods/vae/dip_vae.py",
        "aggregate_covariance(q.mean, q.log_var)",
        "aggregate_covariance(q.mean, 0 * q.log_var)",
    ),
    ("methods/vae/joint_vae.py", "q_z.rsample(), q_c.rsample()", "q_z.rsample(), q_c.mean"),
    ("methods/vae/joint_vae.py", "min(c.discrete_capacity, capacity_limit(c.classes))", "c.discrete_capacity"),
    ("methods/vae/joint_vae.py", "(kl_c - capacity_c).abs()", "(kl_c - capacity_z).abs()"),
    ("methods/vae/hfvae.py", "(density.joint - density.groups).mean()", "(density.joint - density.single).mean()"),
    ("methods/vae/hfvae.py", "*(block.exp() for block in log_c)", "*(block.softmax(1) for block in q_c.blocks)"),
    ("methods/vae/hfvae.py", "torch.zeros_like(sample)", "torch.ones_like(sample).cumsum(1)"),
    ("methods/vae/flow_beta_tcvae.py", "self.flow.log_prob(z).sum(1)", "self.flow.log_prob(q.mean).sum(1)"),
    (
        "methods/vae/guided_vae.py",
        "index_code + beta * correlation + dimension_kl",
        "beta * index_code + correlation + dimension_kl",
    ),
    ("methods/vae/guided_vae.py", "(self.guide(z) - batch.x).square()", "(self.guide(q.mean) - batch.x).square()"),
    ("methods/vae/alignment.py", "first.weight @ rotation.T)", "first.weight @ rotation)"),
    ("methods/vae/alignment.py", "(share @ log_var.exp()).log()", "share @ log_var"),
    ("methods/vae/alignment.py", "range(1, turns + 1)", "range(0, turns)"),
    ("methods/vae/gaussian.py", "self.reconstruction(q.rsample(), x)", "self.reconstruction(q.mean, x)"),
    ("methods/vae/gaussian.py", "return self.resolution.weight * rows", "return rows"),
    # Losses with labels.
    (
        "methods/labelled/parted_vae.py",
        "c = q_c.rsample() if sample else q_c.mean",
        "c = q_c.probabilities if sample else q_c.mean",
    ),
    (
        "methods/labelled/parted_vae.py",
        "zip(q_c.probabilities.split(self.sizes, dim=1), q_u,",
        "zip(q_c.mean.split(self.sizes, dim=1), q_u,",
    ),
    ("methods/labelled/parted_vae.py", "o.gamma_h * uncertainty", "-o.gamma_h * uncertainty"),
    ("methods/labelled/parted_vae.py", "o.gamma_z * (kl_z - capacity_z)", "o.gamma_z * (kl_z - capacity_u)"),
    ("methods/labelled/parted_vae.py", "linear(step, 1.0, o.attention_gain", "linear(step, 0.0, o.attention_gain"),
    (
        "methods/labelled/parted_vae.py",
        "self.infer(x, self.config.attention_gain, sample=False)",
        "self.infer(x, 1.0, sample=False)",
    ),
    (
        "methods/labelled/parted_vae.py",
        "kl_to_modes(q.mean, q.log_var, p.mean, p.log_var)",
        "kl_to_modes(q.mean, q.log_var, p.mean.detach(), p.log_var)",
    ),
    ("methods/labelled/parted_vae.py", "mean_where(error, known[:, k])", "error.mean()"),
    (
        "methods/labelled/supervised_guided_vae.py",
        "-F.log_softmax(net(without(z, t)), dim=1).mean()",
        "F.log_softmax(net(without(z, t)), dim=1).mean()",
    ),
    (
        "methods/labelled/full_vae.py",
        "share * mean_where(rows, labelled) + (1 - share)",
        "(1 - share) * mean_where(rows, labelled) + share",
    ),
    ("methods/labelled/full_vae.py", "(errors * known).sum(1), known.any(1)", "(errors * known).sum(1), known.all(1)"),
    ("methods/labelled/idvae.py", "frozen(method.prior_encoder, u)", "method.prior_encoder(u)"),
    (
        "methods/labelled/idvae.py",
        "(reconstruction + self.config.beta * kl).mean()",
        "(self.config.beta * reconstruction + kl).mean()",
    ),
    # Later stages and GANs.
    (
        "methods/staged/ms_vae.py",
        'x - y if self.config.encoder_sees == "residual" else x',
        'x + y if self.config.encoder_sees == "residual" else x',
    ),
    ("methods/staged/ms_vae.py", 'x - y if self.config.encoder_sees == "residual" else x', "x"),
    ("methods/staged/ms_vae.py", "reconstruction + self.config.beta * kl,", "reconstruction,"),
    ("methods/staged/ms_vae.py", "clip=self.config.adam.clip * self.values", "clip=self.config.adam.clip"),
    (
        "methods/staged/ms_vae.py",
        "self.learned_prior.learn((y, q.mean, q.log_var)",
        "self.learned_prior.learn((y, q.rsample(), q.log_var)",
    ),
    ("methods/staged/ms_vae.py", 'self.decoder(content, codes["z"]).clamp(0, 1)', 'self.decoder(content, codes["z"])'),
    ("methods/staged/end_to_end.py", "self.config.beta * kl_c + kl_z", "kl_c + self.config.beta * kl_z"),
    (
        "methods/staged/jacobian.py",
        "self.make(c[other], z), y - y[other]",
        "self.make(c[other], z[other]), y - y[other]",
    ),
    ("methods/staged/jacobian.py", "y - y[other]", "y[other] - y"),
    ("methods/staged/ms_flow.py", "- self.spread.log().sum()", "+ self.spread.log().sum()"),
    ("methods/staged/ms_flow.py", "enter_noisily(x), y)", "enter(x), y)"),
    ("methods/staged/gaussian_mixture.py", "logsumexp(1)", "amax(1)"),
    ("methods/gan/ms_gan.py", "F.softplus(-self.critic(", "F.softplus(self.critic("),
    ("methods/gan/cgan.py", "F.softplus(-self.critic(", "F.softplus(self.critic("),
    (
        "methods/gan/ms_gan.py",
        "self.critic(batch.x, y), self.critic(made, y)",
        "self.critic(made, y), self.critic(batch.x, y)",
    ),
    ("methods/gan/ms_gan.py", "self.generator.styles.init_unit_variance()", "pass"),
    (
        "methods/gan/infogan.py",
        "linear(step, self.config.instance_noise, 0.0,",
        "linear(step, 0.0, self.config.instance_noise,",
    ),
    # Pairs and quantised codes.
    ("methods/pairs/ada_vae.py", "difference < (lowest + highest) / 2", "difference > (lowest + highest) / 2"),
    (
        "methods/pairs/ada_vae.py",
        "difference < (lowest + highest) / 2",
        "difference < difference.mean(1, keepdim=True)",
    ),
    (
        "methods/pairs/ada_vae.py",
        "((one.log_var.exp() + two.log_var.exp()) / 2).log()",
        "(one.log_var + two.log_var) / 2",
    ),
    ("methods/pairs/ada_vae.py", "/ precision, -precision.log()", "/ precision, precision.log()"),
    ("methods/pairs/slow_vae.py", "0.5 * self.config.beta * divergence", "self.config.beta * divergence"),
    ("methods/pairs/slow_vae.py", "q.mean.roll(len(batch.x), 0)", "q.mean"),
    ("methods/pairs/slow_vae.py", "math.log(rate / 2)", "math.log(rate)"),
    ("methods/quantised/qlae.py", "(continuous.detach() - quantised)", "(continuous - quantised)"),
    ("methods/quantised/qlae.py", "(continuous - quantised.detach())", "(continuous - quantised)"),
    (
        "methods/quantised/qlae.py",
        "config.quantization * quantization + config.commitment * commitment",
        "config.commitment * quantization + config.quantization * commitment",
    ),
    ("methods/quantised/tripod.py", "made[1:-1]", "made"),
    # Operations.
    ("ops/gaussian.py", "(0.5 * self.log_var).exp() * torch", "self.log_var.exp() * torch"),
    ("ops/categorical.py", "/ temperature", "* temperature"),
    (
        "ops/density_ratio.py",
        "torch.rand_like(z).argsort(dim=0)",
        "torch.rand_like(z[:, :1]).argsort(dim=0).expand_as(z)",
    ),
    ("ops/total_correlation.py", "-math.log(dataset_size * batch)", "-math.log(batch)"),
    ("ops/total_correlation.py", "log_prod_qz - prior_log_prob", "log_qz - prior_log_prob"),
    (
        "ops/total_correlation.py",
        "torch.logsumexp(pairs + log_weights[:, :, None], dim=1).sum(1)",
        "torch.logsumexp(pairs.sum(2, keepdim=True) + log_weights[:, :, None], dim=1).sum(1)",
    ),
    # Networks.
    ("nets/adain.py", "[(1 + scale, shift) for scale, shift in pairs]", "[(scale, shift) for scale, shift in pairs]"),
    ("nets/adain.py", "std=self.styles.in_features**-0.5", "std=0.25 * self.styles.in_features**-0.5"),
    (
        "nets/adain.py",
        "for layer, style in zip(self.layers, self.styles(z), strict=True)",
        "for layer, style in zip(self.layers, self.styles(0 * z), strict=True)",
    ),
    ("nets/detail.py", "return y + change.float()", "return change.float()"),
    ("nets/detail.py", " + self.skip(u)", ""),
    ("nets/detail.py", "h = h + self.film(convolution(h), style)", "h = self.film(convolution(h), style)"),
    (
        "nets/detail.py",
        "h = h + self.film(self.middle(h), middle_styles[1])",
        "h = h + self.film(self.middle(h), middle_styles[0])",
    ),
    ("nets/detail.py", "RESIDUAL_GAIN * pad(residual)", "pad(residual)"),
    ("nets/attention.py", "(gain * self.linear(c)).sigmoid()", "self.linear(c).sigmoid()"),
    ("nets/guide.py", "(cos, -sin, across)", "(cos, sin, across)"),
    ("nets/guide.py", "scale.exp() * angle.cos(), scale.exp()", "angle.cos(), angle"),
    ("nets/factorial_flow.py", "standard_log_prob(base) + log_slope", "standard_log_prob(base) - log_slope"),
    ("nets/factorial_flow.py", "bend / width * curve", "bend * curve"),
    ("nets/from_codes.py", "adain(h, *styles[number])", "adain(h, *styles[0])"),
    ("nets/broadcast.py", " + self.project(self.places)", " + 0 * self.project(self.places)"),
    ("nets/nearest_codes.py", "largest=False", "largest=True"),
    ("nets/nearest_codes.py", "self.means[chosen] + noise", "self.means[chosen]"),
    ("nets/frozen.py", "parameter.detach()", "parameter"),
    # Metrics and measures.
    ("metrics/mig.py", "gaps(found.matrix / found.entropy)", "gaps(found.matrix)"),
    ("metrics/mig.py", "gaps(found.matrix / found.entropy)", "gaps(found.matrix / found.entropy.max())"),
    ("metrics/_shared/information.py", "top[..., -1, :] - top[..., -2, :]", "top[..., -1, :] - top[..., 0, :]"),
    (
        "metrics/_shared/information.py",
        "-np.log(np.where(p_value > 0, p_value, 1.0))",
        "-np.log2(np.where(p_value > 0, p_value, 1.0))",
    ),
    ("metrics/_shared/information.py", "np.log(ratio), -np.log", "np.log2(ratio), -np.log"),
    (
        "metrics/_shared/numbers.py",
        "np.linspace(column.min(), column.max(), bins + 1)",
        "np.linspace(column.min(), column.max(), bins)",
    ),
    (
        "metrics/_shared/numbers.py",
        'np.searchsorted(edges[1:-1], column, side="right")',
        'np.searchsorted(edges[1:-1], column, side="left")',
    ),
    ("metrics/modularity.py", "best * (matrix.shape[-1] - 1)", "best * matrix.shape[-1]"),
    ("metrics/modularity.py", "squared = np.square(matrix)", "squared = np.abs(matrix)"),
    ("metrics/dci.py", "/ np.log(outcomes)", "/ np.log(2)"),
    (
        "metrics/dci.py",
        "1.0 - _entropy(importance, 1), 1.0 - _entropy(importance, 0)",
        "1.0 - _entropy(importance, 0), 1.0 - _entropy(importance, 1)",
    ),
    ("metrics/dci.py", "float(latent_weight @ latents)", "float(latents.mean())"),
    ("metrics/dci.py", "float(factor_weight @ factors_)", "float(factors_.mean())"),
    ("metrics/irs.py", "weights=reach * active", "weights=active.astype(float)"),
    ("metrics/mcc.py", "linear_sum_assignment(-strength)", "linear_sum_assignment(strength)"),
    ("metrics/mcc.py", ".sum() / k)", ".mean())"),
    ("metrics/explicitness.py", "(2.0, -1.0) if normalise", "(1.0, 0.0) if normalise"),
    ("metrics/conditioning.py", '"M3": c_zeps, "M4": c_yeps', '"M3": c_yeps, "M4": c_zeps'),
    ("metrics/conditioning.py", '"M1": c_y, "M2": c_x', '"M1": c_x, "M2": c_y'),
    ("metrics/conditioning.py", "surprise[left[:, i]]", "surprise[left[:, i]].max()"),
    (
        "metrics/conditioning.py",
        "joint_counts(right[:, i : i + 1], left[:, i], bins, bins)",
        "joint_counts(left[:, i : i + 1], right[:, i], bins, bins)",
    ),
    ("metrics/_shared/mixture.py", "1.0 / n", "1.0 / m"),
    (
        "evaluation/conditioning.py",
        "of_x, of_y, of_restored, of_draws[0], of_noise,",
        "of_x, of_y, of_restored, of_noise, of_draws[0],",
    ),
    (
        "evaluation/conditioning.py",
        "of_x, of_y, of_restored, of_draws[0], of_noise,",
        "of_x, of_restored, of_y, of_draws[0], of_noise,",
    ),
    ("evaluation/conditioning.py", "torch.randn_like(y)", "y"),
    ("evaluation/identity.py", "value[rows // poses]", "value[rows % poses]"),
    ("evaluation/identity.py", "value[rows % poses]", "value[rows // poses]"),
    ("evaluation/inception.py", ".div(127.5).sub(1)", ".div(255)"),
    ("evaluation/inception.py", "align_corners=False", "align_corners=True"),
    ("evaluation/lpips.py", ".div(127.5).sub(1)", ".div(255)"),
)


def wrong_mutants(sources: dict[str, str]) -> list[Mutant]:
    """The list as mutants of the files that are given; what stands there may stand there more than once: the first."""
    found = []
    for file, old, new in WRONG:
        if file not in sources:
            continue
        source = sources[file]
        start = source.find(old)
        if start < 0:
            raise LookupError(f"{file} has no {old!r} any more: change the list of wrong equations.")
        line = source.count("\n", 0, start) + 1
        digest = hashlib.sha256(source.encode()).hexdigest()[:12]
        found.append(Mutant(file, function_at(source, line), "wrong equation", line, start, old, new, digest, start))
    return found


def function_at(source: str, line: int) -> str:
    """The outermost function or method around a line, by qualified name."""

    def search(body: list[ast.stmt], owner: str) -> str:
        for node in body:
            if node.lineno <= line <= (node.end_lineno or 0):
                if isinstance(node, ast.FunctionDef):
                    return owner + node.name
                if isinstance(node, ast.ClassDef):
                    return search(node.body, f"{owner}{node.name}.")
        return ""

    return search(ast.parse(source).body, "")
