"""`pendulum`: angles of a damped pendulum over time (the example of MS-VAE, appendix C).

θ'' = −(b/m) θ' − (g/L) sin θ. The paper leaves the start and the sampling open; here the pendulum is released at rest
from θ = π/2 and 100 angles are taken over 10 seconds. In the authors' code it hangs down and is pushed: angle 0,
speed 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from unbraid.data.factor_data import Factor, FactorData
from unbraid.errors import InputError

VERSION = 1
GRAVITY = 9.81
START = np.pi / 2
TIMES = np.linspace(0, 10, 100)
RANGES = {"length": (1.0, 3.0), "damping": (0.1, 2.0), "mass": (0.1, 2.0)}


def load(n: int = 10_000, seed: int = 0, angle: float = START, speed: float = 0.0) -> FactorData:
    """Traces of a damped pendulum, with length, damping and mass drawn uniformly from the paper's ranges.

    Args:
        n: how many.
        seed: of the draw.
        angle: where it starts, in rad.
        speed: how fast it starts, in rad/s.

    Returns:
        Vectors of 100 angles. `targets` holds the simpler pendulums on the way: y0 undamped, y1 damped with mass 1.

    Example:
        >>> load(n=2).factor_names
        ('length', 'damping', 'mass')
    """
    if n < 1:
        raise InputError(f"pendulum: n={n} must be at least 1.")
    low, high = np.array(list(RANGES.values())).T
    if not (np.isfinite(angle) and np.isfinite(speed)):
        raise InputError(f"pendulum: angle={angle:g} and speed={speed:g} must be finite numbers.")
    start = {} if (angle, speed) == (START, 0.0) else {"angle": angle, "speed": speed}
    factors = low + (high - low) * np.random.Generator(np.random.PCG64(seed)).random((n, 3))
    return FactorData(
        "pendulum",
        traces(*factors.T, angle=angle, speed=speed),
        factors,
        tuple(Factor(name, 0, "continuous") for name in RANGES),
        known_fingerprint="-".join([f"pendulum-v{VERSION}-{n}-{seed}", *(f"{value:g}" for value in start.values())]),
        arguments={"n": n, "seed": seed, **start},
        # The simpler pendulums on the way to each trace: undamped, and damped with mass 1.
        targets={
            "y0": lambda: traces(factors[:, 0], 0.0, 1.0, angle=angle, speed=speed),
            "y1": lambda: traces(factors[:, 0], factors[:, 1], 1.0, angle=angle, speed=speed),
        },
    )


def intermediate(data: FactorData) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The simpler pendulums on the way to each trace.

    Args:
        data: made by `load`.

    Returns:
        y₀ undamped and y₁ damped with mass 1, each [n, 100].
    """
    return data.targets["y0"](), data.targets["y1"]()


def traces(
    length: ArrayLike, damping: ArrayLike, mass: ArrayLike, *, angle: float = START, speed: float = 0.0
) -> NDArray[np.float32]:
    """Simulate pendulums.

    Args:
        length: in metres.
        damping: the friction b.
        mass: in kilograms. All three broadcast.
        angle: where they start, in rad.
        speed: how fast they start, in rad/s.

    Returns:
        Angles, one pendulum a row, [n, 100].

    Example:
        >>> traces([1.0, 2.0], 0.5, 1.0).shape
        (2, 100)
    """
    stiffness, friction = np.broadcast_arrays(
        GRAVITY / np.asarray(length, float), np.asarray(damping, float) / np.asarray(mass, float)
    )
    stiffness, friction = np.atleast_1d(stiffness), np.atleast_1d(friction)
    # One system of many pendulums: the integrator's own work is then shared by all. Neighbours of like friction
    # share a system, because its steps are as short as its fastest member needs.
    order = np.argsort(friction, kind="stable")
    out = np.empty((len(order), len(TIMES)), np.float32)
    for rows in np.array_split(order, -(-len(order) // 1024)):
        out[rows] = swing(stiffness[rows], friction[rows], angle, speed)
    return out


def swing(
    stiffness: NDArray[np.float64], friction: NDArray[np.float64], angle: float, speed: float
) -> NDArray[np.float64]:
    """Integrate one block of pendulums together.

    Args:
        stiffness: g / L of each.
        friction: b / m of each.
        angle: where they start.
        speed: how fast.

    Returns:
        Angles [n, 100].
    """
    n = len(stiffness)

    def velocity(time: float, state: NDArray[np.float64]) -> NDArray[np.float64]:
        place, pace = state[:n], state[n:]
        return np.concatenate([pace, -friction * pace - stiffness * np.sin(place)])

    start = np.concatenate([np.full(n, angle), np.full(n, speed)])
    path = solve_ivp(velocity, (0, TIMES[-1]), start, method="DOP853", t_eval=TIMES, rtol=1e-9, atol=1e-10)
    angles: NDArray[np.float64] = path.y[:n]
    return angles
