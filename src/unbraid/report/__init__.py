"""Reports: the files of a run directory become one self-contained page. Models are never loaded."""

from __future__ import annotations

from unbraid.report.draw.figures import grid, reconstruction_picture, traversal_picture
from unbraid.report.page import write_report
from unbraid.report.picture_files import write_figures
from unbraid.report.sections.comparison import write_comparison
from unbraid.report.sections.search import write_search_page

__all__ = [
    "grid",
    "reconstruction_picture",
    "traversal_picture",
    "write_comparison",
    "write_figures",
    "write_report",
    "write_search_page",
]
