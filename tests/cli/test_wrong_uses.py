"""What people get wrong is said in one sentence, before anything is loaded or written."""

from pathlib import Path

import numpy as np
import pytest

from unbraid.cli.code_files import observations_file
from unbraid.cli.main import main
from unbraid.data import from_arrays
from unbraid.data.inspect import info
from unbraid.data.preprocessing import Preprocessing
from unbraid.errors import InputError, unknown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--held-out", "2"], "--held-out: must be a part of the data from 0 to below 1, such as 0.1, not 2"),
        (["--held-out", "some"], "--held-out: must be a part of the data from 0 to below 1, such as 0.1, not some"),
        (["--seed", "-1"], "--seed: must be a whole number from 0 on, not '-1'"),
        (["--steps", "0"], "--steps: must be a whole number from 1 on, not '0'"),
        (["--steps", "10,many"], "--steps: must be a whole number from 1 on, not 'many'"),
    ],
)
def test_numbers_are_checked_before_data_are_loaded(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", "not-there.csv", *words]) == 2
    error = capsys.readouterr().err
    assert said in error.replace("\n", " ")
    assert "not-there" not in error


def test_a_layout_that_does_not_exist_is_named() -> None:
    with pytest.raises(InputError, match="layout 'xyz' is unknown; choose nhwc or nchw for images, nct or ntc"):
        from_arrays(np.full((4, 3, 20), -1.0), layout="xyz")


def test_names_are_listed_as_people_count() -> None:
    assert str(unknown("latent", "hue", ["z10", "z2", "z1"])).endswith("choose one of z1, z2, z10.")


def test_decoded_tables_and_signals_may_go_into_a_file() -> None:
    table, signals = Preprocessing(), Preprocessing(signal=(3, 20))
    assert observations_file(Path("made.csv"), False, table) == Path("made.csv")
    assert observations_file(Path("made.v2"), False, table) == Path("made.v2/observations.csv")
    assert observations_file(Path("made"), False, signals) == Path("made/observations.npy")
    assert observations_file(Path("made"), True, table) == Path("made")
    for place, is_image, how, said in [
        ("a.png", True, table, "images go into a folder; name a folder."),
        ("a.csv", False, signals, "these observations are written as .npy; name a folder or a .npy file."),
        ("a.parquet", False, table, "these observations are written as .csv; name a folder or a .csv file."),
    ]:
        with pytest.raises(InputError, match=said):
            observations_file(Path(place), is_image, how)


def test_info_says_that_observations_are_counts_or_signals() -> None:
    draws = np.random.default_rng(0)
    counts = info(from_arrays(draws.poisson(draws.gamma(1.0, 20.0, (60, 4)))))
    assert counts.lines()[1].startswith("counts 0 to ")
    signals = info(from_arrays(draws.normal(size=(8, 3, 40))))
    assert signals.lines()[0].startswith("arrays: 8 signals of 3 channels and 40 times")
    assert "mean 0;" in signals.lines()[1]
