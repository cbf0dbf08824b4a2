"""Disentanglement, quality and ELBO metrics: pure functions of arrays, without torch.

Every metric of a table is `f(codes, factors, *, seed=0, ...) -> Score`; `suite` computes all of them at once.
"""

from unbraid.metrics.catalogue import METRICS, Metric
from unbraid.metrics.chain import code_information, conditioning
from unbraid.metrics.classes import class_accuracy
from unbraid.metrics.correlation import mcc, total_correlation
from unbraid.metrics.downstream import attribute_classification, downstream
from unbraid.metrics.elbo import elbo_terms
from unbraid.metrics.everything import SUITE, suite
from unbraid.metrics.features import GaussianStatistics, fid, kid
from unbraid.metrics.importance import dci
from unbraid.metrics.information import mig, modularity, mutual_information_matrix
from unbraid.metrics.intervention import factor_score
from unbraid.metrics.load import load_table
from unbraid.metrics.pairs import beta_score, z_diff
from unbraid.metrics.predictability import sap
from unbraid.metrics.probes import explicitness
from unbraid.metrics.quality import l1, l2, lpips
from unbraid.metrics.ranking import udr
from unbraid.metrics.robustness import irs
from unbraid.metrics.score import Score
from unbraid.metrics.stages import downstream_by_stage, identity_change
from unbraid.metrics.table import Table, as_table

__all__ = [
    "METRICS",
    "SUITE",
    "GaussianStatistics",
    "Metric",
    "Score",
    "Table",
    "as_table",
    "attribute_classification",
    "beta_score",
    "class_accuracy",
    "code_information",
    "conditioning",
    "dci",
    "downstream",
    "downstream_by_stage",
    "elbo_terms",
    "explicitness",
    "factor_score",
    "fid",
    "identity_change",
    "irs",
    "kid",
    "l1",
    "l2",
    "load_table",
    "lpips",
    "mcc",
    "mig",
    "modularity",
    "mutual_information_matrix",
    "sap",
    "suite",
    "total_correlation",
    "udr",
    "z_diff",
]
