"""DCI: disentanglement, completeness, informativeness from the importance of codes for predicting factors."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError, unknown
from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval, resampled_means
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.strata import TEST, TRAIN
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import Display, Metric, register
from unbraid.metrics.score import Score

Rows = NDArray[np.int64]
MODES = ("fast", "boosting", "lightgbm", "forest", "lasso")


@table_metric
@calibration(draws=3, train=2000)
def dci(
    table: Table, *, mode: str = "fast", train: int = TRAIN, test: int = TEST, seed: int = 0, replicates: int = REPEATS
) -> Score:
    """DCI disentanglement: whether each latent matters for one factor only.

    R_jk is the importance of latent j for predicting factor k. With P_jk = R_jk/Σ_k R_jk and ρ_j = Σ_k R_jk/ΣR,
    D = Σ_j ρ_j (1 − H_K(P_j·)); completeness C = Σ_k ρ_k (1 − H_d(P_·k)) likewise; informativeness I is the mean
    test accuracy (R² for continuous factors).

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        mode: `boosting`: scikit-learn's gradient-boosted trees with their defaults, the reference of Locatello et al.
            2019, minutes long. `lightgbm`: trees of the same depth grown on histograms, 20 rounds at rate 0.3, which
            comes closest to the reference for the time. `forest`: a random forest. `lasso`: standardised codes,
            |coefficients| of the lasso whose penalty cross-validation chooses, factors as numbers. `fast`: lightgbm
            where it is installed, else the forest.
        train: rows to fit on.
        test: rows to test on.
        seed: of the split, the model and the bootstrap.
        replicates: bootstrap samples; 0 for no interval. The interval of D resamples latents, that of C factors,
            that of I test rows: they say how much a score rests on single ones. Importances are not fitted again.

    Returns:
        D in [0, 1]; C and I are in `details` with their intervals, R as `details["importance"]` [latent, factor],
        and `details["mode"]` names what was used.

    Reference:
        Eastwood & Williams 2018.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> score = dci(*perfect_table(), mode="forest")
        >>> score.value > 0.95, score.details["completeness"] > 0.95
        (True, True)
    """
    if mode not in MODES:
        raise unknown("mode of DCI", mode, MODES)
    if len(table.names) < 2:  # no latent can matter for two factors, so that any code that varies would score 1
        raise InputError(
            "DCI tells the factors that a latent matters for apart; the table has only one, so leave it out."
        )
    installed = importlib.util.find_spec("lightgbm") is not None
    if mode == "lightgbm" and not installed:
        raise InputError("DCI in mode 'lightgbm' needs lightgbm; install unbraid[lightgbm] or choose mode 'forest'.")
    used = mode if mode != "fast" else "lightgbm" if installed else "forest"
    fit, held = table.split(train, test, seed)
    d, k = table.codes.shape[1], table.factors.shape[1]
    importance, accuracy, again = np.zeros((d, k)), np.zeros(k), np.zeros((replicates, k))
    for f in range(k):
        importance[:, f], accuracy[f], again[:, f] = _factor(table, f, used, fit, held, seed, replicates)
    total = importance.sum()
    latent_weight = importance.sum(axis=1) / total if total > 0 else np.zeros(d)
    factor_weight = importance.sum(axis=0) / total if total > 0 else np.zeros(k)
    latents, factors_ = 1.0 - _entropy(importance, 1), 1.0 - _entropy(importance, 0)
    disentanglement, completeness = float(latent_weight @ latents), float(factor_weight @ factors_)
    informativeness = float(accuracy.mean())
    details = {
        "mode": used,
        "seed": seed,
        "train": len(fit),
        "test": len(held),
        "completeness": completeness,
        "informativeness": informativeness,
        "per_latent": latents,
        "per_factor": table.by_factor(factors_),
        "informativeness_per_factor": table.by_factor(accuracy),
        "importance": importance,
    }
    spread = None
    if replicates:
        spread = _weighted_interval(disentanglement, latent_weight, latents, seed, replicates)
        details["completeness_interval"] = _weighted_interval(completeness, factor_weight, factors_, seed, replicates)
        details["informativeness_interval"] = interval(informativeness, again.mean(axis=1), high=1)
    return Score(disentanglement, spread, details)


def _entropy(importance: Array, axis: int) -> Array:
    """Entropy along an axis of the importances, in units of its logarithm of outcomes; 1 where all are 0."""
    total = importance.sum(axis=axis, keepdims=True)
    p = np.divide(importance, total, out=np.full_like(importance, 1 / importance.shape[axis]), where=total > 0)
    outcomes = importance.shape[axis]
    if outcomes == 1:
        return np.where(total > 0, 0.0, 1.0).squeeze(axis)
    return np.asarray(-(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=axis) / np.log(outcomes))


def _weighted_interval(
    value: float, weights: Array, values: Array, seed: int, replicates: int
) -> tuple[float, float] | None:
    means = resampled_means(np.stack([weights * values, weights], axis=1), seed=seed, replicates=replicates)
    return interval(value, means[:, 0] / np.maximum(means[:, 1], 1e-12), 0, 1)


def _factor(
    table: Table, factor: int, mode: str, fit: Rows, held: Rows, seed: int, replicates: int
) -> tuple[Array, float, Array]:
    """Importance of every latent for one factor, the test accuracy or R², and replicates of that."""
    fit, held = fit[table.known(factor)[fit]], held[table.known(factor)[held]]
    labels = table.groups(factor)[0]
    if len(np.unique(labels[fit])) < 2 or not len(held):
        raise InputError(
            f"factor {table.names[factor]!r} has fewer than two values among the rows to fit on; give more rows."
        )
    x = table.codes
    if mode == "lasso":
        spread = x[fit].std(axis=0)
        x = (x - x[fit].mean(axis=0)) / np.where(spread > 1e-12, spread, 1.0)
    if table.discrete[factor] and mode != "lasso":
        model = _model(mode, True, seed).fit(x[fit], labels[fit])
        correct = np.asarray(model.predict(x[held]) == labels[held], dtype=np.float64)
        again = resampled_means(correct, seed=seed, replicates=replicates) if replicates else np.zeros(0)
        return _importance(model), float(correct.mean()), again
    targets = table.coordinates(factor)  # cosine and sine of a cyclic factor are two regressions
    importance, residual, spread2 = np.zeros(x.shape[1]), np.zeros(len(held)), np.zeros(len(held))
    for y in targets.T:
        y = (y - y[fit].mean()) / max(float(y[fit].std()), 1e-12)
        model = _model(mode, False, seed).fit(x[fit], y[fit])
        importance += _importance(model)
        residual += np.square(y[held] - model.predict(x[held]))
        spread2 += np.square(y[held] - y[held].mean())
    again = np.zeros(0)
    if replicates:
        means = resampled_means(np.stack([residual, spread2], axis=1), seed=seed, replicates=replicates)
        again = 1.0 - means[:, 0] / np.maximum(means[:, 1], 1e-12)
    return importance / targets.shape[1], float(1.0 - residual.mean() / max(spread2.mean(), 1e-12)), again


def _importance(model: Any) -> Array:
    raw = np.abs(model.coef_ if hasattr(model, "coef_") else model.feature_importances_).astype(np.float64)
    # Every factor counts alike: trees report shares of the gain, the lasso coefficients of standardised targets.
    return np.asarray(raw if hasattr(model, "coef_") or raw.sum() == 0 else raw / raw.sum())


def _model(mode: str, classify: bool, seed: int) -> Any:
    # Deferred: none of these should be imported by metrics that do not use them.
    if mode == "lightgbm":
        import lightgbm

        options: dict[str, Any] = {
            "n_estimators": 20,
            "learning_rate": 0.3,
            "num_leaves": 8,
            "max_depth": 3,
            "max_bin": 63,
            "importance_type": "gain",
            "random_state": seed,
            "deterministic": True,
            "force_row_wise": True,
            "n_jobs": 1,
            "verbose": -1,
        }
        return lightgbm.LGBMClassifier(**options) if classify else lightgbm.LGBMRegressor(**options)
    from sklearn import ensemble, linear_model

    if mode == "lasso":
        return linear_model.LassoCV(cv=5, random_state=seed)
    if mode == "forest":
        forest = ensemble.RandomForestClassifier if classify else ensemble.RandomForestRegressor
        return forest(50, max_depth=8, random_state=seed)
    boosting = ensemble.GradientBoostingClassifier if classify else ensemble.GradientBoostingRegressor
    return boosting(random_state=seed)


register(
    Metric(
        name="dci",
        title="DCI",
        description="whether each latent is important for one factor only",
        when="For separation and completeness of factors that several latents or a nonlinear map may hold; name "
        "its mode beside it, as modes differ.",
        function=dci,
        reference="Eastwood & Williams 2018",
        unchanged_by=("order", "scale of each", "common scale"),
        parts={
            "disentanglement": Display("DCI disentanglement", "each latent predicts one factor", "higher", (0.0, 1.0)),
            "completeness": Display("DCI completeness", "each factor is predicted by one latent", "higher", (0.0, 1.0)),
            "informativeness": Display("DCI informativeness", "accuracy of the prediction", "higher", (0.0, 1.0)),
        },
    )
)
