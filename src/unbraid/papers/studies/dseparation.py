"""D-separation in MS-VAE, exactly (appendix K): given X alone C and Z depend on each other, given X and Y they do not.

    python -m unbraid.papers.studies.dseparation

C is uniform on 1, 2, 3 and Y is an image of its own for each. Z is a fair coin; it chooses a set of masks, one of which
is laid over Y: X. The text gives the tables, not the pictures of figure 36; the images below are the smallest from
which tables 2 and 3 follow. An image is the set of its black pixels, of four: a, b, c, d.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from typing import NamedTuple

Image = frozenset[str]
Table = Mapping[tuple[int, ...], Fraction]

YS: Mapping[int, Image] = {1: frozenset("a"), 2: frozenset("b"), 3: frozenset("c")}
MASKS: Mapping[int, tuple[Image, ...]] = {
    0: (frozenset("a"), frozenset("c"), frozenset("d")),
    1: (frozenset("a"), frozenset("b")),
}


class World(NamedTuple):
    """One outcome: images are named by their number, as above each of them in figure 36."""

    c: int
    z: int
    y: int
    x: int


def images() -> list[Image]:
    """All images that can come about, numbered from 1: the three Y first, then what Z = 1 makes of them, then Z = 0."""
    made = [YS[c] | mask for z, c in product((1, 0), YS) for mask in MASKS[z]]
    return list(dict.fromkeys([*YS.values(), *made]))


def joint() -> dict[World, Fraction]:
    """P(C, Z, Y, X)."""
    number = {image: place for place, image in enumerate(images(), 1)}
    worlds: dict[World, Fraction] = {}
    for c, z in product(YS, MASKS):
        for mask in MASKS[z]:
            world = World(c, z, number[YS[c]], number[YS[c] | mask])
            share = Fraction(1, len(YS)) * Fraction(1, 2) * Fraction(1, len(MASKS[z]))
            worlds[world] = worlds.get(world, Fraction(0)) + share
    return worlds


def conditional(seen: Callable[[World], bool], *variables: str) -> dict[tuple[int, ...], Fraction]:
    """P(variables | what is seen) for all values of C and Z, zeros included."""
    ranges = {"c": list(YS), "z": list(MASKS)}
    table = dict.fromkeys(product(*(ranges[name] for name in variables)), Fraction(0))
    kept = {world: p for world, p in joint().items() if seen(world)}
    for world, p in kept.items():
        table[tuple(getattr(world, name) for name in variables)] += p / sum(kept.values())
    return table


def independent(seen: Callable[[World], bool]) -> bool:
    """Whether P(C, Z | seen) = P(C | seen) · P(Z | seen), exactly."""
    c, z = conditional(seen, "c"), conditional(seen, "z")
    return all(p == c[value[:1]] * z[value[1:]] for value, p in conditional(seen, "c", "z").items())


def table(title: str, seen: Callable[[World], bool]) -> str:
    """The paper's table: P(C, Z), P(C) and P(Z) given what is seen."""
    lines = [f"{title}: C and Z are {'' if independent(seen) else 'not '}independent"]
    for variables in (("c", "z"), ("c",), ("z",)):
        entries = conditional(seen, *variables).items()
        name = ", ".join(variable.upper() for variable in variables)
        lines.append(f"  P({name}): " + "  ".join(f"{'/'.join(map(str, value))} → {p}" for value, p in entries))
    return "\n".join(lines)


def main() -> None:
    """Print tables 2 and 3, and check every pair of X and Y that can come about."""
    print(table("Table 2, given X = 4", lambda w: w.x == 4))
    print(table("Table 3, given X = 4 and Y = 1", lambda w: w.x == 4 and w.y == 1))
    pairs = {(world.x, world.y) for world in joint()}
    separated = all(independent(lambda w, x=x, y=y: w.x == x and w.y == y) for x, y in pairs)  # type: ignore[misc]
    print(f"Given any X and Y ({len(pairs)} pairs): {'always' if separated else 'not always'} independent")


if __name__ == "__main__":
    main()
