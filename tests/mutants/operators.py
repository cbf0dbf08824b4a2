"""Mutants of a source file: one small change each, of the kinds that a wrong equation is made of.

Left alone, because they are not behaviour: docstrings and other text, annotations, error messages (whatever stands in a
`raise`), assertions, what is logged and the progress that is shown, bounds and help of options.
"""

from __future__ import annotations

import ast
import hashlib

from .mutant import Mutant
from .syntax import (
    COMPARED,
    DROPPED,
    OTHER,
    SWAPPED,
    UNHEARD,
    UNTURNED,
    is_number,
    is_super,
    is_text,
    only_raises,
    root,
    silent,
    squared,
)


def mutants_of(file: str, source: str) -> list[Mutant]:
    """All mutants of a file, in the order of its text."""
    maker = _Maker(file, source)
    maker.module(ast.parse(source))
    unique = {(m.start, m.old, m.new, m.target): m for m in maker.found if m.old.strip() != m.new.strip()}
    return sorted(unique.values(), key=lambda m: (m.start, m.kind, m.new))


class _Maker:
    def __init__(self, file: str, source: str) -> None:
        self.file, self.source = file, source
        self.found: list[Mutant] = []
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.encoded = source.splitlines()
        self.function, self.digest, self.base, self.target = "", "", 0, ""
        self.even: set[int] = set()  # differences whose sign is lost

    def offset(self, line: int, column: int) -> int:
        """Where a node begins, in characters (Python counts bytes)."""
        return self.starts[line - 1] + len(self.encoded[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.source[start:end]

    def add(self, kind: str, node: ast.expr | ast.stmt, new: str) -> None:
        start, end = self.span(node)
        old = self.source[start:end]
        place = start - self.base
        self.found.append(
            Mutant(self.file, self.function, kind, node.lineno, start, old, new, self.digest, place, self.target)
        )

    # What stands outside functions: constants, defaults of options and of arguments.

    def module(self, tree: ast.Module) -> None:
        self.even = {id(inner) for node in ast.walk(tree) for inner in squared(node) if isinstance(inner, ast.BinOp)}
        for node in tree.body:
            self.definition(node, "")

    def definition(self, node: ast.stmt, owner: str) -> None:
        if isinstance(node, ast.FunctionDef):
            self.in_function(node, owner)
        elif isinstance(node, ast.ClassDef):
            if not any(getattr(base, "id", "") in ("Protocol", "TypedDict") for base in node.bases):
                for part in node.body:
                    self.definition(part, f"{owner}{node.name}.")
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            name = node.targets[0] if isinstance(node, ast.Assign) else node.target
            value = node.value
            if (
                isinstance(value, ast.Call)
                and getattr(value.func, "id", "") in ("option", "later_option")
                and value.args
            ):
                value = value.args[0]
            if isinstance(name, ast.Name) and is_number(value):
                self.function, self.target, self.digest, self.base = (
                    "",
                    owner + name.id,
                    owner + name.id,
                    self.span(node)[0],
                )
                self.number(value)

    def in_function(self, node: ast.FunctionDef, owner: str) -> None:
        abstract = any("abstract" in ast.dump(one) or "overload" in ast.dump(one) for one in node.decorator_list)
        if abstract or node.name in ("__repr__", "__str__"):
            return
        qualified = owner + node.name
        self.base = self.span(node)[0]
        self.digest = hashlib.sha256(self.text(node).encode()).hexdigest()[:12]
        named = [*zip(node.args.args[::-1], node.args.defaults[::-1], strict=False)]
        named += [(a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None]
        for argument, default in named:
            if is_number(default):
                self.function, self.target = "", f"{qualified}({argument.arg})"
                self.number(default)
        self.function, self.target = qualified, ""
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        for statement in body:
            self.statement(statement)

    # What stands in functions.

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom):
            return
        if isinstance(node, ast.FunctionDef):
            for inner in node.body[1:] if ast.get_docstring(node) is not None else node.body:
                self.statement(inner)
            return
        if isinstance(node, ast.Expr):
            if silent(node.value) or isinstance(node.value, ast.Constant) or is_super(node.value):
                return
            if isinstance(node.value, ast.Call):
                self.add("left out", node, "pass")
        if isinstance(node, ast.AugAssign):
            self.add("left out", node, "pass")
            if type(node.op) in SWAPPED:
                old = self.text(node)
                sign = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/="}.get(type(node.op))
                if sign:
                    self.add("operator", node, old.replace(sign, f"{SWAPPED[type(node.op)]}=", 1))
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            used = {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}
            if node.targets[0].id in used:
                self.add("left out", node, "pass")
        if isinstance(node, ast.If) and not only_raises(node):
            for value in ("True", "False"):
                self.add("condition", node.test, value)
        self.swap_weights(node)
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.stmt):
                self.statement(part)
            elif isinstance(part, ast.expr):
                if not (isinstance(node, ast.AnnAssign) and part is node.annotation):
                    self.expression(part)
            elif isinstance(part, ast.withitem):
                if not silent(part.context_expr):
                    self.expression(part.context_expr)
            elif isinstance(part, ast.ExceptHandler):
                for handled in part.body:
                    self.statement(handled)

    def swap_weights(self, node: ast.stmt) -> None:
        """One factor of a sum's products in place of another: α for γ."""
        if isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try):
            return
        weights = [one for one in ast.walk(node) if isinstance(one, ast.Attribute) and root(one) in ("self", "config")]
        products = {id(side) for one in ast.walk(node) if isinstance(one, ast.BinOp) for side in (one.left, one.right)}
        names = sorted({self.text(one) for one in weights if id(one) in products})
        for one in weights:
            if id(one) in products:
                for other in names:
                    self.add("other weight", one, other)

    def expression(self, node: ast.expr) -> None:
        if isinstance(node, ast.BinOp):
            self.arithmetic(node)
        elif isinstance(node, ast.UnaryOp) and not is_number(node):
            self.add("sign", node, f"({self.text(node.operand)})")
        elif isinstance(node, ast.Compare):
            self.comparison(node)
        elif isinstance(node, ast.BoolOp):
            first = self.text(node.values[0])
            rest = [self.text(value) for value in node.values[1:]]
            word = " or " if isinstance(node.op, ast.And) else " and "
            self.add("and/or", node, "(" + word.join(f"({part})" for part in (first, *rest)) + ")")
        elif isinstance(node, ast.IfExp):
            self.add("condition", node, f"({self.text(node.body)})")
            self.add("condition", node, f"({self.text(node.orelse)})")
        elif is_number(node):
            self.number(node)
            return
        elif isinstance(node, ast.Call):
            if silent(node):
                return
            self.call(node)
        elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            for loop in node.generators:
                for test in loop.ifs:
                    self.add("condition", test, "True")
        if isinstance(node, ast.JoinedStr):
            return
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.expression(part)
            elif isinstance(part, ast.keyword):
                if part.arg != "strict":  # of zip: an assertion
                    self.expression(part.value)
            elif isinstance(part, ast.comprehension):
                for inner in (part.iter, *part.ifs):
                    self.expression(inner)

    def arithmetic(self, node: ast.BinOp) -> None:
        left, right = self.text(node.left), self.text(node.right)
        sides = [f"({part})" if isinstance(side, ast.BinOp | ast.IfExp | ast.BoolOp | ast.Compare) else part
                 for part, side in ((left, node.left), (right, node.right))]  # fmt: skip
        if type(node.op) in SWAPPED:
            self.add("operator", node, f"({sides[0]} {SWAPPED[type(node.op)]} {sides[1]})")
        if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            self.add("term left out", node, f"({left})")
            if not isinstance(node.op, ast.Div):
                self.add("term left out", node, f"({right})")
        if isinstance(node.op, ast.Sub | ast.Div | ast.Pow) and id(node) not in self.even:
            sign = {ast.Sub: "-", ast.Div: "/", ast.Pow: "**"}[type(node.op)]
            self.add("turned", node, f"({sides[1]} {sign} {sides[0]})")

    def comparison(self, node: ast.Compare) -> None:
        if len(node.ops) != 1:
            return
        left, right = self.text(node.left), self.text(node.comparators[0])
        for sign in COMPARED[type(node.ops[0])]:
            self.add("comparison", node, f"({left} {sign} {right})")

    def number(self, node: ast.expr) -> None:
        value = ast.literal_eval(node)
        if isinstance(value, bool):
            self.add("number", node, str(not value))
        elif isinstance(value, int):
            self.add("number", node, str(value + 1))
        else:
            self.add("number", node, repr(value + 1))

    def call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        plain = all(not isinstance(a, ast.Starred) for a in node.args)
        if name in OTHER:
            start, end = self.span(node.func)
            new = self.source[start : end - len(name)] + OTHER[name]
            self.add("function", node.func, new)
        if name in DROPPED and isinstance(node.func, ast.Attribute):
            module = isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "F", "np", "math")
            if not module:
                self.add("left out", node, f"({self.text(node.func.value)})")
            elif node.args:
                self.add("left out", node, f"({self.text(node.args[0])})")
        if plain and len(node.args) >= 2:
            texts = [self.text(argument) for argument in node.args]
            if not is_text(node.args[0]) and not is_text(node.args[1]) and name not in UNTURNED:
                start, end = self.span(node.args[0])[0], self.span(node.args[1])[1]
                between = self.source[self.span(node.args[0])[1] : self.span(node.args[1])[0]]
                turned = texts[1] + between + texts[0]
                at, _ = self.span(node)
                old = self.text(node)
                self.add("turned", node, old[: start - at] + turned + old[end - at :])
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in UNHEARD and not is_text(keyword.value):
                self.without(node, keyword)

    def without(self, node: ast.Call, keyword: ast.keyword) -> None:
        """The call without one of its named arguments."""
        at, _ = self.span(node)
        old = self.text(node)
        start = self.offset(keyword.lineno, keyword.col_offset) - at
        end = self.span(keyword.value)[1] - at
        after = old[end:].lstrip()
        new = old[:start] + (after[1:].lstrip() if after.startswith(",") else after)
        self.add("argument left out", node, new)
