"""Disentanglement, quality and ELBO metrics: pure functions of arrays, without torch."""

from unbraid.metrics.catalogue import METRICS, Metric
from unbraid.metrics.information import mig, modularity, mutual_information_matrix
from unbraid.metrics.intervention import factor_score
from unbraid.metrics.quality import l1, l2
from unbraid.metrics.score import Score
from unbraid.metrics.table import Table, as_table, load_table

__all__ = [
    "METRICS",
    "Metric",
    "Score",
    "Table",
    "as_table",
    "factor_score",
    "l1",
    "l2",
    "load_table",
    "mig",
    "modularity",
    "mutual_information_matrix",
]
