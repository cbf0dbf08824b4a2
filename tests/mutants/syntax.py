"""What mutants are made from: pairs of operators and functions, and what a node of a syntax tree is."""

from __future__ import annotations

import ast

SWAPPED = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.Pow: "*", ast.FloorDiv: "*", ast.Mod: "*",
    ast.BitAnd: "|", ast.BitOr: "&",
}  # fmt: skip
COMPARED = {
    ast.Lt: ("<=", ">="), ast.LtE: ("<", ">"), ast.Gt: (">=", "<="), ast.GtE: (">", "<"), ast.Eq: ("!=",),
    ast.NotEq: ("==",), ast.Is: ("is not",), ast.IsNot: ("is",), ast.In: ("not in",), ast.NotIn: ("in",),
}  # fmt: skip
# Functions and methods by their last name: another one that takes the same arguments.
OTHER = {
    "mean": "sum", "sum": "mean", "max": "min", "min": "max", "amax": "amin", "amin": "amax", "argmax": "argmin",
    "argmin": "argmax", "zeros": "ones", "ones": "zeros", "any": "all", "all": "any", "zeros_like": "ones_like",
    "ones_like": "zeros_like", "rand": "randn", "randn": "rand", "rand_like": "randn_like", "randn_like": "rand_like",
    "logsumexp": "sum", "std": "var", "var": "std", "floor": "ceil", "ceil": "floor", "maximum": "minimum",
    "minimum": "maximum", "clamp_min": "clamp_max", "clamp_max": "clamp_min", "relu": "tanh", "tanh": "sigmoid",
    "sigmoid": "tanh", "ReLU": "Tanh", "LeakyReLU": "ReLU", "Tanh": "ReLU", "Sigmoid": "Tanh", "softmax": "log_softmax",
    "log_softmax": "softmax", "logsigmoid": "sigmoid", "normal": "uniform", "uniform": "normal", "median": "mean",
    "cos": "sin", "sin": "cos",
}  # fmt: skip
# Methods that may be left out: x.exp() -> x, torch.exp(x) -> x.
DROPPED = {
    "detach", "exp", "log", "sqrt", "square", "abs", "clamp", "clamp_min", "clamp_max", "sigmoid", "softplus", "tanh",
    "nan_to_num", "softmax", "log_softmax", "flip", "neg", "log1p", "expm1", "floor", "round", "cumsum", "relu",
    "normalize", "requires_grad_", "eval", "sort", "nanmean", "triu", "tril",
}  # fmt: skip
UNTURNED = (
    "option",
    "isinstance",
    "getattr",
    "max",
    "min",
    "maximum",
    "minimum",
    "mse_loss",
    "scaled",
)  # no other order, or none that counts
UNHEARD = ("device", "dtype", "show", "strict", "title", "progress")  # arguments: not behaviour, or an assertion
SILENT = ("_log", "warnings", "bar", "progress", "logging")  # calls on these are not behaviour


def is_number(node: ast.expr) -> bool:
    """Whether a node is a number or a truth value, with a sign or without."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return is_number(node.operand)
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def is_text(node: ast.expr) -> bool:
    """Whether a node is text."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def squared(node: ast.AST) -> list[ast.expr]:
    """What a node takes the square or the size of."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and ast.unparse(node.right) == "2":
        return [node.left]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("square", "abs"):
        return [*node.args, node.func.value]
    return []


def root(node: ast.expr) -> str:
    """The first name of a chain of attributes."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def silent(node: ast.expr) -> bool:
    """Whether a call logs, warns or shows progress."""
    return isinstance(node, ast.Call) and (
        root(node.func) in SILENT or getattr(node.func, "id", "") in ("Steps", "progress")
    )


def is_super(node: ast.expr) -> bool:
    """Whether a call is `super().__init__(…)`: without it a class does not come to life at all."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__"


def only_raises(node: ast.If) -> bool:
    """Whether a branch does nothing but refuse: its condition counts, and is turned, not forced."""
    return all(isinstance(part, ast.Raise) for part in node.body) and not node.orelse
