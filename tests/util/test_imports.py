"""Start-up: helpers that every command needs must not wait for torch."""

import ast
from pathlib import Path

import pytest

import unbraid.errors
import unbraid.util

FOLDER = Path(unbraid.util.__file__).parent
FILES = sorted({*FOLDER.glob("*.py"), Path(unbraid.errors.__file__)} - {FOLDER / "tensors.py"})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_only_tensors_on_disk_need_torch(path: Path) -> None:
    imported: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    assert {name.split(".")[0] for name in imported}.isdisjoint({"torch", "lightning_fabric"})
    own = {name for name in imported if name.startswith("unbraid")}
    assert own <= {"unbraid.errors", "unbraid.util.files"}
