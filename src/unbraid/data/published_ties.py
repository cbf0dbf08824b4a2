"""The pairs of factors that the field's correlation-shift protocol ties, by data set (Roth et al. 2023).

Those of the authors' benchmark, in its numbering: one, two or three pairs, and one factor tied to all others.
"""

from __future__ import annotations

from unbraid.errors import unknown

Pairs = tuple[tuple[str, str], ...]
ALL = "all"  # every other factor
# σ of the benchmark: two pairs also with 0.4 and 0.04.
STRENGTHS = {"1-pair": 0.1, "2-pairs": 0.1, "3-pairs": 0.1, "1-to-all": 0.2}
_MPI3D: dict[str, Pairs] = {
    "1-pair/1": (("camera_height", "background_color"),),
    "1-pair/2": (("object_color", "object_size"),),
    "1-pair/3": (("horizontal_axis", "vertical_axis"),),
    "2-pairs/1": (("object_color", "object_shape"), ("horizontal_axis", "vertical_axis")),
    "2-pairs/2": (("object_color", "horizontal_axis"), ("object_shape", "vertical_axis")),
    "3-pairs/1": (
        ("object_color", "background_color"),
        ("camera_height", "horizontal_axis"),
        ("object_shape", "vertical_axis"),
    ),
    "3-pairs/2": (
        ("object_color", "object_shape"),
        ("horizontal_axis", "vertical_axis"),
        ("background_color", "camera_height"),
    ),
    "1-to-all/1": (("object_shape", ALL),),
    "1-to-all/2": (("horizontal_axis", ALL),),
}
PUBLISHED: dict[str, dict[str, Pairs]] = {
    "shapes3d": {
        "1-pair/1": (("floor_hue", "wall_hue"),),
        "1-pair/2": (("shape", "scale"),),
        "1-pair/3": (("shape", "wall_hue"),),
        "2-pairs/1": (("scale", "floor_hue"), ("shape", "wall_hue")),
        "2-pairs/2": (("scale", "shape"), ("floor_hue", "wall_hue")),
        "3-pairs/1": (("scale", "orientation"), ("shape", "wall_hue"), ("object_hue", "floor_hue")),
        "3-pairs/2": (("object_hue", "orientation"), ("shape", "scale"), ("floor_hue", "wall_hue")),
        "1-to-all/1": (("shape", ALL),),
        "1-to-all/2": (("wall_hue", ALL),),
    },
    "dsprites": {
        "1-pair/1": (("shape", "scale"),),
        "1-pair/2": (("x", "y"),),
        "1-pair/3": (("shape", "y"),),
        "2-pairs/1": (("shape", "x"), ("scale", "y")),
        "2-pairs/2": (("shape", "scale"), ("x", "y")),
        "1-to-all/1": (("shape", ALL),),
        "1-to-all/2": (("x", ALL),),
    },
    "mpi3d-toy": _MPI3D,
    "mpi3d-realistic": _MPI3D,
    "mpi3d-real": _MPI3D,
    "cars3d": {
        "1-pair/1": (("elevation", "azimuth"),),
        "1-pair/2": (("elevation", "object"),),
        "1-pair/3": (("azimuth", "object"),),
        "1-to-all/1": (("elevation", ALL),),
        "1-to-all/2": (("azimuth", ALL),),
        "1-to-all/3": (("object", ALL),),
    },
}


def published_pairs(data: str, preset: str, names: tuple[str, ...]) -> tuple[Pairs, float]:
    """The pairs that a preset such as `2-pairs/1` ties in a data set, and their strength in the benchmark.

    Args:
        data: name of the data set.
        preset: how many pairs, and which of the benchmark's sets of them.
        names: of the factors that vary.

    Example:
        >>> published_pairs("cars3d", "1-pair/1", ("elevation", "azimuth", "object"))
        ((('elevation', 'azimuth'),), 0.1)
        >>> published_pairs("cars3d", "1-to-all/3", ("elevation", "azimuth", "object"))
        ((('object', 'elevation'), ('object', 'azimuth')), 0.2)
    """
    if data not in PUBLISHED:
        raise unknown("data set with published pairs", data, PUBLISHED)
    if preset not in PUBLISHED[data]:
        raise unknown(f"published set of pairs of {data}", preset, PUBLISHED[data])
    pairs: list[tuple[str, str]] = []
    for first, second in PUBLISHED[data][preset]:
        pairs += [(first, name) for name in names if name != first] if second == ALL else [(first, second)]
    return tuple(pairs), STRENGTHS[preset.partition("/")[0]]
