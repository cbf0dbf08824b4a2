"""`unbraid metrics`."""

from __future__ import annotations

from collections.abc import Sequence

from unbraid.cli.console import print_table
from unbraid.cli.parsers import command_parser


def metrics(words: Sequence[str]) -> None:
    """List the metrics."""
    command_parser("metrics", metrics, "unbraid metrics").parse_args(words)

    from unbraid.metrics import METRICS

    rows = [(name, metric.description, metric.needs) for name, metric in METRICS.items()]
    print_table(("metric", "what it says", "what it reads"), rows)
