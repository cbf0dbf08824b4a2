"""Numbers and symbols as a reader wants to see them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any


def labelled(budget: Mapping[str, Any]) -> str:
    """Which observations had labels, and of what."""
    if not budget.get("count"):
        return "no observation"
    which = f"{'the first ' if budget.get('first') else ''}{count(budget.get('count'))}"
    return f"{which} observations ({', '.join(map(str, budget.get('factors') or ()))})"


def term(name: str) -> str:
    """A loss term in words; what people write in capitals stays in capitals.

    Example:
        >>> term("kl_distance"), term("total_correlation_unbiased")
        ('KL distance', 'total correlation (unbiased)')
    """
    plain = name.removesuffix("_unbiased")
    said = " ".join(w.upper() if w in ("kl", "tc", "mi", "elbo") else w for w in plain.split("_"))
    return said if plain == name else f"{said} (unbiased)"


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


def to_step(value: float, step: float) -> str:
    """A value with two significant digits of `step`, which is how far it usually varies.

    Example:
        >>> to_step(1290.4, 314.0), to_step(14.372, 0.81), to_step(-1e-9, 5.0), to_step(0.00123, 2e-7)
        ('1,290', '14.37', '0.0', '0.00123')
    """
    decimals = 1 - math.floor(math.log10(step)) if step > 0 and math.isfinite(step) else 7
    if decimals > 6 or not math.isfinite(value) or abs(value) >= 1e7:
        return number(value)
    return f"{round(value, max(0, decimals)) + 0.0:,.{max(0, decimals)}f}".replace("-", "−")  # + 0.0: no −0.0


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
