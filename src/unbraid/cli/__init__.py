"""The command line, one file for each command."""

from __future__ import annotations

from unbraid.cli.main import main

__all__ = ["main"]
