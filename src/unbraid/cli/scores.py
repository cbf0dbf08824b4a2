"""Scores as a table on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unbraid.cli.console import out, print_table
from unbraid.metrics.keys import HEADS, TRAINING, MetricKey
from unbraid.metrics.score import verdict


def print_scores(results: Mapping[str, Mapping[str, Any]]) -> None:
    """Print scores with their intervals and, where it is known, with what chance and perfect codes get.

    Scores of encoders that read labels have two columns: with the labels and without them. Where observations are held
    out, a column says what each score is of, and one has that of training data beside it.

    Args:
        results: scores by name as in `metrics.json`; the entry `_` holds what they were computed from.
    """
    names = [name for name in results if name != "_"]
    if any(results[name].get("of") for name in names):
        print_parts(results, names)
        return
    if not results.get("_", {}).get("labels_at_test"):
        heads: tuple[str, ...] = ("metric", "value", "95 % interval")
        rows: list[tuple[str, ...]] = [(name, *formatted(results[name])) for name in names]
        if any(results[name].get("chance") for name in names):
            heads = (*heads, "chance", "ceiling", "on the way")
            rows = [(*row, *standing(results[row[0]], row[0])) for row in rows]
        print_table(heads, rows)
        return
    pairs: dict[str, dict[bool, str]] = {}
    for name in names:
        key = MetricKey.parse(name)
        said = " ".join(formatted(results[name])).removesuffix(" –")
        said += "*" if results[name].get("beyond_chance") is False else ""
        pairs.setdefault(str(key.plain), {})[key.reads_labels] = said
    print_table(("metric", *HEADS), [(name, row.get(True, "–"), row.get(False, "–")) for name, row in pairs.items()])
    if any(results[name].get("beyond_chance") is False for name in names):
        out.print("[dim]* no better than chance")


def should_be_low(name: str) -> bool:
    """Whether a low score is a good one."""
    from unbraid.metrics import METRICS  # deferred: listing scores of a file needs no metric

    key = MetricKey.parse(name)
    return key.metric in METRICS and METRICS[key.metric].display(key.part).better == "lower"


def standing(score: Mapping[str, Any], name: str = "") -> tuple[str, str, str]:
    """Chance with its spread, ceiling, and how far the score has come from one to the other; dashes where unknown.

    Args:
        score: as in `metrics.json`.
        name: its key; of scores that should be low, being at chance is good and called so.

    Example:
        >>> score = {"chance": {"mean": 0.1, "spread": 0.02}, "ceiling": 0.9, "relative": 0.5, "beyond_chance": True}
        >>> standing(score), standing({**score, "beyond_chance": False})[2]
        (('0.1000 ± 0.0200', '0.9000', '50 %'), 'no better than chance')
        >>> standing({**score, "beyond_chance": False}, "leakage/class")[2]
        'no more than chance'
    """
    chance, ceiling, relative = score.get("chance"), score.get("ceiling"), score.get("relative")
    level = f"{chance['mean']:.4f} ± {chance['spread']:.4f}".replace("-0.0000", "0.0000") if chance else "–"
    top = f"{ceiling:.4f}" if isinstance(ceiling, float) else "–"
    if chance and score.get("beyond_chance") is False:
        return level, top, "no more than chance" if should_be_low(name) else "no better than chance"
    return level, top, f"{relative:.0%}".replace("%", " %") if isinstance(relative, float) else "–"


def print_parts(results: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> None:
    """Print scores of a run that holds observations out: what each is of, and training data beside it.

    Args:
        results: scores by name as in `metrics.json`.
        names: those of them that are scores.
    """
    rows = []
    for name in (name for name in names if not MetricKey.parse(name).training):
        beside = results.get(f"{TRAINING}{name}")
        of = f"{results[name].get('of') or 'all'} data"
        rows.append((name, *formatted(results[name]), of, "–" if beside is None else formatted(beside)[0]))
    print_table(("metric", "value", "95 % interval", "of", "of training data"), rows)


def formatted(score: Mapping[str, Any]) -> tuple[str, str]:
    """A value and its interval as text, dashes where there is none; for a condition, whether it holds.

    Args:
        score: an entry of `metrics.json`.

    Returns:
        The two cells of the table.

    Example:
        >>> formatted({"value": 0.25, "interval": [0.2, 0.3]})
        ('0.2500', '[0.2000, 0.3000]')
    """
    value, interval = score.get("value"), score.get("interval")
    number = f"{value:.4f}".replace("-0.0000", "0.0000") if isinstance(value, float) else "–"
    if said := verdict(score.get("details") or {}):
        return number, said
    return number, "[{:.4f}, {:.4f}]".format(*interval) if isinstance(interval, list | tuple) else "–"
