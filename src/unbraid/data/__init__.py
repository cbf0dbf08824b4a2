"""Data sets: embedded ones that need no download, the field's by name, and people's own files."""

from __future__ import annotations

from unbraid.data.arrays import from_arrays
from unbraid.data.base import Factor, FactorData
from unbraid.data.files import from_dataset
from unbraid.data.loading import BUILT_IN, load
from unbraid.data.look import DataInfo, contact_sheet, info
from unbraid.data.published import Entry, catalogue, get

__all__ = [
    "BUILT_IN",
    "DataInfo",
    "Entry",
    "Factor",
    "FactorData",
    "catalogue",
    "contact_sheet",
    "from_arrays",
    "from_dataset",
    "get",
    "info",
    "load",
]
