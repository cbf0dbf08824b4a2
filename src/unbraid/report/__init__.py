"""Reports: a run directory's files become one self-contained page. Models are never loaded."""

from __future__ import annotations

from unbraid.report.page import write_report

__all__ = ["write_report"]
