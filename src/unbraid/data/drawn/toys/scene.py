"""Ten families of toys, each facing +x: what an object of a family is made of.

Every function takes dice and returns solids; proportions, colours and markings are the object's own.
"""

from __future__ import annotations

from unbraid.data.drawn.toys.raycast import Solid
from unbraid.data.drawn.toys.solids import (
    BLACK,
    GLASS,
    LAMP,
    METAL,
    REAR_LAMP,
    WHITE,
    WOOD,
    Dice,
    box,
    cone,
    ellipsoid,
    paint,
    pair,
    polyhedron,
    rod,
    trapezoid,
    wheels,
)


def car(dice: Dice) -> list[Solid]:
    """A car: bonnet in front, cabin, lamps."""
    body, second = dice.paint(), dice.pick([WHITE, BLACK, dice.paint()])
    length, width, height = dice.between(0.85, 1.05), dice.between(0.36, 0.46), dice.between(0.13, 0.19)
    radius = dice.between(0.15, 0.21)
    cabin, tall, at = dice.between(0.32, 0.55), dice.between(0.13, 0.2), dice.between(-0.28, -0.02)
    floor = radius * 0.75
    roof = floor + 2 * height + 2 * tall
    lean = dice.between(0.25, 0.6)
    parts = [
        paint(
            trapezoid((0, 0, floor + height), (length, width, height), body, 0.06, 0.05, 0.08), second, dice.marking()
        ),
        trapezoid(
            (at, 0, floor + 2 * height + tall), (cabin, width * 0.86, tall), GLASS, lean, dice.between(0.1, 0.5), 0.25
        ),
        box(
            (at - 0.02, 0, roof - 0.01), (cabin * (1 - lean / 2) * 0.8, width * 0.66, 0.025), dice.pick([body, second])
        ),
        box((length, 0, floor + 0.07), (0.04, width * 0.95, 0.05), METAL),
        box((-length, 0, floor + 0.07), (0.03, width * 0.95, 0.05), METAL),
        *pair(ellipsoid((length - 0.02, width * 0.66, floor + height * 1.2), (0.07, 0.09, 0.075), LAMP)),
        *pair(box((-length + 0.005, width * 0.72, floor + height * 1.2), (0.03, 0.075, 0.05), REAR_LAMP)),
        *wheels(length * 0.62, width, radius, 0.07, METAL),
        *wheels(-length * 0.6, width, radius * dice.between(1, 1.15), 0.07, METAL),
    ]
    if dice.chance(0.3):
        parts += [box((-length * 0.9, 0, floor + 2 * height + 0.14), (0.1, width, 0.02), second)]
        parts += pair(box((-length * 0.9, width * 0.6, floor + 2 * height + 0.06), (0.03, 0.03, 0.08), BLACK))
    return parts


def truck(dice: Dice) -> list[Solid]:
    """A lorry: cab in front, a load behind it."""
    body, load = dice.paint(), dice.paint()
    width, radius = dice.between(0.34, 0.42), dice.between(0.15, 0.19)
    cab, tall = dice.between(0.2, 0.3), dice.between(0.28, 0.4)
    floor, split = radius * 1.15, dice.between(0.4, 0.55)
    parts = [
        box((0, 0, floor), (1, width * 0.8, 0.07), BLACK),
        paint(
            trapezoid((1 - cab, 0, floor + tall), (cab, width, tall), body, dice.between(0, 0.4)),
            WHITE,
            ("band", -0.35, -1),
        ),
        box((1 - cab * 0.92, 0, floor + tall * 1.35), (cab * 0.85, width * 1.02, tall * 0.25), GLASS),
        box((1.02, 0, floor + 0.02), (0.04, width, 0.06), METAL),
        *pair(ellipsoid((1.0, width * 0.7, floor + 0.16), (0.05, 0.08, 0.07), LAMP)),
        *wheels(1 - cab, width, radius, 0.08, METAL),
        *wheels(-0.4, width, radius, 0.08, METAL),
        *wheels(-0.8, width, radius, 0.08, METAL),
    ]
    back, middle = 1 - 2 * cab - 0.06, -(2 * cab + 0.06) / 2
    half = (1 + back) / 2
    kind = dice.pick(["box", "tank", "tipper", "logs"])
    if kind == "box":
        parts += [
            paint(box((middle, 0, floor + 0.08 + split), (half, width, split), load), dice.paint(), dice.marking())
        ]
    elif kind == "tank":
        tank = rod((middle - half, 0, floor + 0.42), (middle + half, 0, floor + 0.42), width * 0.95, load)
        parts += [paint(tank, dice.paint(), ("rings", dice.between(4, 9), 0.5), gloss=0.4)]
    elif kind == "tipper":
        parts += [
            paint(
                trapezoid((middle, 0, floor + 0.3), (half, width, 0.22), load, -0.15, -0.1, -0.1),
                BLACK,
                ("band", 0.9, 1),
            )
        ]
        parts += [ellipsoid((middle, 0, floor + 0.5), (half * 0.8, width * 0.8, 0.2), WOOD)]
    else:
        for y, z in ((-0.2, 0.2), (0.0, 0.2), (0.2, 0.2), (-0.1, 0.38), (0.1, 0.38)):
            log = rod(
                (middle - half, y * width / 0.4, floor + z), (middle + half, y * width / 0.4, floor + z), 0.1, WOOD
            )
            parts += [log]
    return parts


