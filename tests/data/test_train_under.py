"""Training under tied factors: the sampler by enumeration, and that scores stay where factors are free."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import unbraid as ub
from unbraid.data import from_arrays
from unbraid.data.factor_data import FactorData
from unbraid.data.published.catalogue import catalogue
from unbraid.data.published_ties import PUBLISHED, published_pairs
from unbraid.data.reweight import configuration
from unbraid.data.train_under import row_chances, rows_by_chance, train_under
from unbraid.errors import InputError

SIZES = (3, 5, 2)


def grid(repeats: int = 1) -> FactorData:
    rows = np.array(list(itertools.product(*map(range, SIZES))) * repeats, dtype=float)
    return from_arrays(rows @ np.eye(3, 6), rows, names=["a", "b", "c"])


def test_chances_are_those_of_every_cell_by_hand() -> None:
    data = grid()
    expected = {
        (a, b, c): np.exp(-((a / 2 - b / 4) ** 2) / (2 * 0.1**2)) for a, b, c in itertools.product(*map(range, SIZES))
    }
    total = sum(expected.values())
    found = row_chances(data, "a~b:0.1")
    assert dict(zip(map(tuple, data.factors.astype(int).tolist()), found, strict=True)) == pytest.approx(
        {cell: weight / total for cell, weight in expected.items()}
    )
    # The factor that is not tied stays as it was, and independent of both.
    assert found.reshape(SIZES)[:, :, 0] == pytest.approx(found.reshape(SIZES)[:, :, 1])


def test_ties_multiply_and_presets_name_the_first_factors() -> None:
    data = grid()
    both = row_chances(data, "a~b:0.3") * row_chances(data, "a~c:0.3")
    assert row_chances(data, "1-to-all:0.3") == pytest.approx(both / both.sum())
    assert row_chances(data, "1-pair") == pytest.approx(row_chances(data, "a~b:0.2"))


def test_every_row_is_drawn_as_often_as_its_chance_says() -> None:
    data = grid(repeats=40)
    chances = row_chances(data, "a~b:0.2,b~c:0.5")
    counts = np.bincount(rows_by_chance(chances), minlength=len(data))
    assert counts.sum() == len(data)
    assert (np.abs(counts - len(data) * chances) < 1).all()


@pytest.mark.parametrize("letter", ["A", "B", "C", "D"])
def test_a_letter_is_a_joint_distribution_of_the_paper(letter) -> None:
    data = grid()
    chances = row_chances(data, f"a~b:{letter}")
    table = configuration(letter, *(len(np.unique(data.column(name))) for name in "ab"))
    expected = table[data.column("a").astype(int), data.column("b").astype(int)]
    np.testing.assert_allclose(chances, expected / expected.sum())
    rows = train_under(data, f"a~b:{letter}").train_rows
    assert rows is not None
    assert len(np.unique(rows)) == len(data), "none is left out"
    assert chances.max() / chances.min() == pytest.approx(1 if letter == "A" else 4, rel=0.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2-pairs", "needs 4"),
        ("a-b", "names no pair"),
        ("a~z", "z"),
        ("a~b:0", "no strength"),
        ("a~a", "itself"),
    ],
)
def test_what_cannot_be_tied_is_said(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        train_under(grid(), text)


def test_a_run_trains_under_ties_and_is_scored_without_them(tmp_path: Path) -> None:
    plain = ub.data.load("pendulum", n=300)
    tied = ub.data.load("pendulum", n=300, train_under="length~damping:0.1")
    assert tied.fingerprint != plain.fingerprint
    assert "Scores are of all" in tied.notes[-1]
    run = ub.fit(tied, "beta-vae", steps=3, out=tmp_path / "run", show=False)
    rows = run.training_data(1).rows
    assert rows is not None
    length, damping = tied.factors[rows, :2].T
    assert np.corrcoef(length, damping)[0, 1] > 0.8
    assert abs(np.corrcoef(*tied.factors[:, :2].T)[0, 1]) < 0.2
    assert len(run.encode(show=False).rows) == 300
    again = ub.open(run.folder)
    assert again.data.train_rows is not None
    assert (again.data.train_rows == tied.train_rows).all()


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_pairs_are_factors_of_their_data_set(name: str) -> None:
    info = catalogue()[name]
    varying = tuple(factor.name for factor in info.factors)
    for preset in PUBLISHED[name]:
        pairs, strength = published_pairs(name, preset, varying)
        count = len(varying) - 1 if preset.startswith("1-to-all") else int(preset[0])
        assert len(pairs) == count
        assert len({frozenset(pair) for pair in pairs}) == count
        assert {factor for pair in pairs for factor in pair} <= set(varying)
        assert all(first != second for first, second in pairs)
        assert strength == (0.2 if preset.startswith("1-to-all") else 0.1)


def test_a_published_preset_weighs_every_cell_as_the_protocol_says() -> None:
    """exp(−Σ (u − v)²/2σ²) over two pairs, u and v in [0, 1], by enumeration of a grid with dSprites' factors."""
    sizes = {"shape": 3, "scale": 4, "orientation": 2, "x": 5, "y": 6}
    rows = np.array(list(itertools.product(*map(range, sizes.values()))), dtype=float)
    data = replace(from_arrays(rows, rows, names=list(sizes)), name="dsprites")
    unit = {name: rows[:, k] / (size - 1) for k, (name, size) in enumerate(sizes.items())}
    weights = np.exp(-((unit["shape"] - unit["x"]) ** 2 + (unit["scale"] - unit["y"]) ** 2) / (2 * 0.4**2))
    assert row_chances(data, "2-pairs/1:0.4") == pytest.approx(weights / weights.sum())
    alone = np.exp(-((unit["x"] - unit["y"]) ** 2) / (2 * 0.1**2))
    assert row_chances(data, "1-pair/2") == pytest.approx(alone / alone.sum())
    counts = np.bincount(rows_by_chance(row_chances(data, "1-pair/2")), minlength=len(data))
    assert (np.abs(counts - len(data) * alone / alone.sum()) < 1).all()
    with pytest.raises(InputError, match="1-pair/"):
        row_chances(data, "1-pair/7")
    with pytest.raises(InputError, match="published pairs"):
        row_chances(grid(), "1-pair/1")
