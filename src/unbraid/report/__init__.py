"""Reports: the files of a run directory become one self-contained page. Models are never loaded."""

from __future__ import annotations

from unbraid.report.comparison import write_comparison
from unbraid.report.figures import grid, reconstruction_picture, traversal_picture, write_figures
from unbraid.report.page import write_report

__all__ = [
    "grid",
    "reconstruction_picture",
    "traversal_picture",
    "write_comparison",
    "write_figures",
    "write_report",
]