def tractor(dice: Dice) -> list[Solid]:
    """A tractor: small wheels and a bonnet in front, large wheels and a cab behind."""
    body, hub = dice.paint(), dice.paint()
    big, small = dice.between(0.36, 0.46), dice.between(0.18, 0.25)
    width, tall = dice.between(0.18, 0.26), dice.between(0.3, 0.4)
    parts = [
        paint(trapezoid((0.38, 0, 0.5), (0.46, width, 0.19), body, 0.15, 0, 0.2), WHITE, dice.marking()),
        box((0.85, 0, 0.45), (0.02, width * 0.8, 0.11), METAL),
        box((-0.2, 0, 0.42), (0.3, width * 1.1, 0.12), BLACK),
        trapezoid((-0.28, 0, 0.55 + tall), (0.27, width * 1.25, tall), GLASS, 0.2, 0.05, 0.15),
        box((-0.3, 0, 0.57 + 2 * tall), (0.3, width * 1.3, 0.045), body),
        rod((0.5, width * 0.5, 0.6), (0.5, width * 0.5, dice.between(0.95, 1.15)), 0.035, METAL),
        *pair(ellipsoid((0.84, width * 0.8, 0.58), (0.04, 0.06, 0.06), LAMP)),
        *wheels(-0.35, width + 0.2, big, 0.12, hub),
        *wheels(0.55, width + 0.14, small, 0.08, hub),
        *pair(trapezoid((-0.35, width + 0.19, big * 1.95), (big * 0.7, 0.13, 0.05), body, 0.4, 0.4)),
    ]
    if dice.chance(0.5):
        parts += [trapezoid((1.05, 0, 0.22), (0.14, width * 2, 0.13), dice.paint(), 0.2, 1.0, 0.0)]
    return parts


def locomotive(dice: Dice) -> list[Solid]:
    """A steam engine: boiler and chimney in front, cab behind."""
    body, second, hub = dice.paint(), dice.paint(), dice.pick([REAR_LAMP, METAL, dice.paint()])
    width, boiler = dice.between(0.3, 0.36), dice.between(0.22, 0.3)
    radius, cab = dice.between(0.13, 0.18), dice.between(0.22, 0.32)
    level = radius * 2 + 0.08
    axle, top = level + boiler, level + 2 * boiler
    chimney = dice.between(0.2, 0.34)
    parts = [
        box((0, 0, level - 0.04), (0.98, width, 0.06), BLACK),
        paint(
            rod((-0.4, 0, axle), (0.85, 0, axle), boiler, body), second, ("rings", dice.between(4, 8), 0.8), gloss=0.4
        ),
        rod((0.85, 0, axle), (0.9, 0, axle), boiler * 0.85, BLACK),
        ellipsoid((0.92, 0, axle + boiler * 0.3), (0.06, 0.08, 0.08), LAMP),
        cone((0.6, 0, top - 0.06), (0.6, 0, top + chimney), 0.07, dice.between(0.09, 0.16), BLACK),
        ellipsoid((0.12, 0, top), (0.13, 0.13, dice.between(0.1, 0.18)), dice.pick([second, "E0B040"])),
        box((-0.98 + cab + 0.03, 0, level + 0.36), (cab, width * 0.98, 0.36), second),
        box((-0.98 + cab + 0.03, 0, level + 0.5), (cab * 0.6, width, 0.14), GLASS),
        trapezoid((-0.98 + cab + 0.03, 0, level + 0.77), (cab * 1.15, width * 1.12, 0.055), body, 0.1, 0.1, 0.5),
        trapezoid((1.02, 0, level * 0.45), (0.13, width * 0.9, level * 0.34), hub, 0.9, 0, 0.3),
    ]
    for x in (-0.7, -0.25, 0.2, 0.65)[dice.pick([0, 1]) :]:
        parts += wheels(x, width * 0.95, radius, 0.05, hub)
    return parts


