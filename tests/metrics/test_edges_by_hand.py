"""Metrics at their edges: nothing that varies, codes in another order, votes that all fall away, one direction only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unbraid import metrics as m
from unbraid.errors import InputError


def grid(rows: int = 240) -> tuple[np.ndarray, np.ndarray]:
    """Three factors of 2, 3 and 4 values with noise, each read by a code; the codes in another order."""
    draws = np.random.default_rng(0)
    factors = draws.integers([2, 3, 4], size=(rows, 3)).astype(float)
    return factors[:, [2, 0, 1]] + 0.05 * draws.normal(size=(rows, 3)), factors


def test_what_leaks_is_looked_for_in_the_code_of_the_factor() -> None:
    """Factor a is in the second code, b in the third: «b in a» asks the second code for b."""
    codes, factors = grid()
    names = ["a", "b", "c"]
    found = m.factor_leakage(codes, factors, names=names, pairs=[("a", "b")], train=150, test=80, replicates=30)
    assert list(found) == ["b in a", "a in b"]
    for key, latent, factor in (("b in a", 1, 1), ("a in b", 2, 0)):
        alone = m.leakage(codes, factors[:, factor], latents=[latent], train=150, test=80, replicates=30)
        assert (found[key].value, found[key].interval) == (alone.value, alone.interval)
    plain = m.factor_leakage(codes, factors, names=names, pairs=[("a", "b")], train=150, test=80, replicates=0)
    assert plain["b in a"].interval is None


def test_probes_of_each_stage_are_those_of_its_codes_alone() -> None:
    codes, factors = grid(400)
    how: dict[str, Any] = {"probe": "linear", "seed": 3, "replicates": 20}
    found = m.downstream_by_stage(codes[:, :1], codes[:, 1:], factors, **how)
    for name, part in (("c", codes[:, :1]), ("z", codes[:, 1:]), ("c+z", codes)):
        alone = m.downstream(part, factors, **how)
        assert (found[name].value, found[name].interval) == (alone.value, alone.interval)
        assert found[name].details["seed"] == 3
    assert (
        m.downstream_by_stage(codes[:, :1], codes[:, 1:], factors, probe="linear", replicates=0)["c"].interval is None
    )


def test_a_constant_latent_has_no_vote_and_votes_that_all_fall_away_score_nothing() -> None:
    """By PartedVAE's rule the collapsed copy of the first factor takes all of its votes, and a constant one none."""
    factors = np.column_stack([np.repeat([0.0, 1.0], 60), np.tile([0.0, 1.0], 60)])
    noise = np.random.default_rng(0).normal(size=120)
    how: dict[str, Any] = {"convention": "parted", "batch": 20, "train": 30, "replicates": 10}
    still = m.factor_score(np.column_stack([factors[:, 0], np.full(120, 2.0), factors[:, 1]]), factors, **how)
    assert still.details["votes"][1].sum() == 0
    assert still.value == 1.0
    copies = np.column_stack([0.01 * factors, noise])
    nothing = m.factor_score(copies, factors, **how)
    assert nothing.details["votes"].sum() == 0
    assert (nothing.value, nothing.interval, nothing.details["active"]) == (0.0, (0.0, 0.0), 1)


def test_features_that_vary_in_one_direction_only_have_the_distance_and_interval_of_that_direction() -> None:
    draws = np.random.default_rng(1)
    a, b = draws.normal(size=(80, 1)), 1.5 * draws.normal(size=(60, 1)) + 1
    line = np.array([[0.6, 0.8, 0.0]])
    flat, turned = m.fid(a, b), m.fid(a @ line, b @ line)
    assert turned.value == pytest.approx(flat.value, abs=1e-7)
    assert turned.interval == pytest.approx(flat.interval, abs=1e-6)


def test_identities_that_differ_in_nothing_are_changed_by_every_pose() -> None:
    assert m.identity_change(np.full((3, 4, 5), 0.1)).value == 1.0


def test_robustness_has_no_units() -> None:
    codes, factors = grid()
    codes = codes + 0.4 * np.random.default_rng(2).normal(size=codes.shape)
    score, small = m.irs(codes, factors), m.irs(0.01 * codes, factors)
    assert small.value == pytest.approx(score.value)
    assert small.interval == pytest.approx(score.interval)


@pytest.mark.parametrize("wrong", [[], [[0.1, 0.2]], [0.1, np.nan], [np.inf, np.inf]])
def test_distances_that_are_none_are_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match="distances must be finite numbers"):
        m.lpips(wrong)
    assert m.lpips([0.25]).value == 0.25
