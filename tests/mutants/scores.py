"""The score by room, and the survivors that nobody has explained."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .mutant import Mutant
from .session import ROOT

PAGE = ROOT / "docs" / "mutants.md"


def known_survivors() -> set[str]:
    """Mutants that the page explains: its rows «| `file` function | `old` → `new` | why |»."""
    found = re.findall(r"^\| `([^`]+)` (\S+) \| `(.+)` → `(.*)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {plain(f"{file} {function}: {old} → {new or 'nothing'}") for file, function, old, new in found}


def plain(mutant: object) -> str:
    """A mutant as the page names it: without the number of its line."""
    return re.sub(r":\d+ ", " ", str(mutant), count=1).replace("|", "\\|").replace("\\\\|", "\\|")


def print_scores(
    mutants: Sequence[Mutant],
    results: Mapping[str, Mapping[str, str]],
    rooms: Mapping[str, Sequence[str]],
    known: set[str],
) -> int:
    """Print the table of the page; 1 if a mutant survived that the page does not explain.

    The score is of those that change something: what the page explains to be equivalent is left out of it.
    """
    unexplained = 0
    print("\n| part | mutants | killed | equivalent | score |\n|---|---|---|---|---|")
    for room, files in rooms.items():
        tried = [(m, results[m.key]["status"]) for m in mutants if m.file in files and m.key in results]
        if not tried:
            continue
        killed = sum(status in ("killed", "timeout") for _, status in tried)
        left = [m for m, status in tried if status in ("survived", "broken")]
        same = sum(plain(m) in known for m in left)
        unexplained += len(left) - same
        score = f"{100 * killed / max(1, len(tried) - same):.1f} %"
        print(f"| `{room}` | {len(tried)} | {killed} | {same} | {score} |")
    for mutant in mutants:
        if results.get(mutant.key, {}).get("status") in ("survived", "broken") and plain(mutant) not in known:
            print("survived:", mutant)
    return int(unexplained > 0)
