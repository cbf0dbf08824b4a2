"""Pages do not lie: Python imports what there is, commands have the options that they show."""

import ast
import importlib
import json
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from unbraid import cli, methods
from unbraid.core import MethodConfig
from unbraid.metrics import METRICS, SUITE
from unbraid.metrics.record import Metric
from unbraid.util.option_paths import option_names

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("[a-qs-z]*/*.md")])


def blocks(page: Path, *languages: str) -> list[str]:
    """The fenced blocks of a page in one of these languages."""
    pattern = re.compile(rf"^```({'|'.join(languages)})\n(.*?)^```", re.DOTALL | re.MULTILINE)
    return [match[1] for match in pattern.findall(page.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_names_what_there_is(page: Path) -> None:
    for block in blocks(page, "python", "py"):
        if ">>>" in block:
            continue
        tree = ast.parse(block)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "unbraid":
                module = importlib.import_module(node.module)
                for alias in node.names:
                    submodule = f"{node.module}.{alias.name}"
                    assert hasattr(module, alias.name) or importlib.import_module(submodule), submodule
            if isinstance(node, ast.Attribute):
                assert exists(ast.unparse(node)), f"{page.name}: {ast.unparse(node)}"


def exists(dotted: str) -> bool:
    """Whether `ub.a.b` is there; what does not begin with a name of ours is not our business."""
    first, *rest = dotted.split(".")
    if first not in ("ub", "unbraid", "metrics") or not all(part.isidentifier() for part in rest):
        return True
    thing = importlib.import_module("unbraid.metrics" if first == "metrics" else "unbraid")
    for part in rest:
        if not hasattr(thing, part):
            return False
        thing = getattr(thing, part)
        if not hasattr(thing, "__name__"):  # an object: what it has is decided when it is made
            return True
    return True


@cache
def help_of(command: str) -> str:
    """What `unbraid COMMAND --help` prints."""
    import io
    from contextlib import redirect_stdout

    text = io.StringIO()
    with redirect_stdout(text), pytest.raises(SystemExit):
        cli.main([*command.split(), "--help"])
    return text.getvalue()


@cache
def method_options() -> set[str]:
    """Every option of every method, as it is typed."""
    return {name.replace("_", "-") for config in methods.METHODS for name in option_names(config)}


def commands() -> list[tuple[str, str]]:
    """Every command of every page that can be typed: page and line."""
    found = []
    for page in PAGES:
        for block in blocks(page, "sh", "bash", "console", ""):
            for line in block.replace("\\\n", " ").splitlines():
                words = line.split("  #")[0].split(" #")[0].strip()
                if words.startswith("unbraid ") and "NAME" not in words:
                    found.append((page.name, words))
        prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        spans = [" ".join(span.split()) for span in re.findall(r"`(unbraid [a-z]+ [^`]+)`", prose)]
        found += [(page.name, span) for span in spans if "NAME" not in span and "|" not in span]
    return found


@pytest.mark.parametrize(("page", "line"), commands(), ids=lambda text: text[:60])
def test_commands_have_these_options(page: str, line: str) -> None:
    words = shlex.split(line.split("   ")[0].replace("…", ""))[1:]
    group = {"data": 2}.get(words[0], 1)
    text = help_of(" ".join(words[:group]))
    for word in words[group:]:
        if word.startswith("--") and not word.startswith("--data."):
            name = re.sub(r"^\d+\.", "", word[2:].split("=")[0])
            assert f"--{name}" in text or name in method_options(), f"{page}: {word} of {' '.join(words[:group])}"


@pytest.mark.parametrize("config", methods.METHODS, ids=lambda config: config.name)
def test_a_method_says_when_to_use_it_and_what_it_costs(config: type[MethodConfig]) -> None:
    assert config.when.endswith("."), "one sentence or two"
    assert "when" in vars(config), "not another method's sentence"
    costs = json.loads((ROOT / "docs" / "step-costs.json").read_text())
    assert costs[config.name] > 0, "python benchmarks/step_costs.py measures it"


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_a_metric_says_when_to_use_it_and_what_it_costs(metric: Metric) -> None:
    assert metric.when.endswith("."), "one sentence or two"
    assert [other.name for other in METRICS.values() if other.when == metric.when] == [metric.name], "its own sentence"
    costs = json.loads((ROOT / "docs" / "metric-costs.json").read_text())
    if metric.name in SUITE:
        assert costs[metric.name] > 0, "python docs/metric_costs.py measures it"


def test_readme_counts_what_there_is() -> None:
    row = {
        cells[1].strip(): cells[2]
        for line in (ROOT / "README.md").read_text().splitlines()
        if len(cells := line.split("|")) > 6
    }
    assert int(re.findall(r"\d+", row["methods"])[0]) == len(methods.METHODS)
    assert int(re.findall(r"\d+", row["scores of codes"])[0]) == len(METRICS)
