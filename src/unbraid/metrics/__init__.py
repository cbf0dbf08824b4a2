"""Disentanglement, quality and ELBO metrics: pure functions of arrays, without torch.

Every metric of a table is `f(codes, factors, *, seed=0, ...) -> Score`; `suite` computes all of them at once. A metric
is one file, named after it, with its record (`unbraid.metrics.record.Metric`), and one line here.

Latents are numbered from 1 wherever people read of them: z1 is the first column of the codes.
"""

from unbraid.metrics._shared.checks import as_table as as_table
from unbraid.metrics._shared.features import GaussianStatistics as GaussianStatistics
from unbraid.metrics._shared.table import Table as Table
from unbraid.metrics._shared.table import latent_names as latent_names
from unbraid.metrics._shared.table import stage_prefix as stage_prefix
from unbraid.metrics.keys import MetricKey as MetricKey
from unbraid.metrics.load import load_table as load_table
from unbraid.metrics.mutual_information import mutual_information_matrix as mutual_information_matrix
from unbraid.metrics.record import METRICS as METRICS
from unbraid.metrics.record import Display as Display
from unbraid.metrics.record import Metric as Metric
from unbraid.metrics.score import Score as Score

# isort: split
# The metrics, in the order in which they are listed and computed; importing one registers it.
# isort: off
from unbraid.metrics.mig import mig as mig
from unbraid.metrics.mig_sup import mig_sup as mig_sup
from unbraid.metrics.sap import sap as sap
from unbraid.metrics.modularity import modularity as modularity
from unbraid.metrics.explicitness import explicitness as explicitness
from unbraid.metrics.factor_score import factor_score as factor_score
from unbraid.metrics.beta_score import beta_score as beta_score
from unbraid.metrics.z_diff import z_diff as z_diff
from unbraid.metrics.dci import dci as dci
from unbraid.metrics.dci_es import dci_es as dci_es
from unbraid.metrics.infomec import infomec as infomec
from unbraid.metrics.minimality import minimality as minimality
from unbraid.metrics.sufficiency import sufficiency as sufficiency
from unbraid.metrics.omes import omes as omes
from unbraid.metrics.edi import edi as edi
from unbraid.metrics.irs import irs as irs
from unbraid.metrics.mcc import mcc as mcc
from unbraid.metrics.downstream import downstream as downstream
from unbraid.metrics.attribute_classification import attribute_classification as attribute_classification
from unbraid.metrics.total_correlation import total_correlation as total_correlation
from unbraid.metrics.elbo_terms import elbo_terms as elbo_terms
from unbraid.metrics.udr import udr as udr
from unbraid.metrics.leakage import leakage as leakage
from unbraid.metrics.factor_leakage import factor_leakage as factor_leakage
from unbraid.metrics.conditioning import code_information as code_information, conditioning as conditioning
from unbraid.metrics.downstream_by_stage import downstream_by_stage as downstream_by_stage
from unbraid.metrics.identity_change import identity_change as identity_change
from unbraid.metrics.class_accuracy import class_accuracy as class_accuracy
from unbraid.metrics.l1 import l1 as l1
from unbraid.metrics.l2 import l2 as l2
from unbraid.metrics.lpips import lpips as lpips
from unbraid.metrics.fid import fid as fid
from unbraid.metrics.kid import kid as kid
# isort: on

from unbraid.metrics.suite import SUITE as SUITE
from unbraid.metrics.suite import suite as suite
