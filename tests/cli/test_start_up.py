"""Help and lists appear at once: they import neither torch nor scipy."""

import subprocess
import sys

import pytest

from unbraid import methods
from unbraid.cli.console import first_line
from unbraid.cli.method_list import ListedMethod, listed_methods
from unbraid.cli.study_list import listed_studies
from unbraid.papers import STUDIES

PROGRAM = """
import sys
from unbraid.cli.main import main
assert main({words!r}) == 0
print("LOADED", *sorted({{name.split(".")[0] for name in sys.modules}}))
"""


SLOW = {"torch", "scipy", "sklearn", "matplotlib"}


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--help"], "unbraid demo"),
        (["data", "list"], "shapes3d"),
        (["methods"], "beta-tcvae"),
        (["metrics"], "mig"),
        (["reproduce"], "ms-vae/pendulum"),
    ],
)
def test_help_and_lists_import_nothing_slow(words: list[str], shown: str) -> None:
    program = PROGRAM.format(words=words)
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    text, loaded = answer.stdout.split("LOADED")
    assert shown in text
    assert SLOW.isdisjoint(loaded.split())


def test_the_list_of_methods_is_what_the_classes_say() -> None:
    said = [ListedMethod(cls.name, first_line(cls.__doc__), cls.paper) for cls in methods.METHODS]
    assert listed_methods() == said


def test_the_list_of_studies_is_what_they_say() -> None:
    assert list(listed_studies().items()) == [(name, study.title) for name, study in STUDIES.items()]
