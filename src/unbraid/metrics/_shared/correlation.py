"""Squared correlation of latents with factors of any kind, which SAP and MCC read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unbraid.metrics._shared.bootstrap import Array, resampled_means
from unbraid.metrics._shared.numbers import ratio
from unbraid.metrics._shared.table import Table


def squared_correlation(
    table: Table, factor: int, rows: NDArray[np.int64], seed: int, replicates: int, ranks: bool = False
) -> tuple[Array, Array]:
    """R² between every latent and one factor `[d]`, and bootstrap replicates of it `[replicates, d]`.

    Ordinal and continuous factors: the squared Pearson correlation. Cyclic: the share of the latent's variance
    that cosine and sine explain (Mardia 1976). Categorical: the share that the class means explain (the
    correlation ratio), since the order of its values means nothing. Of two values, all of these agree.
    """
    rows = rows[table.known(factor)[rows]]
    codes = table.codes[rows]
    if table.kinds[factor] == "categorical":
        labels, size = table.groups(factor)
        target = np.eye(size)[labels[rows]][:, 1:]  # one class is implied by the others
    else:
        target = table.coordinates(factor)[rows]
    if ranks:
        from scipy.stats import rankdata  # deferred: most tables need no ranks

        codes = rankdata(codes, axis=0)
        target = rankdata(target, axis=0) if table.kinds[factor] not in ("categorical", "cyclic") else target
    x, y = standard(codes), standard(target)
    d, c = x.shape[1], y.shape[1]
    value = _explained(x.mean(axis=0), y.mean(axis=0), np.square(x).mean(axis=0), x.T @ y / len(x), y.T @ y / len(x))
    if not replicates:
        return value, np.zeros((0, d))
    if c <= 4:
        xy, yy = x[:, :, None] * y[:, None, :], y[:, :, None] * y[:, None, :]
        moments = np.column_stack([x, y, np.square(x), xy.reshape(len(x), -1), yy.reshape(len(x), -1)])
        again = resampled_means(moments, seed=seed, replicates=replicates)
        mx, my, xx, xy, yy = np.split(again, np.cumsum([d, c, d, d * c]), axis=1)
        return value, _explained(mx, my, xx, xy.reshape(-1, d, c), yy.reshape(-1, c, c))
    # Many classes: to first order, R² moves with each row's squared residual and squared deviation.
    fitted = y @ np.linalg.lstsq(y, x, rcond=None)[0]
    parts = np.column_stack([np.square(x - fitted), np.square(x)])
    means = resampled_means(parts, seed=seed, replicates=replicates)
    return value, 1.0 - ratio(means[:, :d], means[:, d:], 1.0)


def standard(values: Array) -> Array:
    """Columns with mean 0 and deviation 1; a constant column becomes 0."""
    centred = values - values.mean(axis=0)
    scale = centred.std(axis=0)
    size = np.abs(values).max(axis=0, initial=0.0)
    # A constant column's deviation is rounding, not spread.
    return np.asarray(np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 1e-14 * size))


def _explained(mx: Array, my: Array, xx: Array, xy: Array, yy: Array) -> Array:
    """The share of each latent's variance that the targets explain linearly, from first and second moments."""
    cov_xy = xy - mx[..., :, None] * my[..., None, :]
    cov_yy = yy - my[..., :, None] * my[..., None, :]
    var_x = xx - np.square(mx)
    explained = np.einsum("...jc,...jc->...j", cov_xy @ np.linalg.pinv(cov_yy, hermitian=True), cov_xy)
    return np.asarray(np.clip(ratio(explained, var_x, 0.0, least=1e-12), 0.0, 1.0))
