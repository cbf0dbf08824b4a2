"""Figures of learned conditional priors p(z | u) (IVAE, IDVAE and their semi-supervised forms)."""

from __future__ import annotations

import torch

from unbraid.api import Run
from unbraid.methods import IDVAE, SSIDVAE
from unbraid.methods.labelled.conditional import ConditionalVAE
from unbraid.papers.measures import runs as measures
from unbraid.papers.measures.chains import NOTHING


def prior_divergence(run: Run) -> float:
    """KL[q(z | u) ‖ N(0, I)] of the VAE over u at the end of training, in nats; 0: the prior tells nothing of u."""
    return measures.logged(run, "prior/kl") if isinstance(run.config(1), IDVAE | SSIDVAE) else NOTHING


def prior_mig(run: Run) -> float:
    """MIG of the means of p(z | u) at the true labels: what an encoder that obeyed its prior would have."""
    method = run.stage(1)
    if not isinstance(method, ConditionalVAE):
        return NOTHING
    labels = torch.from_numpy(run.encode(labels=True, show=False).factors).float().to(run.device)
    with torch.inference_mode():
        codes = method.conditional_prior_of(labels).mean.cpu().numpy()
    return measures.mig(run, codes=codes)
