"""The KL term of the ELBO taken apart: index-code mutual information, total correlation, dimension-wise KL."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.errors import InputError, unknown
from unbraid.metrics._shared.aggregate import Marginal
from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval, mean_interval, resampled_means, stream
from unbraid.metrics._shared.mixture import LOG_2PI, log_aggregate_posterior, mss_log_weights
from unbraid.metrics._shared.numbers import numbers
from unbraid.metrics._shared.table import gaussian_kl
from unbraid.metrics.record import POSTERIOR, Display, Metric, register
from unbraid.metrics.score import Score

FARTHEST = 1e6  # deviations: squares of it leave four digits of a nat
METHODS = ("auto", "exact", "stratified", "minibatch")


def elbo_terms(
    means: ArrayLike,
    log_vars: ArrayLike,
    *,
    method: str = "auto",
    reconstruction: ArrayLike | None = None,
    points: int = 4096,
    samples: int | None = None,
    batch: int = 256,
    seed: int = 0,
    replicates: int = REPEATS,
) -> dict[str, Score]:
    """The mean KL to a standard normal prior as the sum of three terms, in nats.

    KL = E_n KL(q(z given n) ‖ p(z)) = I_q(z; n) + KL(q(z) ‖ ∏_j q(z_j)) + Σ_j KL(q(z_j) ‖ p(z_j))
       = `index_code_mi` + `total_correlation` + `dimension_kl`

    for Gaussian posteriors, where q(z) is the mixture over all rows.

    Args:
        means: of the posteriors [n, latent].
        log_vars: their log-variances [n, latent].
        method: `exact`: log q(z) at `samples` draws for every row, each against every row: n² d work in blocks of
            bounded memory. `stratified`: the same at `points` rows only, one from each stratum of rows of like KL,
            still against every row: where n² is out of reach. In both, KL and `dimension_kl` have no sampling error
            (the latter is integrated on a grid), E log q(z) is corrected by its regression on log q(z given n) and
            Σ_j log q(z_j), whose means are known, and the terms sum to the KL exactly. `auto`: exact up to 20,000
            rows. `minibatch`: what training sees, by minibatch stratified sampling (S6, S7): a row's own component
            has weight 1/N, one other (N − M)/(NM), the rest 1/M, with M = batch − 1.
        reconstruction: each row's negative log-likelihood [n]; adds the terms `reconstruction` and `elbo`.
        points: evaluation points of `stratified`.
        samples: draws a row of `exact`; left out, at least 8,192 in all.
        batch: rows in a minibatch.
        seed: of the draws.
        replicates: bootstrap samples of the evaluation points (rows for `reconstruction`, batches for `minibatch`);
            0 for no intervals.

    Returns:
        A score for each term and for their sum, `kl`, whose `details["per_latent"]` has each latent's part.

    Reference:
        Chen et al. 2018, eq. 3.

    Example:
        >>> import numpy as np
        >>> terms = elbo_terms(np.array([[0.0], [3.0]]), np.zeros((2, 1)), replicates=0)
        >>> {name: abs(round(score.value, 1)) for name, score in terms.items()}
        {'index_code_mi': 0.5, 'total_correlation': 0.0, 'dimension_kl': 1.7, 'kl': 2.2}
    """
    mu, log_var = _posterior(means, log_vars)
    n, d = mu.shape
    if method not in METHODS:
        raise unknown("method for ELBO terms", method, METHODS)
    if method == "auto":
        method = "exact" if n <= 20_000 else "stratified"
    each = gaussian_kl(mu, log_var).sum(axis=1)
    kl = float(each.mean())
    details = {"method": method, "rows": n, "latents": d, "seed": seed, "unit": "nats"}
    if method == "minibatch":
        terms = _minibatch(mu, log_var, batch, kl, details, seed, replicates)
    else:
        terms = _whole(mu, log_var, each, method, points, samples, details, seed, replicates)
    if reconstruction is not None:
        loss = numbers(reconstruction, "reconstruction")
        if loss.shape != (n,):
            raise InputError(f"reconstruction has shape {loss.shape}; give one negative log-likelihood a row, ({n},).")
        terms["reconstruction"] = _mean_score(loss, details, seed, replicates)
        terms["elbo"] = _mean_score(-loss - each, details, seed, replicates)
    return terms


def _posterior(means: ArrayLike, log_vars: ArrayLike) -> tuple[Array, Array]:
    mu, log_var = numbers(means, "means"), numbers(log_vars, "log_vars")
    if mu.ndim != 2 or mu.shape != log_var.shape:
        raise InputError(f"means {mu.shape} and log_vars {log_var.shape} must have one shape, [n, latents].")
    if len(mu) < 2:
        raise InputError(f"there are {len(mu)} rows of means; the aggregate posterior needs at least two.")
    with np.errstate(over="ignore"):
        apart = float((np.abs(mu - mu.mean(axis=0)) * np.exp(-0.5 * log_var)).max())
    if not apart < FARTHEST:
        raise InputError(
            f"means lie {apart:.0e} deviations of their posteriors apart, and densities are resolved up to "
            f"{FARTHEST:.0e}: see whether log_vars belong to these means, or leave elbo_terms out."
        )
    return mu, log_var


def _mean_score(values: Array, details: dict[str, object], seed: int, replicates: int) -> Score:
    return Score(float(values.mean()), mean_interval(values, seed=seed, replicates=replicates), details)


def _whole(
    mu: Array,
    log_var: Array,
    each: Array,
    method: str,
    points: int,
    samples: int | None,
    details: dict[str, object],
    seed: int,
    replicates: int,
) -> dict[str, Score]:
    n, d = mu.shape
    mean_prior = float(-0.5 * (np.square(mu) + np.exp(log_var) + LOG_2PI).sum(axis=1).mean())
    per_latent = gaussian_kl(mu, log_var).mean(axis=0)
    mu = mu - mu.mean(axis=0)  # only the prior knows where 0 is, and squares of means far from it lose the digits
    draws = stream(seed, "elbo")
    if method == "stratified" and points < n:
        # Rows sorted by their KL and cut into `points` strata, one row from each.
        edges = np.linspace(0, n, points + 1)
        place = (edges[:-1] + draws.random(points) * np.diff(edges)).astype(np.int64)
        rows = np.argsort(each, kind="stable")[np.minimum(place, n - 1)]
    else:
        rows = np.arange(n)
    rows = np.repeat(rows, samples or (max(1, 8192 // n) if method == "exact" else 1))
    z = mu[rows] + np.exp(0.5 * log_var[rows]) * draws.standard_normal((len(rows), d))
    log_q = log_aggregate_posterior(z, mu, log_var)
    own = -0.5 * (np.square(z - mu[rows]) / np.exp(log_var[rows]) + log_var[rows] + LOG_2PI).sum(axis=1)
    marginals = [Marginal(mu[:, j], log_var[:, j]) for j in range(d)]
    product = sum((marginal(z[:, j]) for j, marginal in enumerate(marginals)), np.zeros(len(z)))

    mean_own = float(-0.5 * (log_var + 1.0 + LOG_2PI).sum(axis=1).mean())
    mean_product = sum(marginal.mean_log_density for marginal in marginals)
    # The regression estimator: E log q(z) read off at the known means of its two companions.
    away = np.column_stack([np.ones(len(z)), own - mean_own, product - mean_product])
    coefficients = np.linalg.lstsq(away, log_q, rcond=None)[0]
    mean_log_q = float(coefficients[0])
    residual = log_q - away @ coefficients

    kl, dimension_kl = float(each.mean()), mean_product - mean_prior
    tc = mean_log_q - mean_product
    mi = mean_own - mean_log_q
    details = {**details, "evaluation_points": len(z)}
    spread = np.zeros(0)
    if replicates:
        spread = resampled_means(residual, seed=seed, replicates=replicates)
    return {
        "index_code_mi": Score(mi, interval(mi, mi - spread), details),
        "total_correlation": Score(tc, interval(tc, tc + spread), details),
        "dimension_kl": Score(dimension_kl, (dimension_kl, dimension_kl) if replicates else None, details),
        "kl": Score(kl, (kl, kl) if replicates else None, {**details, "per_latent": per_latent}),
    }


def _minibatch(
    mu: Array, log_var: Array, batch: int, kl: float, details: dict[str, object], seed: int, replicates: int
) -> dict[str, Score]:
    from scipy.special import logsumexp  # deferred: importing the metrics should not import SciPy

    n = len(mu)
    batch = min(batch, n)
    draws = stream(seed, "elbo")
    order: NDArray[np.int64] = draws.permutation(n)
    log_weights = mss_log_weights(batch, n)
    batches = [order[i * batch : (i + 1) * batch] for i in range(min(n // batch, 100))]
    parts = np.empty((len(batches), 3))
    for i, rows in enumerate(batches):
        m, lv = mu[rows], log_var[rows]
        z = m + np.exp(0.5 * lv) * draws.standard_normal(m.shape)
        pairs = -0.5 * (np.square(z[:, None] - m) / np.exp(lv) + lv + LOG_2PI)  # [sample, component, latent]
        own = pairs[np.arange(batch), np.arange(batch)].sum(axis=1)
        log_q = logsumexp(log_weights + pairs.sum(axis=2), axis=1)
        product = logsumexp(log_weights[:, :, None] + pairs, axis=1).sum(axis=1)
        prior = -0.5 * (np.square(z) + LOG_2PI).sum(axis=1)
        parts[i] = (own - log_q).mean(), (log_q - product).mean(), (product - prior).mean()
    details = {**details, "batch": batch, "batches": len(batches), "analytic_kl": kl}
    scored = [_mean_score(column, details, seed, replicates) for column in parts.T]
    terms = dict(zip(("index_code_mi", "total_correlation", "dimension_kl"), scored, strict=True))
    terms["kl"] = _mean_score(parts.sum(axis=1), details, seed, replicates)
    return terms


register(
    Metric(
        name="elbo_terms",
        title="ELBO terms",
        description="index-code MI + total correlation + dimension-wise KL",
        when="Without labels, to see what a VAE's KL is spent on; it needs log-variances.",
        function=elbo_terms,
        needs=POSTERIOR,
        better="neither",
        range=(None, None),
        reference="Chen et al. 2018, eq. 3",
        unchanged_by=(),
        parts={
            "index_code_mi": Display("Index-code information", "first part of the KL, nats", "neither", (0.0, None)),
            "total_correlation": Display("TC of q(z)", "second part of the KL, nats", "lower", (0.0, None)),
            "dimension_kl": Display("Dimension-wise KL", "third part of the KL, nats", "neither", (0.0, None)),
            "kl": Display("KL", "of the posteriors to the prior, nats", "neither", (0.0, None)),
            "reconstruction": Display("−log p(x given z)", "of stage 1, nats", "lower"),
            "elbo": Display("ELBO", "of stage 1, nats", "higher"),
        },
    )
)
