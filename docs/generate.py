"""Pages that are made from the code: one for each method, one for each metric, and their lists."""

from __future__ import annotations

import inspect
import json
from functools import partial
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
HERE = Path(__file__).parent
# CPU time of a step as a multiple of a VAE's, by `benchmarks/step_costs.py`.
COSTS: dict[str, float] = json.loads((HERE / "step-costs.json").read_text())
# CPU seconds of a metric, by `docs/metric_costs.py`.
METRIC_COSTS: dict[str, float] = json.loads((HERE / "metric-costs.json").read_text())
# Pages that explain methods, and what they are about; a method is looked for in this order.
GUIDES = {
    "beyond": "pairs, codes of few values, correlated factors",
    "labels": "learning from labels",
    "stages": "stages",
    "unsupervised": "methods that need no labels",
}
METHODS_LEAD = """Not sure? Leave `--method` out: `unbraid fit` takes `beta-tcvae` for any data, and `ms-vae` after it
for images. With a few labels start with [`parted-vae`](methods/parted-vae.md), with pairs of observations that share
something with [`ada-gvae`](methods/ada-gvae.md). `unbraid methods NAME` prints the same in a terminal."""
METRICS_LEAD = """Not sure? With labels take [`mig`](metrics/mig.md) for separation,
[`downstream`](metrics/downstream.md) for what the codes know, and [`l2`](metrics/l2.md) for reconstructions; without
labels [`udr`](metrics/udr.md) over several seeds. Read every score between its
[chance level and its ceiling](../concepts/chance-and-ceiling.md)."""


