"""Attributes in single codes: areas worked out by hand, and what turning takes away."""

import numpy as np
import pytest

from unbraid.papers.measures.single_codes import area_of_best_code, areas, turned


def test_areas_by_hand() -> None:
    """Rows with the attribute have 2 and 4, the others 1 and 3: three of four pairs are in order; −codes: one."""
    codes = np.array([[1.0, -1.0, 0.0], [2.0, -2.0, 0.0], [3.0, -3.0, 0.0], [4.0, -4.0, 0.0]])
    has = np.array([[0], [1], [0], [1]], bool)
    np.testing.assert_allclose(areas(codes, has)[:, 0], [0.75, 0.25, 0.5])


def test_the_code_is_chosen_on_other_rows_than_it_is_measured_on() -> None:
    """Of 200 codes of noise the best looks good where it was chosen, and is at chance elsewhere."""
    rng = np.random.default_rng(0)
    codes, has = rng.normal(size=(60, 200)), rng.random((60, 50)) < 0.5
    assert np.abs(areas(codes[::2], has[::2]) - 0.5).max(axis=0).mean() > 0.25
    assert area_of_best_code(codes, has).mean() == pytest.approx(0.5, abs=0.04)


def test_an_attribute_that_a_code_has_less_of_is_told_too() -> None:
    code = np.arange(40.0)[:, None]
    assert area_of_best_code(code, code < 20)[0] == 1.0


def test_turning_keeps_what_codes_tell_together_and_spreads_it() -> None:
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(4000, 6)) * [1, 2, 3, 4, 5, 6]
    has = codes > codes.std(axis=0)  # an attribute of each code
    away = turned(codes, 0)
    np.testing.assert_allclose(np.cov(away.T, bias=True), np.corrcoef(codes.T), atol=0.1)
    np.testing.assert_allclose(
        np.linalg.norm(away, axis=1), np.linalg.norm((codes - codes.mean(0)) / codes.std(0), axis=1)
    )
    assert area_of_best_code(codes, has).min() == 1.0
    assert area_of_best_code(away, has).mean() < 0.95
