"""The metrics by name, as `unbraid metrics` prints them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from unbraid.metrics.chain import conditioning
from unbraid.metrics.classes import class_accuracy
from unbraid.metrics.correlation import mcc, total_correlation
from unbraid.metrics.downstream import attribute_classification, downstream
from unbraid.metrics.elbo import elbo_terms
from unbraid.metrics.features import fid, kid
from unbraid.metrics.importance import dci
from unbraid.metrics.information import mig, modularity
from unbraid.metrics.intervention import factor_score
from unbraid.metrics.pairs import beta_score, z_diff
from unbraid.metrics.predictability import sap
from unbraid.metrics.probes import explicitness
from unbraid.metrics.quality import l1, l2, lpips
from unbraid.metrics.ranking import udr
from unbraid.metrics.robustness import irs
from unbraid.metrics.stages import downstream_by_stage, identity_change


class Metric(NamedTuple):
    """A metric: the function, what it says in one line, and what it needs."""

    function: Callable[..., Any]
    description: str
    needs: str


TABLE = "codes, factors"
POSTERIOR_TABLE = "means, log-variances, factors"
CODES = "codes"
POSTERIOR = "means, log-variances"

METRICS: Mapping[str, Metric] = {
    "mig": Metric(mig, "gap between the two latents that know most of a factor", TABLE),
    "mig_chen": Metric(
        partial(mig, convention="chen"), "the same by posteriors over the whole data set", POSTERIOR_TABLE
    ),
    "sap": Metric(sap, "gap between the two latents that predict a factor best", TABLE),
    "sap_threshold": Metric(partial(sap, mode="threshold"), "the same by thresholds on the latent", TABLE),
    "modularity": Metric(modularity, "whether each latent knows of one factor only", TABLE),
    "explicitness": Metric(explicitness, "whether values can be read off the codes linearly", TABLE),
    "factor_score": Metric(factor_score, "FactorVAE: the least varying latent names the fixed factor", TABLE),
    "beta_score": Metric(beta_score, "β-VAE: which factor a pair shares, by logistic regression", TABLE),
    "z_diff": Metric(z_diff, "the same by linear SVMs, as in DIP-VAE", TABLE),
    "dci": Metric(dci, "disentanglement (with completeness, informativeness) from feature importance", TABLE),
    "irs": Metric(irs, "whether a latent stays put when other factors change", TABLE),
    "mcc": Metric(mcc, "mean correlation of factors with the latents assigned to them", TABLE),
    "downstream": Metric(downstream, "accuracy of an MLP that predicts factors from codes", TABLE),
    "downstream_linear": Metric(partial(downstream, probe="linear"), "accuracy of a linear probe", TABLE),
    "attribute_classification": Metric(
        attribute_classification, "accuracy of attribute vectors on binary factors", TABLE
    ),
    "total_correlation": Metric(total_correlation, "dependence of the codes if they were Gaussian, nats", CODES),
    "elbo_terms": Metric(elbo_terms, "the KL as index-code MI + total correlation + dimension-wise KL", POSTERIOR),
    "udr": Metric(udr, "how far models agree: choose one without labels", "codes of several models"),
    "conditioning": Metric(conditioning, "M1–M4: whether a second stage keeps to the codes", "codes of a chain"),
    "downstream_by_stage": Metric(
        downstream_by_stage, "accuracy from stage 1's codes, later stages' and both", "codes of a chain, factors"
    ),
    "identity_change": Metric(
        identity_change, "share of variance that moves with c while all other codes stay", "features of a chain"
    ),
    "class_accuracy": Metric(class_accuracy, "share of observations whose class the model names", "classes, labels"),
    "l1": Metric(l1, "mean absolute error per value", "observations, reconstructions"),
    "l2": Metric(l2, "mean squared error per value", "observations, reconstructions"),
    "lpips": Metric(lpips, "mean perceptual distance, by a network that you give", "distances of pairs of images"),
    "fid": Metric(fid, "Fréchet distance of features", "features of two sets of images"),
    "kid": Metric(kid, "kernel distance of features", "features of two sets of images"),
}
