"""Pages that are made from the code: one for each method, one for each metric, and their lists."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

from unbraid import methods, metrics
from unbraid.core import DataSpec, MethodConfig, build_method
from unbraid.data.factor_data import Factor
from unbraid.methods import recipes
from unbraid.metrics.record import METRICS, Metric
from unbraid.util.option_paths import describe_options
from unbraid.util.schema import typed

IMAGES = DataSpec(
    (3, 16, 16), 100, (Factor("a", 3), Factor("b", 2)), ranges=((0, 2), (0, 1)), codes=3, labelled=100,
    shares=((0.3, 0.3, 0.4), (0.5, 0.5)), means=(1.0, 0.5),
)  # fmt: skip
# CPU time of a step as a multiple of a VAE's, by `benchmarks/step_costs.py`.
COSTS: dict[str, float] = json.loads((Path(__file__).parent / "step-costs.json").read_text())


def write_pages(folder: Path) -> None:
    """Write all pages into this folder, and touch only those that have changed."""
    for kind in ("methods", "metrics"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for config in methods.METHODS:
        write(folder / "methods" / f"{config.name}.md", method_page(config))
    for metric in METRICS.values():
        write(folder / "metrics" / f"{metric.name}.md", metric_page(metric))
    write(
        folder / "methods.md", list_page("Methods", "methods", [(c.name, summary(c), c.paper) for c in methods.METHODS])
    )
    rows = [(m.name, m.description, m.reference) for m in METRICS.values()]
    write(folder / "metrics.md", list_page("Metrics", "metrics", rows))


def write(path: Path, text: str) -> None:
    """Write a file unless it holds just this: what has not changed is not built again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def list_page(title: str, folder: str, rows: list[tuple[str, str, str]]) -> str:
    """A table with a link to each page."""
    head = f"# {title}\n\n| name | what it is | reference |\n|---|---|---|\n"
    lines = [f"| [`{name}`]({folder}/{name}.md) | {cell(about)} | {cell(paper)} |" for name, about, paper in rows]
    toc = "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(f"{folder}/{name}" for name, _, _ in rows) + "\n```\n"
    return head + "\n".join(lines) + toc


def method_page(config: type[MethodConfig]) -> str:
    """What a method is, what it minimises, when it is used, and its options."""
    parts = [f"# {config.title}", f"`--method {config.name}` · `unbraid.methods.{config.__name__}`"]
    parts += [f"**When to use it.** {config.when}", prose(config.__doc__)]
    if config.conditional:
        parts.append(f"A later stage: it follows another method, as in `--method beta-tcvae {config.name}`.")
    if config.uses_labels:
        parts.append("It learns from labels: `--labels 256` (or `0.5%`) and `--label-factors` say which it may see.")
    if config.encoder_needs_labels:
        parts.append("Its encoder reads labels at test time where there are any: it is scored with and without them.")
    losses = minimised(config)
    if losses:
        parts.append(
            "## What is minimised\n\n"
            + "\n".join(f"- **{name}**, trains {what}: {text}" for name, what, text in losses)
        )
    if config.name in COSTS:
        parts.append(cost(config.name))
    rows = [(f"`--{typed(name)}`", f"`{default}`", about) for name, default, about in describe_options(config)]
    parts.append("## Options\n\n| option | default | meaning |\n|---|---|---|")
    parts[-1] += "".join(f"\n| {option} | {default} | {cell(about)} |" for option, default, about in rows)
    fast = recipes.changes(config)
    if fast:
        words = " ".join(f"--{typed(name)} {value}" for name, value in fast)
        parts.append(f"`unbraid fit` starts from what learns in minutes, for colour images of 64×64 `{words}`; "
                     "`--recipe paper` from the defaults above.")  # fmt: skip
    return "\n\n".join(parts) + "\n"


def cost(name: str) -> str:
    """What a step costs beside a VAE's."""
    fast = f"; by the fast recipe {COSTS[f'{name}, fast']:g}" if f"{name}, fast" in COSTS else ""
    return (
        f"**Cost of a step**: {COSTS[name]:g} times a VAE's at the papers' widths{fast} (CPU time of one thread, "
        "batches of 16 colour images of 64×64; `python benchmarks/step_costs.py`)."
    )


def minimised(config: type[MethodConfig]) -> list[tuple[str, str, str]]:
    """Each update's name, what it trains, and the first line of its loss's docstring: the equation."""
    small = {"width": 0.1} if any(name == "width" for name, _, _ in describe_options(config)) else {}
    updates = build_method(config(**small), IMAGES).updates()
    said = [(u.name, ", ".join(u.trains), cell(first_line(getattr(u.loss, "__doc__", "") or ""))) for u in updates]
    return [(name, trains, text) for name, trains, text in said if text]


def metric_page(metric: Metric) -> str:
    """What a metric is: range, direction, what leaves it alone, its function."""
    low, high = (("open" if end is None else f"{end:g}") for end in metric.range)
    facts = [
        ("reads", metric.needs),
        ("range", f"{low} to {high}"),
        ("better", metric.better),
        ("chance", "" if metric.chance is None else f"{metric.chance:g}"),
        ("unchanged by", ", ".join(metric.unchanged_by)),
        ("reference", metric.reference),
    ]
    parts = [f"# {metric.title}", f"`metrics.{metric.name}` · {metric.description}"]
    parts.append("| | |\n|---|---|" + "".join(f"\n| {name} | {cell(text)} |" for name, text in facts if text))
    doc = inspect.getdoc(metric.function)
    if hasattr(metrics, metric.name) and doc:
        parts.append(f"```{{eval-rst}}\n.. autofunction:: unbraid.metrics.{metric.name}\n```")
    return "\n\n".join(parts) + "\n"


def summary(config: type[MethodConfig]) -> str:
    """The first line of its docstring, without its name."""
    return first_line(config.__doc__ or "").split(": ", 1)[-1]


def prose(doc: str | None) -> str:
    """A docstring as Markdown: its sections become bold words, its example a block."""
    lines = inspect.cleandoc(doc or "").splitlines()
    made: list[str] = []
    example = False
    for line in lines:
        if line.strip() in ("Reference:", "Example:"):
            example = line.strip() == "Example:"
            made += ["", f"**{line.strip()[:-1]}**", *(["", "```python"] if example else [""])]
        else:
            made.append(line[4:] if example else line.strip())
    return "\n".join([*made, *(["```"] if example else [])])


def first_line(doc: str) -> str:
    """The first line of a docstring."""
    return inspect.cleandoc(doc).splitlines()[0] if doc.strip() else ""


def cell(text: str) -> str:
    """Text that does not end a table's cell."""
    return text.replace("|", "\\|").replace("\n", " ")
