"""A mutant put into the running program: its code and its values take the place of the original's.

So the interpreter, torch and the tests are loaded once, and a mutant costs a fork and the tests that it needs.
"""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .mutant import Mutant

Place = tuple[str, int, int]  # qualified name, first line, which of that name and line


_LIVE: dict[str, list[FunctionType]] = {}


def find_functions() -> None:
    """Look for all live functions once, before anything is forked; their memory is then left alone by the collector."""
    for one in gc.get_objects():
        if type(one) is FunctionType:  # asking for its class would wake lazy modules
            _LIVE.setdefault(one.__code__.co_filename, []).append(one)
    gc.freeze()


def functions_of(path: Path) -> list[FunctionType]:
    """Every live function that was made from a file, decorated or not."""
    return _LIVE.get(str(path), [])


def codes_in(code: CodeType) -> dict[Place, CodeType]:
    """The code of every function of a module, by its place."""
    found: dict[Place, CodeType] = {}
    for inner in _walk(code):
        number = 0
        while (inner.co_qualname, inner.co_firstlineno, number) in found:
            number += 1
        found[inner.co_qualname, inner.co_firstlineno, number] = inner
    return found


def _walk(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _walk(constant)


def compiled(source: str, path: Path) -> CodeType:
    """The code of a module's text."""
    return compile(source, str(path), "exec", dont_inherit=True)


def is_same(a: CodeType, b: CodeType) -> bool:
    """Whether two codes are of one function; what the interpreter has learned from running one does not count."""
    return (a.co_qualname, a.co_firstlineno, a.co_code) == (b.co_qualname, b.co_firstlineno, b.co_code)


def put_in(mutant: Mutant, path: Path) -> None:
    """Make the mutant part of this process. There is no way back: do it in a fork."""
    source = path.read_text(encoding="utf-8")
    if mutant.function:
        before, after = (codes_in(compiled(text, path)) for text in (source, mutant.applied(source)))
        changed = 0
        for function in functions_of(path):
            code = function.__code__
            places = [place for place, other in before.items() if is_same(code, other)]
            if len(places) == 1 and places[0] in after:
                function.__code__ = after[places[0]]
                changed += 1
        if not changed:
            raise LookupError(f"no live function for {mutant}")
    else:
        set_value(mutant, path, ast.literal_eval(mutant.old), ast.literal_eval(mutant.new))


def set_value(mutant: Mutant, path: Path, old: object, new: object) -> None:
    """Change a constant, an option's default or an argument's default, wherever it was taken to."""
    if mutant.target.endswith(")"):
        name, argument = mutant.target[:-1].split("(")
        for function in functions_of(path):
            if function.__qualname__ == name:
                _set_default(function, argument, new)
        return
    owner, _, name = mutant.target.rpartition(".")
    module = next(m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == str(path))
    if not owner:
        for other in list(sys.modules.values()):
            if isinstance(other, ModuleType) and other.__name__.startswith("unbraid") and vars(other).get(name) == old:
                setattr(other, name, new)
                for function, argument in _defaults_called(name, Path(str(other.__file__))):
                    _set_default(function, argument, new)
        return
    value: Any = module
    for part in owner.split("."):
        value = getattr(value, part)
    for kind in (value, *_below(value)):
        if name in vars(kind):
            setattr(kind, name, new)
        start = vars(kind).get("__init__")
        if isinstance(start, FunctionType) and start.__code__.co_filename == "<string>":
            _set_default(start, name, new, only=old)


def _defaults_called(name: str, path: Path) -> Iterator[tuple[FunctionType, str]]:
    """The arguments in a file whose default is the constant of this name, with their functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            pairs = [*zip(node.args.args[::-1], node.args.defaults[::-1], strict=False)]
            pairs += [(a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None]
            for argument, default in pairs:
                if isinstance(default, ast.Name) and default.id == name:
                    yield from ((f, argument.arg) for f in functions_of(path) if f.__name__ == node.name)


def _below(kind: type) -> Iterator[type]:
    below: list[type] = kind.__subclasses__()
    for one in below:
        yield one
        yield from _below(one)


def _set_default(function: FunctionType, argument: str, new: object, only: object = ...) -> None:
    named = function.__kwdefaults__ or {}
    if argument in named:
        if only is ... or named[argument] == only:
            named[argument] = new
        return
    defaults = list(function.__defaults__ or ())
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    first = len(names) - len(defaults)
    if argument in names[first:]:
        place = names.index(argument) - first
        if only is ... or defaults[place] == only:
            defaults[place] = new
            function.__defaults__ = tuple(defaults)
