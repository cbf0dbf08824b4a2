"""Every bad table has its own sentence, with the input's name and a remedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unbraid import metrics as m
from unbraid.errors import InputError

from .conftest import random_table

CODES, FACTORS = random_table(60)
HOLE = CODES.copy()
HOLE[3, 1] = np.nan
ENDLESS = CODES.copy()
ENDLESS[0, 0] = np.inf
ONE_VALUE = FACTORS.copy()
ONE_VALUE[:, 2] = 7
UNLABELLED = FACTORS.copy()
UNLABELLED[:, 1] = np.nan

TABLES = [
    ((HOLE, FACTORS), r"codes hold NaN \(first at \(3, 1\)\); drop those rows"),
    ((ENDLESS, FACTORS), r"codes hold infinite values \(first at \(0, 0\)\)"),
    ((CODES, np.where(FACTORS == 1, np.inf, FACTORS)), "factors hold infinite values"),
    ((CODES[:1], FACTORS[:1]), r"the table has 1 row\(s\); a metric needs at least two"),
    ((CODES, ONE_VALUE), r"factor 'factor 2' has one value only \(7\); leave it out"),
    ((CODES, UNLABELLED), "factor 'factor 1' has no known label; leave it out"),
    ((CODES, FACTORS[:50]), "60 rows of codes and 50 of factors; they must be the same rows"),
    ((CODES[:, 0], FACTORS), r"codes have shape \(60,\); give one row for each observation"),
    ((CODES, FACTORS[:, :0]), r"factors have shape \(60, 0\)"),
    (
        (CODES, np.full(FACTORS.shape, "red")),
        "factors hold <U3 values; numbers are needed: replace text by value indices",
    ),
    ((CODES.astype(str), FACTORS), "codes hold .* values; numbers are needed"),
    (([[1.0, 2.0], [3.0]], FACTORS[:2]), "codes are rows of different lengths"),
    ((CODES, None), "factors are missing"),
]


@pytest.mark.parametrize(("arrays", "sentence"), TABLES, ids=lambda x: x[:30] if isinstance(x, str) else "")
def test_a_bad_table_is_refused_by_name(arrays: tuple[np.ndarray, np.ndarray], sentence: str) -> None:
    for metric in (m.mig, m.dci, m.factor_score):
        with pytest.raises(InputError, match=sentence):
            metric(*arrays)


def test_names_kinds_and_sizes_must_fit() -> None:
    with pytest.raises(InputError, match="there are 2 names for 5 factors"):
        m.mig(CODES, FACTORS, names=["a", "b"])
    with pytest.raises(InputError, match="no kind of factor 'cyklic'; did you mean 'cyclic'"):
        m.mig(CODES, FACTORS, kinds=["cyklic"] * 5)
    with pytest.raises(InputError, match="give its period in sizes"):
        m.as_table(CODES, 100 * np.random.default_rng(0).random((60, 1)), kinds=["cyclic"])


def test_choices_that_do_not_exist_name_those_that_do() -> None:
    with pytest.raises(InputError, match="did you mean 'locatello'"):
        m.mig(CODES, FACTORS, convention="locatelo")
    with pytest.raises(InputError, match="mode of DCI"):
        m.dci(CODES, FACTORS, mode="trees")
    with pytest.raises(InputError, match="give log_vars"):
        m.mig(CODES, FACTORS, convention="chen")
    with pytest.raises(InputError, match=r"latents \[99\] are not columns of the codes; choose from 0 to 9"):
        m.downstream(CODES, FACTORS, latents=[99])
    with pytest.raises(InputError, match="there is no metric 'migg'; did you mean 'mig'"):
        m.suite(CODES, FACTORS, metrics=["migg"])
    with pytest.raises(InputError, match="'fid' needs features of two sets"):
        m.suite(CODES, FACTORS, metrics=["fid"])


def test_a_factor_without_enough_rows_is_named() -> None:
    identity = np.arange(60.0)
    factors = np.column_stack([FACTORS[:, 0], identity])
    for metric in (m.factor_score, m.beta_score, m.z_diff):
        with pytest.raises(InputError, match="factor 'who' has too few rows"):
            metric(CODES, factors, names=["two", "who"], kinds=["ordinal", "categorical"])


def test_one_factor_cannot_be_told_from_another() -> None:
    for metric in (m.modularity, m.beta_score):
        with pytest.raises(InputError, match="only one"):
            metric(CODES, FACTORS[:, 0])


def test_attributes_must_be_binary() -> None:
    with pytest.raises(InputError, match="factors with two values"):
        m.attribute_classification(CODES, FACTORS[:, 1:])


def test_observations_must_match() -> None:
    with pytest.raises(InputError, match=r"shapes \(3, 2\) and \(4, 2\)"):
        m.l1(np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(InputError, match="NaN or infinite"):
        m.l2(np.zeros((3, 2)), np.full((3, 2), np.nan))
    with pytest.raises(InputError, match="use the same network"):
        m.fid(np.zeros((5, 2)), np.zeros((5, 3)))
    with pytest.raises(InputError, match="train at least one more"):
        m.udr([CODES])
    with pytest.raises(InputError, match="encode the same observations"):
        m.udr([CODES, CODES[:9]])


def test_tables_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "codes.npz"
    np.savez(path, codes=CODES, factors=FACTORS, factor_names=list("abcde"), factor_kinds=["ordinal"] * 5)
    table = m.load_table(path)
    assert table.names == ("a", "b", "c", "d", "e")
    assert (table.codes == CODES).all()
    assert m.mig(table).value == m.mig(CODES, FACTORS).value


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a file"):
        m.load_table(tmp_path / "nothing.npz")
    np.savez(tmp_path / "half.npz", codes=CODES)
    with pytest.raises(InputError, match=r"has no array 'factors' \(it has codes\)"):
        m.load_table(tmp_path / "half.npz")
    np.save(tmp_path / "one.npy", CODES)
    with pytest.raises(InputError, match="holds one array"):
        m.load_table(tmp_path / "one.npy")
    (tmp_path / "text.npz").write_text("not an archive")
    with pytest.raises(InputError, match="cannot be read"):
        m.load_table(tmp_path / "text.npz")
    np.savez(tmp_path / "pickled.npz", codes=np.array([{}], dtype=object), factors=FACTORS)
    with pytest.raises(InputError, match="Python objects"):
        m.load_table(tmp_path / "pickled.npz")
