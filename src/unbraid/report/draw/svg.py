"""SVG as values: elements that escape what they are given, and axes that people can read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def tag(name: str, /, *children: str, **attributes: object) -> Markup:
    """An element; `stroke_width=1` becomes `stroke-width="1"`, `class_` becomes `class`."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_short(value))}"' for key, value in attributes.items()
    )
    inner = "".join(escape(child) for child in children)
    return Markup(f"<{name}{given}>{inner}</{name}>" if inner else f"<{name}{given}/>")


def drawing(width: float, height: float, label: str, *children: str, **attributes: object) -> Markup:
    """The root element; it scales with its container and tells what it shows to those who cannot see it."""
    box = f"0 0 {_short(width)} {_short(height)}"
    return tag("svg", *children, viewBox=box, role="img", aria_label=label, **attributes)


def polyline(x: Floats, y: Floats, **attributes: object) -> Markup:
    """A line through the points; values that are not finite interrupt it."""
    parts: list[str] = []
    pen = "M"
    for a, b in zip(x, y, strict=True):
        if math.isfinite(a) and math.isfinite(b):
            parts.append(f"{pen}{_short(float(a))} {_short(float(b))}")
            pen = "L"
        else:
            pen = "M"
    return tag("path", d="".join(parts), **attributes)


def _short(value: object) -> str:
    # Two decimals are a hundredth of a pixel; more would only make the page heavy.
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high` on a line from `start` to `end`, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, values: Floats | Sequence[float] | float) -> Floats:
        """Where values fall."""
        v = np.asarray(values, dtype=float)
        low, high = self.low, self.high
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                v = np.log(v)
            low, high = math.log(low), math.log(high)
        placed: Floats = self.start + (v - low) / (high - low) * (self.end - self.start)
        return placed

    def place(self, value: float) -> float:
        """Where one value falls."""
        return float(self.at(value))

    def ticks(self, most: int = 5) -> list[float]:
        """Round values inside the axis, at most about `most` of them."""
        return log_ticks(self.low, self.high, most) if self.log else linear_ticks(self.low, self.high, most)


def linear_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Multiples of 1, 2, 2.5 or 5 times a power of ten within [low, high]."""
    step = nice_step((high - low) / max(1, most - 1))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def log_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Powers of ten within [low, high], with 2 and 5 between them where there is room."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for factors in ((1, 2, 5), (1, 3), (1,)):
        found = [f * 10.0**p for p in range(first, last + 1) for f in factors]
        found = [v for v in found if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]
        if len(found) <= most:
            return found
    return found[:: math.ceil(len(found) / most)]


def nice_step(rough: float) -> float:
    """The least of 1, 2, 2.5, 5 times a power of ten that is not below `rough`."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= rough * (1 - 1e-9))


def value_axis(values: Floats, start: float, end: float) -> Axis:
    """An axis for a curve: logarithmic if it is positive and falls or rises by more than eightfold."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return Axis(0, 1, start, end)
    low, high = float(finite.min()), float(finite.max())
    if low > 0 and high / low > 8:
        # A curve that rises from next to nothing is about its end, not about the decades at its start.
        tail = float(np.median(finite[len(finite) // 2 :]))
        if tail < math.sqrt(low * high) * 2 and tail < high / 4:
            return Axis(low / 1.15, high * 1.15, start, end, log=True)
    if low >= 0 and low < 0.4 * high:
        low = 0.0
    margin = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return Axis(low if low == 0.0 else low - margin, high + margin, start, end)


def join(parts: Iterable[str]) -> Markup:
    """Pieces of markup, one after the other."""
    return Markup("").join(parts)
