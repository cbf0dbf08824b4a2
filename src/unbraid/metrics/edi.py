"""EDI, the exclusivity disentanglement index: modularity, compactness and explicitness by exclusive information."""

from __future__ import annotations

import numpy as np

from unbraid.errors import InputError, unknown
from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.information import POINTS, binned_information
from unbraid.metrics._shared.predictive import predicted_shares
from unbraid.metrics._shared.table import BINS, Table
from unbraid.metrics.record import CHANGES, Display, Metric, register
from unbraid.metrics.score import Score

CAPTURED = ("probe", "max", "sum")


# A probe gets less out of codes that know nothing than the bins of one of them seem to hold: no draw needs it.
@table_metric
@calibration(draws=3, without={"captured": "max"})
def edi(
    table: Table,
    *,
    captured: str = "probe",
    bins: int = BINS,
    points: int | None = POINTS,
    train: int = 2000,
    test: int = 1000,
    seed: int = 0,
    replicates: int = REPEATS,
) -> dict[str, Score]:
    """Exclusivity disentanglement index: how far one code stands out among those that know a factor, and one factor.

    With R_jk = I(z_j; v_k)/I(z; v_k) and exclusivity(r) = max r − √(mean of r² over the others):
    modularity = mean_k min(1, Σ exclusivity(R_j·) over the latents j whose largest share is of factor k),
    compactness = mean_k exclusivity(R_·k), explicitness = mean_k min(1, I(z; v_k)/H(v_k)).

    The authors' program estimates I(z; v_k), what all codes know together, by a neural network whose outcome depends on
    its training, or by two simpler rules. Here it is what a regression gets out of held-out rows, or one of these.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        captured: I(z; v_k): `probe`: H(v_k) minus the cross-entropy on held-out rows of a multinomial logistic
            regression on codes and products of codes, and no less than the best single latent knows. `max`: what the
            best latent XX
        bins: equal-width bins of each latent.
        points: rows to draw; None for all.
        train: rows to fit the probe on.
        test: rows to test it on.
        seed: of draws, split and bootstrap.
        replicates: bootstrap samples of the rows; 0 for no intervals.

    Returns:
        Scores in [0, 1] for `modularity`, `compactness` and `explicitness`.

    Reference:
        Julka et al. 2024, «Towards an improved metric for evaluating disentangled representations», and their program.

    Example:
        >>> from unbraid.metrics._shared.examples import mixed_table, perfect_table
        >>> {name: round(score.value, 2) for name, score in edi(*perfect_table(), replicates=0).items()}
        {'modularity': 1.0, 'compactness': 1.0, 'explicitness': 1.0}
        >>> edi(*mixed_table(), replicates=0)["compactness"].value < 0.6
        True
    """
    if captured not in CAPTURED:
        raise unknown("captured information of EDI", captured, CAPTURED)
    if len(table.names) < 2:
        raise InputError("EDI compares factors; the table has only one, so leave it out.")
    found = binned_information(table, bins, points, seed)
    probed, drawn = None, None
    if captured == "probe":
        every = list(range(table.codes.shape[1]))
        probed, _, drawn = predicted_shares(table, every, train, test, seed, replicates)
    known = _known(found.matrix, found.entropy, captured, probed)
    each = parts(found.matrix, found.entropy, known)
    spreads: dict[str, Array] = {}
    if replicates:
        matrix, entropy = found.replicates(seed, replicates)
        again = _known(matrix, entropy, captured, drawn)
        spreads = {name: values.mean(axis=-1) for name, values in parts(matrix, entropy, again).items()}
    details = {"captured": captured, "bins": bins, "seed": seed, "rows": found.rows}

    def score(name: str, values: Array) -> Score:
        value = float(values.mean())
        spread = interval(value, spreads[name], 0, 1) if replicates else None
        return Score(value, spread, {**details, "per_factor": table.by_factor(values)})

    return {name: score(name, values) for name, values in each.items()}


def parts(information: Array, entropy: Array, known: Array) -> dict[str, Array]:
    """Each factor's part of the three scores, from I(z_j; v_k) [..., latent, factor], H(v_k) and I(z; v_k).

    Example:
        >>> each = parts(np.array([[0.5, 0.0], [0.0, 0.3], [0.0, 0.4]]), np.array([1.0, 0.5]), np.array([0.5, 0.5]))
        >>> {name: [round(value, 2) for value in values.tolist()] for name, values in each.items()}
        {'modularity': [1.0, 1.0], 'compactness': [1.0, 0.38], 'explicitness': [0.5, 1.0]}
    """
    known = np.maximum(known, 1e-12)
    share = np.maximum(information, 0.0) / known[..., None, :]  # rounding may leave less than nothing
    own = np.arange(share.shape[-1]) == share.argmax(axis=-1)[..., None]  # [..., latent, factor]: whose it is
    held = (own * exclusivity(share)[..., None]).sum(axis=-2)
    return {
        "modularity": np.minimum(held, 1.0),
        "compactness": np.minimum(exclusivity(np.swapaxes(share, -1, -2)), 1.0),
        "explicitness": np.minimum(known / np.maximum(entropy, 1e-12), 1.0),
    }


def exclusivity(values: Array) -> Array:
    """How far the largest stands out along the last axis: max minus the root of the others' mean square.

    Example:
        >>> exclusivity(np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.0, 0.6, 0.8]])).round(2).tolist()
        [1.0, 0.0, 0.38]
    """
    largest = values.max(axis=-1)
    others = np.maximum((values**2).sum(axis=-1) - largest**2, 0.0) / max(1, values.shape[-1] - 1)
    return np.asarray(largest - np.sqrt(others))


def _known(information: Array, entropy: Array, captured: str, probed: Array | None) -> Array:
    """I(z; v_k), [..., factor]."""
    best = information.sum(axis=-2) if captured == "sum" else information.max(axis=-2)
    if probed is not None:
        best = np.maximum(best, probed * entropy)
    return np.asarray(best)


register(
    Metric(
        name="edi",
        title="EDI",
        description="modularity, compactness, explicitness by exclusive information",
        when="For modularity, compactness and explicitness by one notion: information that one code alone has.",
        function=edi,
        reference="Julka et al. 2024",
        unchanged_by=CHANGES,
        parts={
            "modularity": Display("EDI modularity", "each latent knows one factor", "higher", (0.0, 1.0)),
            "compactness": Display("EDI compactness", "each factor is in one latent", "higher", (0.0, 1.0)),
            "explicitness": Display("EDI explicitness", "codes know all of a factor", "higher", (0.0, 1.0)),
        },
    )
)
