"""Toys with a face: animals on four legs, birds, turtles and robots, each looking along +x."""

from __future__ import annotations

from unbraid.data.drawn.toys.raycast import Solid
from unbraid.data.drawn.toys.solids import (
    BLACK,
    LAMP,
    METAL,
    WHITE,
    WOOD,
    Dice,
    box,
    cone,
    ellipsoid,
    paint,
    pair,
    rod,
    trapezoid,
)


def eyes(x: float, y: float, z: float, size: float) -> list[Solid]:
    """Two white eyes with pupils that look forward."""
    return pair(ellipsoid((x, y, z), (size, size, size), WHITE)) + pair(
        ellipsoid((x + size * 0.6, y * 1.03, z), (size * 0.6, size * 0.6, size * 0.6), BLACK)
    )


def beast(dice: Dice) -> list[Solid]:
    """An animal on four legs: head, snout and ears in front, tail behind."""
    skin, second = dice.paint(), dice.pick([WHITE, BLACK, WOOD, dice.paint()])
    length, girth, legs = dice.between(0.5, 0.68), dice.between(0.24, 0.34), dice.between(0.24, 0.5)
    head, neck = dice.between(0.19, 0.26), dice.between(0.05, 0.4)
    middle = legs + girth * 0.8
    x, z = length + head * 0.5, middle + girth * 0.5 + neck
    foot = dice.between(0.07, 0.11)
    parts = [
        paint(ellipsoid((0, 0, middle), (length, girth * 0.9, girth), skin), second, dice.marking(), gloss=0.12),
        rod((length * 0.6, 0, middle), (x - 0.02, 0, z), head * 0.62, skin),
        ellipsoid((x, 0, z), (head, head * 0.9, head), skin),
        *eyes(x + head * 0.7, head * 0.45, z + head * 0.4, head * 0.2),
        cone(
            (-length * 0.9, 0, middle + 0.06),
            (-length - dice.between(0.15, 0.35), 0, middle + dice.between(-0.1, 0.35)),
            dice.between(0.05, 0.09),
            0.02,
            second,
        ),
    ]
    for at in (length * 0.55, -length * 0.55):
        parts += pair(cone((at, girth * 0.55, 0), (at, girth * 0.5, middle), foot, foot * 1.15, skin))
        parts += pair(ellipsoid((at + 0.03, girth * 0.55, 0.045), (foot * 1.35, foot * 1.15, 0.05), second))
    snout = dice.pick(["muzzle", "trunk", "long"])
    if snout == "muzzle":
        parts += [ellipsoid((x + head * 0.95, 0, z - head * 0.25), (head * 0.5, head * 0.5, head * 0.42), second)]
        parts += [ellipsoid((x + head * 1.42, 0, z - head * 0.15), (0.05, 0.06, 0.045), BLACK)]
    elif snout == "trunk":
        parts += [cone((x + head * 0.8, 0, z), (x + head * 1.7, 0, z - head * 1.9), head * 0.34, head * 0.2, skin)]
        parts += pair(
            cone(
                (x + head * 0.7, head * 0.45, z - head * 0.4),
                (x + head * 1.6, head * 0.5, z - head * 0.6),
                0.04,
                0.01,
                WHITE,
            )
        )
    else:
        parts += [cone((x, 0, z - head * 0.1), (x + head * 1.7, 0, z - head * 0.5), head * 0.7, head * 0.4, skin)]
        parts += [ellipsoid((x + head * 1.7, 0, z - head * 0.5), (head * 0.25, head * 0.4, head * 0.36), second)]
    ears = dice.pick(["round", "pointed", "horns", "hanging"])
    if ears == "round":
        parts += pair(ellipsoid((x - head * 0.1, head * 0.75, z + head * 0.8), (0.04, head * 0.5, head * 0.5), second))
    elif ears == "pointed":
        parts += pair(
            cone(
                (x - head * 0.1, head * 0.5, z + head * 0.6),
                (x - head * 0.1, head * 0.65, z + head * 1.7),
                head * 0.32,
                0.01,
                skin,
            )
        )
    elif ears == "horns":
        parts += pair(
            cone((x, head * 0.4, z + head * 0.7), (x + head * 0.5, head * 0.9, z + head * 1.6), 0.05, 0.01, WHITE)
        )
        parts += pair(ellipsoid((x - head * 0.2, head * 1.0, z + head * 0.35), (0.05, head * 0.4, head * 0.2), second))
    else:
        parts += pair(ellipsoid((x - head * 0.2, head * 0.95, z - head * 0.1), (head * 0.4, 0.05, head * 0.75), second))
    return parts


