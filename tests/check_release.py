"""Say what keeps this tree from being released, by the tag given: `python tests/check_release.py v0.2.0`.

Version, changelog and citation must agree, and the tag must be the version's. Without a tag only the first is checked.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def problems(root: Path, tag: str | None = None) -> list[str]:
    """A sentence for each thing that does not agree with `_version.py`."""
    version = found(r'__version__ = "([^"]+)"', root / "src/unbraid/_version.py")
    cited = found(r"^version: (\S+)$", root / "CITATION.cff")
    released = found(r"^date-released: (\S+)$", root / "CITATION.cff")
    heading = found(r"^## (?!Unreleased)(.*)$", root / "CHANGELOG.md")
    wrong = []
    if cited != version:
        wrong.append(f"CITATION.cff has version {cited}, src/unbraid/_version.py has {version}")
    if heading != f"{version} ({released})":
        wrong.append(
            f"CHANGELOG.md begins with «{heading}»; CITATION.cff and _version.py ask for «{version} ({released})»"
        )
    if tag is not None and tag != f"v{version}":
        wrong.append(f"the tag is {tag}; this version's is v{version}")
    if tag is not None and found(r"^## (Unreleased)\s+(?!## )\S", root / "CHANGELOG.md"):
        wrong.append("CHANGELOG.md has unreleased entries: move them under the version")
    return wrong


def found(pattern: str, file: Path) -> str | None:
    """What the first group of a pattern matches in a file."""
    match = re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else None


if __name__ == "__main__":
    wrong = problems(Path(__file__).parents[1], *sys.argv[1:2])
    sys.exit("\n".join(wrong) or 0)
