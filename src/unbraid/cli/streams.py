"""Standard output and error that can print every sentence."""

from __future__ import annotations

import io
import sys


def make_printable() -> None:
    """Replace characters that a stream's encoding does not have (β in ASCII) instead of failing at them."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