def bird(dice: Dice) -> list[Solid]:
    """A bird: beak in front, tail behind."""
    skin, second = dice.paint(), dice.pick([WHITE, dice.paint(), dice.paint()])
    beak = dice.pick(["F3A712", "F08A4B", "E4572E"])
    length, girth, head = dice.between(0.5, 0.66), dice.between(0.32, 0.42), dice.between(0.22, 0.3)
    legs, neck = dice.pick([0.04, dice.between(0.12, 0.5)]), dice.between(0.1, 0.45)
    middle = legs + girth * 0.9
    x, z = length * dice.between(0.75, 1.0), middle + girth * 0.55 + neck
    long = dice.between(0.2, 0.45)
    parts = [
        paint(
            ellipsoid((0, 0, middle), (length, girth * 0.9, girth), skin, pitch=dice.between(0, 0.25)),
            second,
            dice.marking(),
            gloss=0.12,
        ),
        rod((length * 0.55, 0, middle), (x, 0, z), head * 0.6, dice.pick([skin, second])),
        ellipsoid((x, 0, z), (head, head * 0.92, head), skin),
        cone((x + head * 0.75, 0, z - head * 0.1), (x + head + long, 0, z - head * 0.2), head * 0.36, 0.03, beak),
        *eyes(x + head * 0.62, head * 0.55, z + head * 0.35, head * 0.2),
        cone(
            (-length * 0.7, 0, middle + 0.05),
            (-length - 0.35, 0, middle + dice.between(0.1, 0.4)),
            girth * 0.5,
            0.06,
            second,
        ),
        *pair(ellipsoid((-0.1, girth * 0.88, middle + 0.06), (length * 0.62, 0.07, girth * 0.55), second, pitch=0.2)),
        *pair(rod((0.02, girth * 0.4, 0), (0.02, girth * 0.4, middle), 0.04, beak)),
        *pair(ellipsoid((0.1, girth * 0.4, 0.03), (0.17, 0.11, 0.035), beak)),
    ]
    if dice.chance(0.5):
        for lean in (-0.12, 0.0, 0.12):
            crest = cone(
                (x - 0.02 + lean, 0, z + head * 0.8), (x - 0.1 + 2 * lean, 0, z + head * 1.7), 0.06, 0.015, second
            )
            parts += [crest]
    return parts


def turtle(dice: Dice) -> list[Solid]:
    """A turtle or a beetle: a shell on short legs, head in front."""
    skin, shell, rim = dice.paint(), dice.paint(), dice.paint()
    length, width, height = dice.between(0.55, 0.68), dice.between(0.44, 0.56), dice.between(0.3, 0.55)
    head, reach, rise = dice.between(0.17, 0.24), dice.between(0.12, 0.3), dice.between(0.0, 0.3)
    level = dice.between(0.14, 0.24)
    x, z = length + reach, level + 0.1 + rise
    marking = dice.pick(
        [
            ("spots", dice.between(5, 8), dice.between(0, 3)),
            ("hoops", dice.between(5, 9), 0.4),
            ("stripe", 0.0, 0.1),
            ("stripe", 0.45, 0.12),
        ]
    )
    parts = [
        paint(ellipsoid((0, 0, level + 0.05), (length, width, height), shell), rim, marking, gloss=0.35),
        ellipsoid((0, 0, level + 0.04), (length * 1.08, width * 1.08, 0.08), rim),
        rod((length * 0.6, 0, level), (x, 0, z), head * 0.55, skin),
        ellipsoid((x, 0, z), (head, head * 0.9, head * 0.85), skin),
        *eyes(x + head * 0.6, head * 0.5, z + head * 0.4, head * 0.22),
        cone((-length * 0.8, 0, level), (-length - 0.25, 0, level - 0.08), 0.09, 0.015, skin),
    ]
    for at, turn in ((length * 0.62, 0.16), (-length * 0.62, -0.1)):
        parts += pair(cone((at, width * 0.6, level), (at + turn, width * 1.05, 0.03), 0.12, 0.1, skin))
    if dice.chance(0.5):
        top = cone((0.02, 0, level + height * 0.9), (-0.02, 0, level + height + 0.3), 0.2, 0.03, dice.paint())
        parts += [paint(top, WHITE, ("rings", 7.0, 0.3))]
    if dice.chance(0.4):
        parts += pair(rod((x, head * 0.3, z + head * 0.5), (x + 0.15, head * 0.8, z + head * 1.7), 0.025, BLACK))
        parts += pair(ellipsoid((x + 0.15, head * 0.8, z + head * 1.7), (0.05, 0.05, 0.05), rim))
    return parts


