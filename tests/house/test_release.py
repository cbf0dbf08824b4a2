"""A release is one version everywhere, and the workflow refuses a tag that is not that version's."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = {
    "src/unbraid/_version.py": '__version__ = "1.2.3"\n',
    "CITATION.cff": "version: 1.2.3\ndate-released: 2030-01-31\n",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n## 1.2.3 (2030-01-31)\n### Added\n- A thing.\n",
}


@pytest.fixture(scope="module")
def problems() -> Callable[..., list[str]]:
    spec = importlib.util.spec_from_file_location("check_release", ROOT / "tests" / "check_release.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.problems


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_version_changelog_and_citation_of_this_tree_agree(problems: Callable[..., list[str]]) -> None:
    assert problems(ROOT) == []


def test_a_tree_that_agrees_may_be_tagged(problems: Callable[..., list[str]], tree: Path) -> None:
    assert problems(tree, "v1.2.3") == []


@pytest.mark.parametrize("tag", ["v1.2.4", "1.2.3", "v1.2.3rc1"])
def test_another_tag_is_refused(problems: Callable[..., list[str]], tree: Path, tag: str) -> None:
    assert problems(tree, tag) == [f"the tag is {tag}; this version's is v1.2.3"]


@pytest.mark.parametrize(
    ("name", "old", "new", "word"),
    [
        ("CITATION.cff", "1.2.3", "1.2.2", "CITATION.cff has version 1.2.2"),
        ("CITATION.cff", "01-31", "02-01", "CHANGELOG.md begins with"),
        ("CHANGELOG.md", "(2030-01-31)", "(not yet released)", "CHANGELOG.md begins with"),
        ("CHANGELOG.md", "Unreleased\n", "Unreleased\n- A new thing.\n", "unreleased entries"),
    ],
)
def test_what_does_not_agree_is_named(
    problems: Callable[..., list[str]], tree: Path, name: str, old: str, new: str, word: str
) -> None:
    (tree / name).write_text(FILES[name].replace(old, new))
    wrong = problems(tree, "v1.2.3")
    assert len(wrong) == 1
    assert word in wrong[0]


def test_the_release_workflow_asks_before_it_publishes() -> None:
    steps = (ROOT / ".github/workflows/release.yml").read_text()
    check = steps.index('python tests/check_release.py "$GITHUB_REF_NAME"')
    assert check < steps.index("make test-packages") < steps.index("gh-action-pypi-publish")


def test_workflows_run_targets_that_there_are() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for workflow in (ROOT / ".github/workflows").glob("*.yml"):
        used = set(re.findall(r"\bmake ([a-z-]+)", workflow.read_text()))
        assert used, workflow
        assert used <= targets, workflow
