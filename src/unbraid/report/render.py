"""The package's templates, filled in."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from unbraid._version import __version__


@lru_cache
def templates() -> Environment:
    """The package's own templates; everything that is put into them is escaped."""
    return Environment(
        loader=PackageLoader("unbraid.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template: str, **context: Any) -> bytes:
    """A template filled in, as bytes to be written."""
    return templates().get_template(template).render(version=__version__, **context).encode("utf-8")
