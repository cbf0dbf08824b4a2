from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

from unbraid.data import load
from unbraid.data.drawn import pendulum
from unbraid.errors import InputError


def test_traces_agree_with_a_tight_integration_of_each_pendulum():
    data = load("pendulum", n=40, seed=3)
    for (length, damping, mass), trace in zip(data.factors, data.observations, strict=True):

        def motion(_, state, length=length, damping=damping, mass=mass):
            return [state[1], -damping / mass * state[1] - pendulum.GRAVITY / length * np.sin(state[0])]

        start = [pendulum.START, 0.0]
        exact = solve_ivp(motion, (0, 10), start, method="DOP853", t_eval=pendulum.TIMES, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(trace, exact.y[0], atol=1e-6)


def test_undamped_pendulum_has_the_period_of_the_elliptic_integral():
    length = 2.0
    period = 4 * np.sqrt(length / pendulum.GRAVITY) * ellipk(np.sin(pendulum.START / 2) ** 2)
    trace = pendulum.traces([length], [0.0], [1.0])[0]
    after = np.interp(period, pendulum.TIMES, trace)
    assert after == pytest.approx(pendulum.START, abs=0.01)


def test_energy_never_grows_and_damping_takes_it():
    weak, strong = pendulum.traces([1.5, 1.5], [0.1, 2.0], [1.0, 1.0])
    assert np.abs(weak[-20:]).max() > np.abs(strong[-20:]).max()
    assert np.abs(weak).max() <= pendulum.START + 1e-6


def test_intermediate_traces_depend_on_fewer_factors():
    data = load("pendulum", n=6)
    undamped, unit_mass = pendulum.intermediate(data)
    np.testing.assert_array_equal(undamped, pendulum.traces(data.column("length"), 0.0, 1.0))
    same = pendulum.traces(data.column("length"), data.column("damping") / data.column("mass"), 1.0)
    np.testing.assert_allclose(same, data.observations, atol=1e-6)
    assert np.abs(unit_mass - data.observations).max() > 0.01


def test_factors_fill_the_papers_ranges_and_follow_the_seed():
    data = load("pendulum", n=500, seed=1)
    for name, (low, high) in pendulum.RANGES.items():
        column = data.column(name)
        assert low <= column.min() < low + 0.1
        assert high - 0.1 < column.max() <= high
    assert np.array_equal(load("pendulum", n=500, seed=1).observations, data.observations)
    assert not np.array_equal(load("pendulum", n=500, seed=2).factors, data.factors)
    with pytest.raises(InputError):
        load("pendulum", n=0)
