"""The newest figures of a training in one line: every loss as the sum that it is."""

from __future__ import annotations

from collections.abc import Mapping

HELD_OUT = "held_out/"  # before the figures of held-out rows
TERM = "total/"  # before the names of terms with their weights, which add up to the total


def progress_note(figures: Mapping[str, float]) -> str:
    """What stands beside the bar.

    Args:
        figures: as in a line of the log: «update/total», its terms with their weights as «update/total/name», the same
            without as «update/name», and figures beside them.

    Returns:
        Each update's loss as a sum, then its other figures.

    Example:
        >>> progress_note({"vae/total": 9.0, "vae/total/error": 3.0, "vae/total/kl": 6.0, "vae/error": 3.0,
        ...                "vae/kl": 1.5, "vae/kl_unbiased": 1.25})
        'loss 9 = error 3 + 4·kl 6  kl (unbiased) 1.25'
    """
    updates: dict[str, dict[str, float]] = {}
    for key, value in figures.items():
        update, _, name = key.partition("/")
        if name.startswith(HELD_OUT):  # not on every line of the log, so it would come and go
            continue
        updates.setdefault(update, {})[name] = value
    only = len(updates) == 1
    return "  ".join(_update(("loss" if only else update), found) for update, found in updates.items())


def _update(title: str, found: Mapping[str, float]) -> str:
    terms = {name.removeprefix(TERM): value for name, value in found.items() if name.startswith(TERM)}
    said = f"{title} {found['total']:.4g}" if "total" in found else title
    if len(terms) > 1:
        summands = [f"{_weight(value, found.get(name))}{_words(name)} {value:.4g}" for name, value in terms.items()]
        said += f" = {' + '.join(summands)}"
    rest = [name for name in found if name != "total" and not name.startswith(TERM) and name not in terms]
    return "  ".join([said, *(f"{_words(name)} {found[name]:.4g}" for name in rest)])


def _weight(value: float, plain: float | None) -> str:
    """The weight of a term, where it is not 1; nothing where it cannot be told, of a term that is 0."""
    weight = value / plain if plain else 1.0
    return "" if abs(weight - 1) < 1e-4 else f"{weight:.3g}·"


def _words(name: str) -> str:
    plain = name.removesuffix("_unbiased").replace("_", " ")
    return f"{plain} (unbiased)" if name.endswith("_unbiased") else plain
