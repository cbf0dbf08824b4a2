"""The tool that changes equations: which changes it makes, and that a change reaches whoever holds the function."""

import importlib.util
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from . import listed
from .__main__ import ROOMS, files_of
from .listed import out_of_date, wrong_equations, wrong_mutants
from .live import find_functions, put_in
from .mutant import Mutant, chosen
from .operators import mutants_of
from .scores import known_survivors
from .session import SOURCE as PACKAGE

SOURCE = '''
"""Not 3 + 4."""
import functools
from dataclasses import dataclass

EXAMPLE_BINS = 20


@dataclass(frozen=True)
class Options:
    beta: float = 4.0


def doubled(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return 2 * function(*args, **kwargs)
    return call


@doubled
def loss(a, b, *, weight=3.0, bins=EXAMPLE_BINS):
    """Not 1 + 1."""
    if weight < 0:
        raise ValueError(f"{weight - 1} is negative")
    total: float = a - weight * b
    assert total < 1e9
    return total.real + bins
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    path = tmp_path / "unbraid_example.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("unbraid_example", path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "unbraid_example", found)
    spec.loader.exec_module(found)
    find_functions()
    return found


def changes() -> dict[str, Mutant]:
    return {f"{m.old} → {m.new}": m for m in mutants_of("unbraid_example.py", SOURCE)}


def test_operators_terms_numbers_and_conditions_are_changed_and_words_are_not() -> None:
    found = set(changes())
    assert {
        "20 → 21", "4.0 → 5.0", "3.0 → 4.0", "weight < 0 → (weight <= 0)", "weight < 0 → (weight >= 0)", "0 → 1",
        "a - weight * b → (a + (weight * b))", "a - weight * b → (a)", "a - weight * b → (weight * b)",
        "a - weight * b → ((weight * b) - a)", "weight * b → (weight / b)", "weight * b → (weight)",
        "2 * function(*args, **kwargs) → (2)", "total.real + bins → (total.real - bins)",
    } <= found  # fmt: skip
    assert not any("weight - 1" in one or "1e9" in one or "3 + 4" in one or "1 + 1" in one for one in found)


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("", 2 * (1 - 3 * 2 + 20)),
        ("a - weight * b → (a + (weight * b))", 2 * (1 + 3 * 2 + 20)),
        ("2 → 3", 3 * (1 - 3 * 2 + 20)),  # in a decorator's inner function, which was made at import
        ("3.0 → 4.0", 2 * (1 - 4 * 2 + 20)),  # a default of an argument
        ("20 → 21", 2 * (1 - 3 * 2 + 21)),  # a constant that became a default
    ],
)
def test_a_change_reaches_whoever_holds_the_function(module: ModuleType, change: str, value: float) -> None:
    held = module.loss
    if change:
        put_in(changes()[change], Path(str(module.__file__)))
    assert held(1.0, 2.0) == value


def test_a_default_of_options_is_changed(module: ModuleType) -> None:
    put_in(changes()["4.0 → 5.0"], Path(str(module.__file__)))
    assert module.Options().beta == 5.0


def test_a_sample_does_not_depend_on_where_functions_stand() -> None:
    moved = mutants_of("unbraid_example.py", SOURCE.replace("EXAMPLE_BINS = 20", "# moved\n\n\nEXAMPLE_BINS = 20"))
    few = chosen(mutants_of("unbraid_example.py", SOURCE), 5)
    assert [m.key for m in chosen(moved, 5)] == [m.key for m in few]
    assert len({m.key for m in moved}) == len(moved)


def test_another_draw_has_other_mutants() -> None:
    every = mutants_of("unbraid_example.py", SOURCE)
    drawn = [{m.key for m in chosen(every, 5, draw)} for draw in (0, 1, 1)]
    assert drawn[0] != drawn[1] == drawn[2]


def test_the_page_explains_survivors_one_by_one() -> None:
    assert all(" → " in one and ": " in one for one in known_survivors())


def test_wrong_equations_stand_where_the_list_says() -> None:
    rooms = [name for names in files_of(list(ROOMS), []).values() for name in names]
    assert out_of_date(PACKAGE, rooms) == []
    sources = {file: (PACKAGE / file).read_text(encoding="utf-8") for file in rooms}
    found = wrong_mutants(sources)
    assert len(found) == len(wrong_equations()) > 1000
    for mutant in found:
        compile(mutant.applied(sources[mutant.file]), mutant.file, "exec")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ops/gone.py\n    a → b", "ops/gone.py is in no room"),
        ("data/load.py\n    a → b", "data/load.py is in no room"),
        ("ops/schedules.py\n    sqrt(step) → step", "'sqrt(step)' 0 times"),
        ("ops/schedules.py\n    step → steps", "ops/schedules.py has 'step'"),
        ("ops/schedules.py\n    from __future__ import annotations → nothing", "in no function"),
    ],
)
def test_a_list_that_is_out_of_date_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str, said: str
) -> None:
    path = tmp_path / "list.txt"
    path.write_text(line + "\n", encoding="utf-8")
    monkeypatch.setattr(listed, "wrong_equations", partial(wrong_equations, path))
    rooms = [name for names in files_of(list(ROOMS), []).values() for name in names]
    (sentence,) = out_of_date(PACKAGE, rooms)
    assert said in sentence
