"""Downstream accuracy: how well a probe predicts factors from codes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from unbraid.errors import InputError, unknown
from unbraid.metrics._shared.bootstrap import REPEATS
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.mlp import mlp_guesses
from unbraid.metrics._shared.probes import accuracy_score, one_vs_rest_decisions
from unbraid.metrics._shared.strata import TEST, TRAIN
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score


@table_metric
@calibration(draws=3, train=2000)
def downstream(
    table: Table,
    *,
    probe: str = "mlp",
    latents: Sequence[int] | None = None,
    train: int = TRAIN,
    test: int = TEST,
    hidden: int = 100,
    epochs: int = 20,
    seed: int = 0,
    replicates: int = REPEATS,
) -> Score:
    """Downstream accuracy: how well a probe predicts each factor from the codes, on test rows.

    Continuous factors are predicted as 20 equally filled bins.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        probe: `mlp` (one hidden layer of ReLUs, Adam, codes standardised) or `linear` (one-vs-rest logistic
            regression).
        latents: columns of the codes to read, as indices into the array (0 is z1); all if left out.
        train: rows to fit on.
        test: rows to test on.
        hidden: units of the hidden layer.
        epochs: passes over the rows to fit on.
        seed: of the split, the network and the bootstrap.
        replicates: bootstrap samples of the test rows, with the probe as fitted; 0 for no interval.

    Returns:
        The accuracy, averaged over factors; `details["per_factor"]` has each, `details["latents"]` names what was read.

    Reference:
        van Steenkiste et al. 2019; §4 of the MS-VAE paper, which does not give its layers.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> codes, factors = perfect_table()
        >>> score = downstream(codes, factors[:, 0], probe="linear", latents=[0])
        >>> score.value, score.details["latents"]
        (1.0, ['z1'])
    """
    if probe not in ("mlp", "linear"):
        raise unknown("probe", probe, ("mlp", "linear"))
    chosen = _chosen(latents, table.codes.shape[1])
    fit, held = table.split(train, test, seed)
    truth = np.stack([table.groups(f)[0][held] for f in range(len(table.names))], axis=1)
    if probe == "linear":
        decisions, seen = one_vs_rest_decisions(table, train, test, seed, chosen)
        guesses = [values[decision.argmax(axis=1)] for decision, values in zip(decisions, seen, strict=True)]
    else:
        x = table.codes if chosen is None else table.codes[:, list(chosen)]
        spread = x[fit].std(axis=0)
        x = (x - x[fit].mean(axis=0)) / np.where(spread > 1e-12, spread, 1.0)
        labels = [table.groups(f)[0][fit] for f in range(len(table.names))]
        for name, label in zip(table.names, labels, strict=True):
            if (label < 0).all():
                raise InputError(f"factor {name!r} has no known value among the rows to fit on; give more rows.")
        guesses = mlp_guesses(x[fit], labels, x[held], hidden, epochs, seed)
    known = (truth >= 0).astype(np.float64)
    correct = known * (np.stack(guesses, axis=1) == truth)
    details = {
        "probe": probe,
        "latents": "all" if chosen is None else [table.columns[j] for j in chosen],
        "seed": seed,
        "train": len(fit),
        "test": len(held),
    }
    return accuracy_score(table.names, correct, known, details, seed, replicates)


def _chosen(latents: Sequence[int] | None, d: int) -> tuple[int, ...] | None:
    if latents is None:
        return None
    chosen = tuple(int(j) for j in latents)
    if not chosen or any(j not in range(d) for j in chosen):
        raise InputError(f"latents {list(chosen)} are not columns of the codes; choose from 0 to {d - 1}.")
    return chosen


register(
    Metric(
        name="downstream",
        title="Downstream",
        description="accuracy of an MLP that predicts factors from codes",
        when="To ask what the codes are worth for prediction, separated or not.",
        function=downstream,
        reference="van Steenkiste et al. 2019",
        unchanged_by=("shift", "scale of each", "common scale"),
    )
)
register(
    Metric(
        name="downstream_linear",
        title="Downstream, linear",
        description="accuracy of a linear probe",
        when="To ask what a linear probe can predict from the codes.",
        function=partial(downstream, probe="linear"),
        reference="van Steenkiste et al. 2019",
        unchanged_by=("order", "sign", "shift"),
    )
)