def robot(dice: Dice) -> list[Solid]:
    """A robot that leans forward a little: eyes, chest plate and feet in front, a pack behind."""
    body, second, joint = dice.paint(), dice.paint(), dice.pick([METAL, BLACK, WHITE])
    wide, deep, tall = dice.between(0.26, 0.38), dice.between(0.2, 0.28), dice.between(0.24, 0.34)
    legs, head = dice.between(0.2, 0.42), dice.between(0.17, 0.25)
    hip, chest = legs + 0.08, legs + 0.08 + 2 * tall
    face = chest + 0.08 + head
    parts = [
        paint(trapezoid((0, 0, hip + tall), (deep, wide, tall), body, -0.1, 0.1, -0.15), second, dice.marking()),
        box((deep, 0, hip + tall * 1.1), (0.04, wide * 0.6, tall * 0.45), second),
        *[
            ellipsoid((deep + 0.04, y, hip + tall * 1.2), (0.035, 0.05, 0.05), c)
            for y, c in ((-0.11, LAMP), (0.05, "D7263D"))
        ],
        paint(
            box((-deep - 0.08, 0, hip + tall * 1.1), (0.12, wide * 0.7, tall * 0.7), joint), second, ("band", 0.4, 1)
        ),
        rod((0, 0, chest), (0.03, 0, chest + 0.1), 0.09, joint),
        *pair(ellipsoid((0, wide + 0.08, chest - 0.08), (0.11, 0.11, 0.11), joint)),
        *pair(box((0.06, wide * 0.5, 0.06), (0.2, 0.12, 0.06), second)),
        *pair(rod((0, wide * 0.5, 0.1), (0, wide * 0.5, hip), 0.09, joint)),
    ]
    arm = dice.between(0.28, 0.48)
    lift = dice.between(-0.4, 0.5)
    parts += pair(rod((0, wide + 0.1, chest - 0.1), (arm, wide + 0.14, chest - 0.16 + arm * lift), 0.07, body))
    parts += pair(ellipsoid((arm + 0.04, wide + 0.14, chest - 0.16 + arm * lift), (0.1, 0.09, 0.1), second))
    if dice.chance(0.5):
        parts += [trapezoid((0.03, 0, face), (head, head * 1.15, head * 0.85), body, 0.0, 0.1, dice.between(-0.2, 0.4))]
        parts += [box((head + 0.03, 0, face - head * 0.35), (0.02, head * 0.6, 0.035), BLACK)]
        parts += eyes(head + 0.02, head * 0.5, face + head * 0.25, head * 0.26)
    else:
        parts += [ellipsoid((0.03, 0, face), (head, head, head), second)]
        parts += [ellipsoid((0.1, 0, face + head * 0.1), (head * 0.85, head * 0.8, head * 0.45), BLACK)]
        parts += pair(ellipsoid((head * 0.85 + 0.08, head * 0.33, face + head * 0.15), (0.05, 0.06, 0.06), LAMP))
    if dice.chance(0.6):
        parts += [rod((0, 0, face + head * 0.8), (-0.04, 0, face + head + 0.2), 0.02, joint)]
        parts += [ellipsoid((-0.04, 0, face + head + 0.22), (0.06, 0.06, 0.06), dice.paint())]
    return parts
