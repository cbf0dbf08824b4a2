"""`toys`: small objects built from simple solids and ray-cast from many directions."""

from __future__ import annotations

from unbraid.data.drawn.toys.cabinet import load

__all__ = ["load"]
