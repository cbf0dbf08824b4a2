"""What a mutant is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One change of a file's text: `old` at `start` becomes `new`."""

    file: str
    function: str  # its outermost function or method, by qualified name; empty for values of classes and modules
    kind: str
    line: int
    start: int
    old: str
    new: str
    text: str  # digest of the function's source
    place: int  # where it stands in the function's source
    target: str = ""  # of a value outside functions: "Class.name", "name", or "function(argument)"

    @property
    def key(self) -> str:
        """What identifies it while its function stays as it is, wherever that stands in its file."""
        parts = (self.file, self.function, self.target, self.kind, str(self.place), self.old, self.new, self.text)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]

    def applied(self, source: str) -> str:
        """The file's text with the change; lines keep their numbers."""
        lines = "\n" * (self.old.count("\n") - self.new.count("\n"))
        return source[: self.start] + self.new + lines + source[self.start + len(self.old) :]

    def __str__(self) -> str:
        old, new = (" ".join(part.split()) for part in (self.old, self.new))
        return f"{self.file}:{self.line} {self.function or self.target}: {old} → {new or 'nothing'}"


def chosen(mutants: list[Mutant], most: int, draw: int = 0) -> list[Mutant]:
    """At most so many, as good as drawn by lot, and the same ones every time; another draw has others."""

    def lot(mutant: Mutant) -> str:
        return hashlib.sha256(f"{draw} {mutant.key}".encode()).hexdigest() if draw else mutant.key

    return sorted(sorted(mutants, key=lot)[:most], key=lambda m: m.start)
