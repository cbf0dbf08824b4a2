"""Numbers, names and symbols as a reader wants to see them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

METHODS = {
    "vae": "VAE",
    "beta-vae": "β-VAE",
    "annealed-vae": "AnnealedVAE",
    "beta-tcvae": "β-TCVAE",
    "factor-vae": "FactorVAE",
    "dip-vae": "DIP-VAE",
    "dip-vae-i": "DIP-VAE-I",
    "dip-vae-ii": "DIP-VAE-II",
    "ms-vae": "MS-VAE",
    "ms-gan": "MS-GAN",
    "ms-flow": "MS-Flow",
    "parted-vae": "PartedVAE",
    "full-vae": "FullVAE",
    "ivae": "IVAE",
    "idvae": "IDVAE",
    "ss-ivae": "SS-IVAE",
    "ss-idvae": "SS-IDVAE",
}


@dataclass(frozen=True)
class MetricName:
    """What a metric is called, which way is better and the range that it lives in (None: open above)."""

    short: str
    long: str
    higher_is_better: bool | None
    top: float | None


METRICS = {
    "mig": MetricName("MIG", "mutual information gap", True, 1.0),
    "factor_score": MetricName("FactorVAE score", "majority vote on the latent of least variance", True, 1.0),
    "beta_score": MetricName("β-VAE score", "accuracy of a linear vote on differences", True, 1.0),
    "z_diff": MetricName("Z-diff", "accuracy on mean absolute differences", True, 1.0),
    "sap": MetricName("SAP", "separated attribute predictability", True, 1.0),
    "modularity": MetricName("Modularity", "each latent holds one factor", True, 1.0),
    "explicitness": MetricName("Explicitness", "factors can be read off linearly", True, 1.0),
    "dci": MetricName("DCI", "disentanglement", True, 1.0),
    "dci_disentanglement": MetricName("DCI disentanglement", "each latent predicts one factor", True, 1.0),
    "dci_completeness": MetricName("DCI completeness", "each factor is predicted by one latent", True, 1.0),
    "dci_informativeness": MetricName("DCI informativeness", "accuracy of the prediction", True, 1.0),
    "irs": MetricName("IRS", "interventional robustness", True, 1.0),
    "mcc": MetricName("MCC", "mean correlation coefficient", True, 1.0),
    "udr": MetricName("UDR", "agreement between seeds", True, 1.0),
    "total_correlation": MetricName("Total correlation", "of the codes, Gaussian estimate, nats", False, None),
    "identifiability": MetricName("Condition (iv)", "condition number of the prior’s matrix L", False, None),
    "l1": MetricName("L1", "mean absolute error of the reconstruction", False, None),
    "l2": MetricName("L2", "mean squared error of the reconstruction", False, None),
    "fid": MetricName("FID", "Fréchet Inception distance", False, None),
    "lpips": MetricName("LPIPS", "perceptual distance", False, None),
    "kid": MetricName("KID", "kernel Inception distance", False, None),
    "mig_chen": MetricName("MIG, Chen’s", "by posteriors over all rows", True, 1.0),
    "sap_threshold": MetricName("SAP, thresholds", "as in the DIP-VAE paper", True, 1.0),
    "downstream": MetricName("Downstream", "accuracy of an MLP from the codes", True, 1.0),
    "downstream_linear": MetricName("Downstream, linear", "accuracy of a linear probe", True, 1.0),
    "attribute_classification": MetricName("Attributes", "accuracy on binary factors", True, 1.0),
    "elbo_terms/index_code_mi": MetricName("Index-code information", "first part of the KL, nats", None, None),
    "elbo_terms/total_correlation": MetricName("TC of q(z)", "second part of the KL, nats", False, None),
    "elbo_terms/dimension_kl": MetricName("Dimension-wise KL", "third part of the KL, nats", None, None),
    "elbo_terms/kl": MetricName("KL", "of the posteriors to the prior, nats", None, None),
    "elbo_terms/reconstruction": MetricName("−log p(x given z)", "of stage 1, nats", False, None),
    "elbo_terms/elbo": MetricName("ELBO", "of stage 1, nats", True, None),
    "conditioning/M1": MetricName("M1", "information of y’s codes on x’s", True, 1.0),
    "conditioning/M2": MetricName("M2", "of x̂’s codes", True, 1.0),
    "conditioning/M3": MetricName("M3", "of x̂’s codes with noise for z", True, 1.0),
    "conditioning/M4": MetricName("M4", "of x̂’s codes with noise for y", False, 1.0),
    "downstream_by_stage/c": MetricName("Downstream, C", "accuracy of an MLP from stage 1’s codes", True, 1.0),
    "downstream_by_stage/z": MetricName("Downstream, Z", "from the codes of later stages", None, 1.0),
    "downstream_by_stage/c+z": MetricName("Downstream, C and Z", "from the codes of all stages", True, 1.0),
    "class_accuracy": MetricName("Class accuracy", "observations whose class the model names right", True, 1.0),
    "identity_change": MetricName("Identity change", "share of variance that moves with c, all else kept", None, 1.0),
}


def method(name: str) -> str:
    """The paper's own spelling of a method's name."""
    return METHODS.get(name, name)


def metric(name: str) -> MetricName:
    """Names of a metric; `stage-1/l2` is L2 of stage 1's output, and an unknown metric keeps its own name."""
    parts = name.split("/")
    if len(parts) == 2 and name not in METRICS and parts[0] in METRICS and parts[1] not in METRICS:
        of_one = METRICS[parts[0]]  # class_accuracy/shape
        return replace(of_one, short=f"{of_one.short}, {parts[1]}")
    start = next((k for k in range(len(parts)) if "/".join(parts[k:]) in METRICS), len(parts) - 1)
    base = "/".join(parts[start:])
    known = METRICS.get(base, MetricName(base.replace("_", " "), "", None, None))
    if not start:
        return known
    place = ", ".join(parts[:start]).replace("-", " ")
    return MetricName(f"{known.short}, {place}", known.long, known.higher_is_better, known.top)