def boat(dice: Dice) -> list[Solid]:
    """A boat: pointed bow in front, a cabin, funnels or a mast."""
    hull, second, top = dice.paint(), dice.paint(), dice.pick([WHITE, dice.paint()])
    width, depth, bow = dice.between(0.34, 0.44), dice.between(0.15, 0.22), dice.between(0.35, 0.65)
    # Bow planes: from full width at x = 1 − 2·bow (unit coordinates) to a point at x = 1; sides flare upwards.
    flare = 0.14
    planes = [[value / (1 - flare) for value in (0, side, -flare)] for side in (-1, 1)]
    planes += [[1 / (1 + 0.01), side * 2 * bow / (1 + 0.01), -0.06] for side in (-1, 1)]
    parts = [
        paint(
            polyhedron((0, 0, depth), (1, width, depth), hull, planes),
            second,
            ("band", dice.between(-0.5, 0.5), dice.pick([-1.0, 1.0])),
        ),
    ]
    length, tall = dice.between(0.25, 0.4), dice.between(0.13, 0.2)
    at, deck = dice.between(-0.4, -0.2), 2 * depth
    kind = dice.pick(["steamer", "sailing", "tug"])
    if kind != "sailing":
        parts += [
            box((at, 0, deck + tall), (length, width * 0.66, tall), top),
            box((at + 0.03, 0, deck + tall * 1.2), (length, width * 0.68, tall * 0.35), GLASS),
            trapezoid((at, 0, deck + 2 * tall + 0.03), (length * 1.08, width * 0.72, 0.03), second),
        ]
    roof = deck + 2 * tall + 0.05
    if kind == "steamer":
        for x in (at - length * 0.5, at + length * 0.35)[: dice.pick([1, 2])]:
            funnel = rod((x, 0, roof), (x - 0.06, 0, roof + dice.between(0.25, 0.36)), 0.1, second)
            parts += [paint(funnel, WHITE, ("band", 0.45, 1))]
    elif kind == "tug":
        parts += [trapezoid((at + 0.1, 0, roof + 0.12), (length * 0.5, width * 0.45, 0.12), top, 0.1, 0.1, 0.1)]
        parts += [box((at + 0.12, 0, roof + 0.14), (length * 0.5, width * 0.46, 0.05), GLASS)]
        parts += [rod((at - length * 0.6, 0, roof), (at - length * 0.6, 0, roof + 0.3), 0.07, BLACK)]
    else:
        mast = dice.between(1.1, 1.4)
        parts += [rod((0.05, 0, deck), (0.05, 0, deck + mast), 0.03, WOOD)]
        sail = polyhedron((-0.38, 0, deck + 0.12 + mast * 0.42), (0.41, 0.018, mast * 0.42), top, [(-20, 0, 20)])
        jib = polyhedron((0.42, 0, deck + 0.08 + mast * 0.36), (0.34, 0.018, mast * 0.36), second, [(20, 0, 20)])
        parts += [paint(sail, second, ("hoops", 0.01, 0) if dice.chance(0.5) else ("band", -0.5, -1)), jib]
        parts += [ellipsoid((-0.5, 0, deck + 0.02), (0.2, 0.12, 0.1), WOOD)]
    parts += pair(rod((0.55, width * 0.2, deck), (0.55, width * 0.2, deck + 0.1), 0.035, METAL))
    return parts


def aeroplane(dice: Dice) -> list[Solid]:
    """An aeroplane: propeller in front, tail behind."""
    body, second = dice.paint(), dice.paint()
    girth, span = dice.between(0.16, 0.23), dice.between(0.7, 0.92)
    chord, at, level = dice.between(0.16, 0.25), dice.between(0.08, 0.25), 0.46
    high = dice.chance(0.4)
    wing = level + (girth * 0.85 if high else -girth * 0.5)
    parts = [
        paint(ellipsoid((0, 0, level), (0.95, girth, girth), body), second, dice.marking(), gloss=0.4),
        cone((0.8, 0, level), (1.0, 0, level), girth * 0.55, 0.02, second),
        box((0.86, 0, level), (0.015, 0.035, dice.between(0.28, 0.36)), BLACK),
        ellipsoid((0.2, 0, level + girth * 0.75), (0.26, girth * 0.62, girth * 0.6), GLASS),
        paint(box((at, 0, wing), (chord, span, 0.03), second), WHITE, ("stripe", 0.8, 0.08)),
        box((-0.8, 0, level + 0.06), (0.12, span * 0.38, 0.022), second),
        trapezoid((-0.82, 0, level + 0.24), (0.15, 0.022, 0.2), second, 0.7, 0.0),
        *pair(rod((at, 0.2, 0.1), (at, 0.2, wing), 0.022, METAL)),
        *wheels(at, 0.2, 0.1, 0.035, METAL),
        *wheels(-0.75, 0.03, 0.07, 0.02, METAL),
        rod((-0.75, 0, 0.07), (-0.75, 0, level), 0.02, METAL),
    ]
    if dice.chance(0.4):
        parts += [box((at, 0, wing + 0.34), (chord, span * 0.9, 0.025), second)]
        parts += pair(rod((at, span * 0.6, wing), (at, span * 0.6, wing + 0.34), 0.02, WOOD))
    if dice.chance(0.35):
        parts += pair(rod((at - 0.1, span * 0.45, wing - 0.06), (at + 0.32, span * 0.45, wing - 0.06), 0.075, METAL))
    return parts