def write_pages(folder: Path) -> None:
    """Write all pages into this folder, and touch only those that have changed."""
    for kind in ("methods", "metrics"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for config in methods.METHODS:
        write(folder / "methods" / f"{config.name}.md", method_page(config))
    for metric in METRICS.values():
        write(folder / "metrics" / f"{metric.name}.md", metric_page(metric))
    rows = [(c.name, summary(c), c.paper) for c in methods.METHODS]
    write(folder / "methods.md", list_page("All methods", METHODS_LEAD, "methods", rows))
    rows = [(m.name, m.description, m.reference) for m in METRICS.values()]
    write(folder / "metrics.md", list_page("All metrics", METRICS_LEAD, "metrics", rows))


def write(path: Path, text: str) -> None:
    """Write a file unless it holds just this: what has not changed is not built again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def list_page(title: str, lead: str, folder: str, rows: list[tuple[str, str, str]]) -> str:
    """Where to start, and a table with a link to each page."""
    head = f"# {title}\n\n{lead}\n\n| name | what it is | reference |\n|---|---|---|\n"
    lines = [f"| [`{name}`]({folder}/{name}.md) | {cell(about)} | {cell(paper)} |" for name, about, paper in rows]
    toc = "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(f"{folder}/{name}" for name, _, _ in rows) + "\n```\n"
    return head + "\n".join(lines) + toc


def method_page(config: type[MethodConfig]) -> str:
    """What a method is, when and how it is used, what it minimises, what it costs, and its options."""
    parts = [f"# {config.title}", first_line(config.__doc__ or ""), f"**When to use it.** {config.when}", use(config)]
    if config.conditional:
        parts.append("A later stage: it follows another method, whose codes and pictures it is given.")
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
    parts.append(more_prose(config.__doc__))
    if config.name in COSTS:
        parts.append(cost(config.name))
    parts.append("## Options\n\nIts own first, then those that it shares with other methods.\n\n" + options(config))
    fast = recipes.changes(config)
    if fast:
        words = " ".join(f"--{typed(name)} {value}" for name, value in fast)
        parts.append(f"`unbraid fit` starts from what learns in minutes, for colour images of 64×64 `{words}`; "
                     "`--recipe paper` from the defaults above.")  # fmt: skip
    named = [page for page in GUIDES if f"`{config.name}`" in (HERE / f"{page}.md").read_text(encoding="utf-8")]
    links = [f"[{GUIDES[page]}](../../{page}.md)" for page in named[:1] or ["stages"]]
    parts.append("**More**: " + ", ".join([*links, "[all methods](../methods.md)"]) + ".")
    return "\n\n".join(part for part in parts if part) + "\n"


def use(config: type[MethodConfig]) -> str:
    """The command, and the same in Python."""
    chain = f"beta-tcvae {config.name}" if config.conditional else config.name
    made = f"ub.methods.{config.__name__}()"
    return (
        f"```sh\nunbraid fit DATA --method {chain} --steps {'20000 20000' if config.conditional else '20000'}\n```\n"
        f"```python\nub.fit(data, {f'[ub.methods.BetaTCVAE(), {made}]' if config.conditional else made})\n```"
    )


def options(config: type[MethodConfig]) -> str:
    """A table of all options, the method's own before those that it inherits."""
    own = vars(config).get("__annotations__", {})
    rows = sorted(describe_options(config), key=lambda row: row[0].split(".")[0] not in own)
    lines = [f"| `--{typed(name)}` | `{default}` | {cell(about)} |" for name, default, about in rows]
    return "| option | default | meaning |\n|---|---|---|\n" + "\n".join(lines)


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
    """What a metric is: when to use it, range, direction, cost, what leaves it alone, its function."""
    low, high = (("open" if end is None else f"{end:g}") for end in metric.range)
    facts = [
        ("reads", metric.needs),
        ("range", f"{low} to {high}"),
        ("better", metric.better),
        ("chance", "" if metric.chance is None else f"{metric.chance:g}"),
        ("unchanged by", ", ".join(metric.unchanged_by)),
        ("cost", metric_cost(metric.name)),
        ("reference", metric.reference),
    ]
    parts = [f"# {metric.title}", metric.description[:1].upper() + metric.description[1:] + "."]
    parts.append(f"**When to use it.** {metric.when}")
    parts.append("| | |\n|---|---|" + "".join(f"\n| {name} | {cell(text)} |" for name, text in facts if text))
    if isinstance(metric.function, partial):
        whole = metric.function.func.__name__
        given = ", log_vars=log_vars" if "log-variances" in metric.needs else ""
        given += "".join(f", {name}={value!r}" for name, value in metric.function.keywords.items())
        parts.append(f"```python\nunbraid.metrics.{whole}(codes, factors{given})\n```")
        parts.append(f"The function and its other arguments: [{METRICS[whole].title}]({whole}.md).")
    elif hasattr(metrics, metric.name) and inspect.getdoc(metric.function):
        parts.append(f"```{{eval-rst}}\n.. autofunction:: unbraid.metrics.{metric.name}\n```")
    level = "[chance and ceiling](../../concepts/chance-and-ceiling.md)"
    parts.append(f"**More**: [what a score says](../../metrics.md), {level}, [all metrics](../metrics.md).")
    return "\n\n".join(parts) + "\n"


def metric_cost(name: str) -> str:
    """What a metric of tables costs; nothing of one that needs a model."""
    if name not in METRIC_COSTS:
        return ""
    return f"{METRIC_COSTS[name]:g} s of CPU time (10,000 rows, 10 latents, 5 factors, with its interval)"


def summary(config: type[MethodConfig]) -> str:
    """The first line of its docstring, without its name."""
    return first_line(config.__doc__ or "").split(": ", 1)[-1]


def more_prose(doc: str | None) -> str:
    """A docstring after its first line as Markdown; its example is for the tests."""
    made: list[str] = []
    for line in inspect.cleandoc(doc or "").splitlines()[1:]:
        if line.strip() == "Example:":
            break
        made.append(f"**{line.strip()[:-1]}**\n" if line.strip() == "Reference:" else line.strip())
    return "\n".join(made).strip()


def first_line(doc: str) -> str:
    """The first line of a docstring."""
    return inspect.cleandoc(doc).splitlines()[0] if doc.strip() else ""


def cell(text: str) -> str:
    """Text that does not end a table's cell."""
    return text.replace("|", "\\|").replace("\n", " ")
