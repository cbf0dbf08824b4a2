"""Data sets: embedded ones that need no download, the field's by name, and people's own files."""

from __future__ import annotations

from unbraid.data.drawn import BUILT_IN
from unbraid.data.factor_data import Factor, FactorData, use_loader
from unbraid.data.held_out import HeldOut
from unbraid.data.inspect import DataInfo, contact_sheet, info
from unbraid.data.load import load
from unbraid.data.own.arrays import from_arrays
from unbraid.data.own.readers import from_dataset
from unbraid.data.published.catalogue import Entry, catalogue, get

__all__ = [
    "BUILT_IN",
    "DataInfo",
    "Entry",
    "Factor",
    "FactorData",
    "HeldOut",
    "catalogue",
    "contact_sheet",
    "from_arrays",
    "from_dataset",
    "get",
    "info",
    "load",
]

# Importing any module of this package runs this line first, also in a process that only unpickles data.
use_loader(load)
