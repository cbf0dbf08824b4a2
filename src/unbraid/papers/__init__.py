"""Results of the five papers as studies that can be run: `unbraid reproduce PAPER/RESULT --scale smoke|desk|paper`."""

from __future__ import annotations

from unbraid.papers.registry import STUDIES
from unbraid.papers.reproduce import reproduce
from unbraid.papers.study import SCALES, Finished, Scale, Study, Trial

__all__ = ["SCALES", "STUDIES", "Finished", "Scale", "Study", "Trial", "reproduce"]
