"""Which setting to take, in words that say how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unbraid.search.agreement import NAMES as NEEDS_SEEDS
from unbraid.search.ranking import Ranked, Summary, ordered, sign, title

FEW_CODES = 2
WITHOUT_LABELS = (*NEEDS_SEEDS, "elbo", "reconstruction", "l2", "codes_used")


def recommendation(settings: Sequence[Ranked], by: str) -> list[str]:
    """What to take and how sure that is: one sentence each for the choice, its rivals, and what the score cannot tell.

    Args:
        settings: of the search, in any order.
        by: the figure to choose by.

    Returns:
        Sentences; one that says why there is no choice, where there is none.
    """
    found = [one for one in ordered(settings, by) if not math.isnan(one.value(by))]
    if not found:
        if by in NEEDS_SEEDS:
            return [
                f"No setting has two finished seeds, which {title(by)} compares: raise --seeds, or choose --by elbo."
            ]
        return [f"No finished trial has a value of {title(by)}, so that nothing can be recommended."]
    best = found[0]
    first = f"{best.setting.name}: {with_interval(by, best.figures[by])}"
    if len(found) == 1:
        return [f"{first}; there is no other setting to compare it with."]
    second = found[1]
    ahead, shared = seeds_ahead(best.figures[by], second.figures[by], by)
    sentences = [f"{first}, ahead of {second.setting.name} in {ahead} of {shared} seeds."]
    rivals = [one for one in found[1:] if overlaps(best.figures[by], one.figures[by])]
    if math.isnan(best.figures[by].low):
        sentences.append("With so few seeds there are no intervals: more of them would show how sure this is.")
    elif not rivals:
        sentences.append("Its interval touches that of no other setting.")
    else:
        names = "; ".join(one.setting.name for one in rivals[:3]) + (" and others" if len(rivals) > 3 else "")
        sentences.append(
            f"Its interval overlaps with {len(rivals)} of {len(found) - 1} others ({names}): these are open."
        )
    used = best.value("codes_used")
    if used < FEW_CODES:
        sentences.append(
            f"It uses {shown(used)} codes on average: what says so little agrees, or fits, for no good reason."
        )
    if by in ("udr", "udr_lasso"):
        sentences.append(
            "UDR rewards codes that other seeds find too. It cannot tell whether they are what you would call factors: "
            "look at the traversals."
        )
    elif by in WITHOUT_LABELS:
        sentences.append(f"{title(by)} says how well the model fits, not whether its codes are apart.")
    return sentences


def with_interval(name: str, found: Summary) -> str:
    """A figure as in `UDR 0.43 [0.38, 0.47]`."""
    ends = "" if math.isnan(found.low) else f" [{shown(found.low)}, {shown(found.high)}]"
    return f"{title(name)} {shown(found.mean)}{ends}"


def shown(value: float) -> str:
    """A value to three digits, with a proper minus.

    Example:
        >>> shown(0.4321), shown(-123.4)
        ('0.432', '−123')
    """
    return (f"{value:.3g}" if abs(value) < 1e4 else f"{value:,.0f}").replace("-", "−")


def seeds_ahead(one: Summary, other: Summary, by: str) -> tuple[int, int]:
    """In how many of the seeds that both have the first is ahead, and how many these are."""
    shared = [seed for seed in one.seeds if seed in other.seeds]
    return sum(sign(by) * (one.seeds[seed] - other.seeds[seed]) > 0 for seed in shared), len(shared)


def overlaps(one: Summary, other: Summary) -> bool:
    """Whether two intervals touch; unknown ones touch everything."""
    if math.isnan(one.low) or math.isnan(other.low):
        return True
    return one.low <= other.high and other.low <= one.high
