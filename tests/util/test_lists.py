import pytest

from unbraid.cli.main import main
from unbraid.cli.options import pairs
from unbraid.data.arguments import check_arguments
from unbraid.data.own.measurements import load_table
from unbraid.errors import InputError
from unbraid.util.lists import join_list, split_list
from unbraid.util.schema import parse


@pytest.mark.parametrize("given", ["a,b", "a, b", ["a", "b"], ["a,", "b"], "a,,b"])
def test_lists_are_the_same_however_they_are_written(given):
    assert split_list(given) == ["a", "b"]


def test_quoted_names_keep_their_commas_there_and_back():
    names = ["Paris, Texas", 'a "b"', "Rome"]
    assert split_list(join_list(names)) == names
    with pytest.raises(InputError, match="quote that does not end"):
        split_list('"Paris, Texas')


def test_options_of_methods_and_of_data_take_both_forms():
    spaced, commas = (dict(pairs(words)) for words in (["--classes", "3", "2"], ["--classes=3,2"]))
    assert spaced == commas
    assert parse(tuple[int, ...], spaced["classes"], "--classes") == (3, 2)
    checked = check_arguments("t.csv", {"factors": '"a, b",c', "columns": 7}, load_table)
    assert checked == {"factors": ["a, b", "c"], "columns": ["7"]}


def test_a_scalar_with_two_values_is_an_error(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["fit", "toys", "--method", "beta-vae", "--beta", "6", "7"]) == 2
    assert "--beta must be a number, not '6,7'" in capsys.readouterr().err
    assert main(["fit", "toys", "--method", "beta-vae", "--steps", "3,many"]) == 2
    assert "must be a whole number" in capsys.readouterr().err
