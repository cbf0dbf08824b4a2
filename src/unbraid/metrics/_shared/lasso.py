"""The lasso for many targets at once, from products of columns: what UDR and other comparisons of codes need."""

from __future__ import annotations

import numpy as np

from unbraid.metrics._shared.bootstrap import Array

SWEEPS = 2_000  # over all features; a few dozen are enough unless features are nearly the same
TOLERANCE = 1e-9  # largest change of a weight in the last sweep


def lasso(features: Array, targets: Array, penalty: float) -> Array:
    """Weights that minimise ‖y − Xw‖² / 2n + penalty·‖w‖₁ for every target, by coordinate descent.

    The rows are met once, in XᵀX and XᵀY; what follows depends on the number of columns only.

    Args:
        features: X, centred [n, feature].
        targets: Y, centred [n, target].
        penalty: of the absolute weights.

    Returns:
        Weights [feature, target].

    Reference:
        Friedman et al. 2010, Regularization Paths for Generalized Linear Models via Coordinate Descent, section 2.2.

    Example:
        >>> x = np.array([[1.0], [-1.0]])
        >>> lasso(x, 3 * x, 0.1).round(9)
        array([[2.9]])
    """
    gram, against = features.T @ features / len(features), features.T @ targets / len(features)
    weights = np.zeros_like(against)
    used = np.flatnonzero(np.diag(gram) > 0)
    for _ in range(SWEEPS):
        change = 0.0
        for j in used:
            free = against[j] - gram[j] @ weights + gram[j, j] * weights[j]
            found = np.sign(free) * np.maximum(np.abs(free) - penalty, 0) / gram[j, j]
            change = max(change, float(np.abs(found - weights[j]).max(initial=0)))
            weights[j] = found
        if change < TOLERANCE:
            break
    return weights
