"""Data sets that are drawn, not downloaded. To add one: write its module with a `load`, and name it here."""

from __future__ import annotations

BUILT_IN: dict[str, str] = {
    "balls": "two balls side by side, 32×32 RGB: height of the left (40), of the right (40)",
    "pendulum": "angles of a damped pendulum, 100 values a trace: length, damping, mass (continuous)",
    "scenes": "a toy on a floor under a sky, 64×64 RGB: sky (10), floor (10), place (11), distance (7), sun (8)",
    "sprites": "dSprites drawn from its geometry, 737,280 images 64×64 binary: shape, scale, orientation, x, y",
    "toys": "200 toys of simple solids, ray-cast, 64×64 RGB: azimuth (24), elevation (4), object (200)",
}
