"""The text of a study's page: sections, settings side by side, means over seeds with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unbraid.papers.study import Finished
from unbraid.util.intervals import mean_and_interval, median_and_interval

NOT_MEASURED = "–"


def document(title: str, *blocks: str) -> str:
    """A page as Markdown.

    Args:
        title: of the page.
        blocks: paragraphs, tables, pictures and sections, in order.

    Returns:
        All of it with an empty line between blocks.

    Example:
        >>> document("Toys", "One sentence.")
        '# Toys\\n\\nOne sentence.'
    """
    return "\n\n".join([f"# {title}", *blocks])


def section(heading: str, first: str) -> str:
    """A heading with the block that follows it at once."""
    return f"## {heading}\n{first}"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]], *, figures: bool = True) -> str:
    """A Markdown table.

    Args:
        header: a heading for each column.
        rows: cells as text.
        figures: whether all columns but the first hold numbers, which are set right.

    Returns:
        The table's lines.

    Example:
        >>> print(markdown(["", "MIG"], [["VAE", "0.1"]]))
        |  | MIG |
        | --- | ---: |
        | VAE | 0.1 |
    """
    rule = ["---", *["---:" if figures else "---"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def setting(here: Mapping[str, str], paper: Mapping[str, str]) -> str:
    """The section that sets what was done here beside what the paper did.

    Args:
        here: this run of the study, point by point.
        paper: the same points of the paper.

    Returns:
        A heading and a table with a row for each point.
    """
    rows = [[name, here[name], paper[name]] for name in here]
    return section("Setting", markdown(["", "here", "paper"], rows, figures=False))


def groups(finished: Sequence[Finished]) -> dict[str, list[Finished]]:
    """The runs of each row of a table, in the order of their first appearance."""
    found: dict[str, list[Finished]] = {}
    for one in finished:
        found.setdefault(one.trial.group, []).append(one)
    return found


def with_interval(values: Sequence[float], digits: int = 3) -> str:
    """A mean with its interval as text.

    Args:
        values: a figure of each seed; NaN says that it was not measured.
        digits: after the point.

    Returns:
        `0.312 [0.280, 0.344]`, the mean alone for one seed, a dash for what was not measured.

    Example:
        >>> with_interval([1.0], 1)
        '1.0'
    """
    if np.isnan(values).any():
        return NOT_MEASURED
    mean, low, high = mean_and_interval(values)
    shown = f"{mean:.{digits}f}"
    return shown if len(values) < 2 else f"{shown} [{low:.{digits}f}, {high:.{digits}f}]"


def median_with_interval(values: Sequence[float], digits: int = 3) -> str:
    """A median with its interval by ranks as text: for figures of which some runs go astray.

    Args:
        values: a figure of each seed; NaN says that it was not measured.
        digits: after the point.

    Returns:
        `0.997 [0.996, 0.998]`, the median alone for fewer than six seeds, a dash for what was not measured.

    Example:
        >>> median_with_interval([0.1, 0.2, 0.3, 0.4, 0.5, 0.9], 2), median_with_interval([0.1, 0.2, 0.9], 2)
        ('0.35 [0.10, 0.90]', '0.20')
    """
    if np.isnan(values).any():
        return NOT_MEASURED
    median, low, high = median_and_interval(values)
    shown = f"{median:.{digits}f}"
    return shown if np.isinf(low) else f"{shown} [{low:.{digits}f}, {high:.{digits}f}]"


def summary(finished: Sequence[Finished], columns: Mapping[str, tuple[str, int]]) -> str:
    """A table with a row for each group: the mean and interval of each figure.

    Args:
        finished: the runs.
        columns: figure → (heading, digits).
    """
    rows = [
        [group, *(with_interval([r.figures[name] for r in runs], digits) for name, (_, digits) in columns.items())]
        for group, runs in groups(finished).items()
    ]
    return markdown(["", *(heading for heading, _ in columns.values())], rows)


def differences(finished: Sequence[Finished], columns: Mapping[str, tuple[str, int]], base: str) -> str:
    """A table of what each group differs from one of them, seed by seed, with the interval of the difference.

    For groups whose runs of one seed share what else varies: a first stage, or which rows are held out. What they
    share widens the interval of either mean, and not that of their difference.

    Args:
        finished: the runs.
        columns: figure → (heading, digits).
        base: the group that the others are compared with; of its seeds those count that the other group has, too.
    """
    found = groups(finished)
    at = {one.trial.seed: one.figures for one in found.get(base, ())}
    rows = []
    for group, runs in found.items():
        pairs = [(run.figures, at[run.trial.seed]) for run in runs if run.trial.seed in at]
        if group != base and pairs:
            cells = [with_interval([own[k] - other[k] for own, other in pairs], n) for k, (_, n) in columns.items()]
            rows.append([group, str(len(pairs)), *cells])
    return markdown(["", "seeds", *(heading for heading, _ in columns.values())], rows)


def every_run(finished: Sequence[Finished], columns: Mapping[str, tuple[str, int]]) -> str:
    """The last section of a page: a table with a row for each run, folded, so that what is said of it is not far below.

    Args:
        finished: the runs.
        columns: figure → (heading, digits).
    """
    rows = [
        [
            one.trial.group,
            str(one.trial.seed),
            *(with_interval([one.figures[name]], digits) for name, (_, digits) in columns.items()),
            f"{one.seconds:.0f}",
        ]
        for one in finished
    ]
    header = ["", "seed", *(heading for heading, _ in columns.values()), "training, s"]
    folded = f"<details>\n<summary>{len(rows)} runs</summary>\n\n{markdown(header, rows)}\n\n</details>"
    return section("Every run", folded)
