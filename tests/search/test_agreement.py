"""UDR and stability on tables whose answers are known."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from unbraid.metrics import udr
from unbraid.search.agreement import agreement
from unbraid.search.figures import CODES
from unbraid.util.files import write_arrays

INFORMATION = [[1.0, 2.0, 0.5, 0.001], [1.0, 2.0, 0.005, 0.7], [0.2, 0.3, 0.002, 0.9]]


def waves() -> list[NDArray[Any]]:
    t = np.arange(1.0, 201.0)
    base = np.stack([np.sin(a * t + p) for a, p in ((0.37, 0.1), (1.13, 0.5), (2.71, 0.9), (0.05, 0.2))], 1)
    mixed = [-2 * base[:, 1] + 0.3 * base[:, 0], base[:, 0] ** 3, base[:, 3], 0.5 * base[:, 2] + 0.4 * base[:, 1]]
    turn = np.array([[0.8, 0.6, 0, 0], [-0.6, 0.8, 0, 0], [0, 0, 0.6, 0.8], [0, 0, -0.8, 0.6]])
    return [base, np.stack(mixed, 1), base @ turn]


# What disentanglement_lib's compute_udr_sklearn gives for these tables.
SPEARMAN = {(0, 1): 0.748323, (0, 2): 0.572134, (1, 2): 0.387625}
LASSO = {(0, 1): 0.685938, (1, 0): 0.790372, (0, 2): 0.508898, (2, 0): 0.508899, (1, 2): 0.406675, (2, 1): 0.313711}


def test_udr_is_that_of_disentanglement_lib() -> None:
    score = udr(waves(), information=INFORMATION, replicates=0)
    for (a, b), value in SPEARMAN.items():
        assert score.details["pairwise"][a, b] == pytest.approx(value, abs=1e-6)
    assert score.details["per_model"] == pytest.approx([0.660228, 0.567974, 0.479879], abs=1e-6)


def test_the_lasso_version_is_the_mean_of_both_directions() -> None:
    pairwise = udr(waves(), information=INFORMATION, method="lasso", replicates=0).details["pairwise"]
    for a, b in SPEARMAN:
        assert pairwise[a, b] == pytest.approx((LASSO[a, b] + LASSO[b, a]) / 2, abs=2e-6)


def runs(folder: Path, tables: list[NDArray[Any]], information: list[list[float]]) -> list[Path]:
    places = [folder / str(number) for number in range(len(tables))]
    for place, codes, kl in zip(places, tables, information, strict=True):
        write_arrays(place / CODES, {"codes": codes, "information": np.array(kl), "rows": np.arange(len(codes))})
    return places


def test_seeds_of_a_setting_agree_as_their_codes_do(tmp_path: Path) -> None:
    found = agreement(runs(tmp_path, waves(), INFORMATION))
    assert found["udr"].per_model == pytest.approx([0.660228, 0.567974, 0.479879], abs=1e-6)
    assert found["udr"].interval is not None
    assert found["udr"].interval[0] <= found["udr"].value <= found["udr"].interval[1]
    assert found["udr_lasso"].value != pytest.approx(found["udr"].value)
    assert agreement(runs(tmp_path, waves()[:1], INFORMATION[:1])) == {}


def test_stability_knows_no_order_and_no_sign(tmp_path: Path) -> None:
    base = waves()[0]
    same = runs(tmp_path / "same", [base, -base[:, ::-1]], [[1.0] * 4] * 2)
    assert agreement(same)["stability"].value == pytest.approx(1.0)
    # Three of four codes have a partner; the fourth is noise that the other run does not use.
    fewer = runs(tmp_path / "fewer", [base, base], [[1.0] * 4, [1.0, 1.0, 1.0, 0.0]])
    missing = agreement(fewer)["stability"].value
    assert missing == pytest.approx(0.75, abs=1e-9)


def test_a_latent_that_never_moves_has_no_partner_to_lack(tmp_path: Path) -> None:
    """Where nothing is known of information (codes of points), a constant one is no code."""
    base = waves()[0]
    still = np.column_stack([base, np.ones(len(base))])
    for number, codes in enumerate((base, still)):
        write_arrays(tmp_path / str(number) / CODES, {"codes": codes, "rows": np.arange(len(codes))})
    assert agreement([tmp_path / "0", tmp_path / "1"])["stability"].value == pytest.approx(1.0)


def test_a_latent_that_never_moves_counts_in_the_published_udr_alone(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(scale=0.03, size=(3, 500, 3))
    signal = np.random.default_rng(1).normal(size=(500, 2))
    codes = [np.hstack([signal, one]) for one in noise]
    # The last three have a KL by their variance alone: their means are noise.
    found = agreement(runs(tmp_path, codes, [[3.0, 3.0, 0.6, 0.6, 0.6]] * 3))
    assert found["udr_active"].value > 0.9
    assert found["udr"].value < 0.5
    assert found["stability"].value > 0.9
