"""Links of pages and notebooks lead somewhere, to the heading too; what they tell people to run is there."""

import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = [page for page in (ROOT / "docs").rglob("*.md") if page.relative_to(ROOT / "docs").parts[0][0] not in "_j"]
MADE = "docs/reference/"  # by `make docs`
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *DOCS, *(ROOT / "docs/notebooks").glob("*.ipynb"), *ROOT.glob(".github/**/*.md")]
    if not str(path.relative_to(ROOT)).startswith(MADE)
)


@cache
def text_of(page: Path) -> str:
    """A page, or the prose of a notebook."""
    if page.suffix != ".ipynb":
        return page.read_text(encoding="utf-8")
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def without_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The names that headings have on a code host and on the site."""
    titles = re.findall(r"^#+ (.+)$", without_blocks(text_of(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(text_of(page))):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file, _, anchor = target.partition("#")
        goal = (page.parent / file).resolve() if file else page
        if str(goal).startswith(str(ROOT / MADE)):
            continue
        assert goal.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(goal), f"{page.name} links to {target}; {goal.name} has {sorted(anchors(goal))}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_pages_say_to_run_is_there(page: Path) -> None:
    text = text_of(page)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    code = "\n".join([*re.findall(r"`([^`\n]+)`", without_blocks(text)), *blocks])
    for words in re.findall(r"\bmake ((?:[a-z]+[a-z-]* ?)+)", code):
        assert set(words.split()) <= targets, f"{page.name}: make {words}"
    for script in re.findall(r"python ((?:benchmarks|docs|tests)/\S+\.py)", code):
        assert (ROOT / script).exists(), f"{page.name}: {script}"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for named in re.findall(r"unbraid\[([a-z,]+)\]", text):
        assert set(named.split(",")) <= set(extras), f"{page.name}: unbraid[{named}]"
    for host in re.findall(r"https?://([^/\s)`\"']+)", text):
        assert "pypi" not in host, f"{page.name} names a package registry: {host}"


def test_pages_of_methods_and_metrics_that_are_linked_will_be_made() -> None:
    from unbraid.methods import METHODS
    from unbraid.metrics import METRICS

    made = {f"methods/{config.name}" for config in METHODS} | {f"metrics/{name}" for name in METRICS}
    made |= {"methods", "metrics"}
    linked = {name for page in PAGES for name in re.findall(r"\]\([./]*reference/([^)#]+)\.md", text_of(page))}
    assert linked
    assert linked <= made