def labelled(budget: Mapping[str, Any]) -> str:
    """Which observations had labels, and of what."""
    if not budget.get("count"):
        return "no observation"
    which = f"{'the first ' if budget.get('first') else ''}{count(budget.get('count'))}"
    return f"{which} observations ({', '.join(map(str, budget.get('factors') or ()))})"


def term(name: str) -> str:
    """A loss term in words; what people write in capitals stays in capitals."""
    return " ".join(w.upper() if w in ("kl", "tc", "mi", "elbo") else w for w in name.split("_"))


def symbols(stages: int) -> list[str]:
    """What each stage's output is called: y and then x̂ as in the MS-VAE paper; y₁, y₂, … when there are more."""
    if stages <= 2:
        return ["y", "x̂"][2 - stages :] if stages else []
    return [f"y{subscript(i)}" for i in range(1, stages)] + ["x̂"]


def subscript(number: int) -> str:
    """A number in subscript digits."""
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def number(value: float | None, digits: int = 3) -> str:
    """A value to some significant digits, with a proper minus sign; a dash if there is none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if exponent < -4 or exponent > 6:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        text = f"{mantissa}·10{superscript(int(power))}"
    else:
        text = f"{value:,.{max(0, digits - 1 - exponent)}f}"
    return text.replace("-", "−")


def superscript(number: int) -> str:
    """A number in superscript digits."""
    return str(number).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def tick(value: float) -> str:
    """A short label for an axis: 1500 becomes 1.5k."""
    size = abs(value)
    for unit, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= unit:
            return f"{value / unit:.4g}{suffix}".replace("-", "−")
    return f"{value:.4g}".replace("-", "−")


def count(value: float | None) -> str:
    """A whole number with thousands apart."""
    return "–" if value is None else f"{int(value):,}"


def duration(seconds: float | None) -> str:
    """Seconds in the two units that matter."""
    if seconds is None:
        return "–"
    if seconds < 59.5:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def plain(value: Any) -> str:
    """A value of an option or a detail as text."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}".replace("-", "−")
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain(item)}" for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(plain(item) for item in value)
    return str(value)


def shape(sizes: Sequence[int]) -> str:
    """The shape of one observation in words."""
    if len(sizes) == 3:
        channels, height, width = sizes
        kind = {1: "grey", 3: "RGB"}.get(channels, f"{channels}-channel")
        return f"{width}×{height} {kind} images"
    return f"vectors of {count(sizes[0])} values" if len(sizes) == 1 else "×".join(map(str, sizes))
