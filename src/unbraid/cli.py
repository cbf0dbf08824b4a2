"""The command line."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.text import Text

from unbraid._version import __version__
from unbraid.arguments import add_machine, command, machine, whole_number
from unbraid.console import complain, finish, first_sentence, out, print_scores, print_table
from unbraid.errors import InputError, Interrupted, unknown
from unbraid.explore.commands import explore, export


def fit(words: Sequence[str]) -> None:
    """Learn the factors of a data set."""
    parser = command("fit", fit, "unbraid fit DATA --method NAME [NAME …] [--steps N [N …]] [--OPTION VALUE …]")
    parser.add_argument("data", metavar="DATA", help="a built-in name (unbraid data list) or a path")
    parser.add_argument("--method", nargs="+", required=True, metavar="NAME", help="stages in order (unbraid methods)")
    parser.add_argument("--steps", nargs="+", type=int, default=[20_000], metavar="N", help="for all stages or each")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of weights, batches and noise (0)")
    parser.add_argument("--labels", metavar="N", help="labels that methods may see: 256, 0.5%%, 'first 256', all")
    parser.add_argument("--label-factors", nargs="+", metavar="NAME", help="factors whose labels they may see (all)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="the run directory (runs/…)")
    add_machine(parser)
    parser.epilog = (
        "Options of the methods follow as --beta 6 (to every stage that has it) or --2.latents 5 (to the second "
        "stage); unbraid methods NAME lists them. Arguments of the data set follow as --data.size 32. A command "
        "that was stopped or killed goes on where it was when it is repeated."
    )
    known, rest = parser.parse_known_args(words)

    from unbraid import data, methods, options
    from unbraid.fitting import fit as fit_run
    from unbraid.labels import LabelBudget

    given = list(options.pairs(rest))
    stages = [methods.by_name(name) for name in known.method]
    own = list(vars(known))  # which may have been meant
    configs = options.configure(stages, [pair for pair in given if not pair[0].startswith("data.")], own)
    arguments = options.data_arguments([(name[5:], text) for name, text in given if name.startswith("data.")])
    where = machine(known)
    steps = known.steps[0] if len(known.steps) == 1 else known.steps
    limited = known.labels is not None or known.label_factors is not None
    amount = "all" if known.labels is None else known.labels
    run = fit_run(
        data.load(known.data, **arguments),
        configs,
        steps=steps,
        seed=known.seed,
        labels=LabelBudget(amount, tuple(known.label_factors or ())) if limited else None,
        out=known.out,
        machine=where,
        show=not known.quiet,
        command=shlex.join(["unbraid", "fit", *words]),
    )
    run.evaluate(show=not known.quiet)
    finish(run.folder, run.report())


def evaluate(words: Sequence[str]) -> None:
    """Score a run, or a table of codes of any other model."""
    parser = command("evaluate", evaluate, "unbraid evaluate RUN [--metrics NAME …|all] | --codes FILE.npz")
    parser.add_argument("run", nargs="?", type=Path, metavar="RUN", help="a run directory")
    parser.add_argument("--metrics", nargs="+", metavar="NAME", help="names, or all (a first few; with --codes all)")
    parser.add_argument("--codes", type=Path, metavar="FILE", help="an .npz with arrays `codes` and `factors`")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draws, with --codes (0)")
    parser.add_argument("--inception", type=Path, metavar="FILE", help="Inception's weights: fid, kid, identity_change")
    parser.add_argument("--lpips", type=Path, metavar="FILE", help="a perceptual network (TorchScript), for lpips")
    parser.add_argument("--images", type=int, default=1000, metavar="N", help="images for these and for lpips (1000)")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    known = parser.parse_args(words)
    if (known.run is None) == (known.codes is None):
        raise InputError("name a run directory or --codes FILE.npz, one of them.")

    from unbraid import evaluate as scoring
    from unbraid.run import Run

    if known.codes is not None:
        names = known.metrics or ["all"]
        print_scores(scoring.evaluate_table(known.codes, names, seed=known.seed, show=not known.quiet))
        return
    run = Run.open(known.run)
    options = {"inception": known.inception, "lpips": known.lpips, "images": known.images}
    print_scores(scoring.evaluate(run, known.metrics, show=not known.quiet, **options))
    finish(run.folder, run.report())


def report(words: Sequence[str]) -> None:
    """Write the page of one run, or compare several."""
    parser = command("report", report, "unbraid report RUN [RUN …] [--out FILE]")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run directories")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where a comparison goes (comparison.html)")
    known = parser.parse_args(words)

    from unbraid.report import write_comparison
    from unbraid.run import Run

    pages = [Run.open(folder).report() for folder in known.runs]
    page = pages[0]
    if len(pages) > 1:
        page = write_comparison(known.runs, known.out or Path("comparison.html"))
    out.print(f"report: {page}", soft_wrap=True)


def methods(words: Sequence[str]) -> None:
    """List the methods, or the options of one."""
    parser = command("methods", methods, "unbraid methods [NAME]")
    parser.add_argument("name", nargs="?", metavar="NAME", help="show the options of this method")
    known = parser.parse_args(words)

    from unbraid import methods as library
    from unbraid.config import typed
    from unbraid.options import describe_options

    if known.name is None:
        rows = [(config.name, first_sentence(config.__doc__), config.paper) for config in library.METHODS]
        print_table(("method", "what it is", "paper"), rows)
        out.print("\n[dim]unbraid methods NAME lists the options of one.")
        return
    config = library.by_name(known.name)
    out.print(Text(first_sentence(config.__doc__), style="bold"), Text(f"({config.paper})" if config.paper else ""))
    if config.conditional:
        out.print("A later stage: it follows another method, as in --method beta-tcvae " + config.name)
    if config.uses_labels:
        out.print("It learns from labels: --labels 256 (or 0.5%) and --label-factors NAME say which it may see.")
    shown = describe_options(config)
    print_table(
        ("option", "default", "meaning"),
        [(f"--{typed(name)}", str(default), about) for name, default, about in shown],
    )


def metrics(words: Sequence[str]) -> None:
    """List the metrics."""
    command("metrics", metrics, "unbraid metrics").parse_args(words)

    from unbraid.metrics import METRICS

    rows = [(name, metric.description, metric.needs) for name, metric in METRICS.items()]
    print_table(("metric", "what it says", "what it reads"), rows)


def data(words: Sequence[str]) -> None:
    """List data sets, get one, or look at one before an hour is spent on it."""
    parser = command(
        "data", data, "unbraid data list | get NAME | info NAME|PATH [--picture FILE] [--ARGUMENT VALUE …]"
    )
    parser.add_argument("action", metavar="list|get|info", help="what to do")
    parser.add_argument("name", nargs="?", metavar="NAME", help="a data set's name, or a path")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="where info draws some of the observations, PNG")
    known, rest = parser.parse_known_args(words)

    from unbraid import data as library
    from unbraid import options

    if known.action not in ("list", "get", "info"):
        raise unknown("action of unbraid data", known.action, ("list", "get", "info"))
    if known.action == "list":
        rows = [(name, "built in", about) for name, about in library.BUILT_IN.items()]
        rows += [
            (e.name, "here" if e.here else "to get", f"{e.title}; {e.licence}") for e in library.catalogue().values()
        ]
        print_table(("data", "where", "what it is"), rows)
        return
    if known.name is None:
        raise InputError(f"unbraid data {known.action} needs a name; unbraid data list shows them.")
    arguments = options.data_arguments([(name.removeprefix("data."), text) for name, text in options.pairs(rest)])
    if known.action == "get" and known.name not in library.BUILT_IN:
        library.get(known.name, **arguments)
    seen = library.info(known.name, **arguments)
    for line in seen.lines():
        out.print(Text(line), soft_wrap=True)
    if seen.data is not None and known.action == "info":
        stem = Path(known.name).stem or "data"
        out.print(f"picture: {library.contact_sheet(seen.data, known.picture or Path(f'{stem}.png'))}", soft_wrap=True)


def reproduce(words: Sequence[str]) -> None:
    """Run a result of the papers again, at a scale that suits the machine."""
    parser = command("reproduce", reproduce, "unbraid reproduce [PAPER[/RESULT]] [--scale smoke|desk|paper] [--page]")
    parser.add_argument("name", nargs="?", metavar="PAPER/RESULT", help="left out: list them")
    parser.add_argument(
        "--scale", default="desk", choices=("smoke", "desk", "paper"), help="seconds, hours, or the paper's"
    )
    parser.add_argument("--out", type=Path, default=Path("runs"), metavar="FOLDER", help="where runs go (runs)")
    parser.add_argument("--results", type=Path, default=Path("docs/results"), metavar="FOLDER", help="where pages go")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--workers", type=whole_number, metavar="N", help="processes at a time (one a core)")
    how.add_argument("--page", action="store_true", help="write the page from finished runs, train nothing")
    known = parser.parse_args(words)

    from unbraid import papers

    if known.name is None:
        print_table(("study", "what it shows"), [(name, study.title) for name, study in papers.STUDIES.items()])
        return
    chosen = [name for name in papers.STUDIES if name == known.name or name.startswith(f"{known.name}/")]
    if not chosen:
        raise unknown("study", known.name, papers.STUDIES)
    for name in chosen:
        page = papers.reproduce(
            name, known.scale, out=known.out, results=known.results, workers=known.workers, train=not known.page
        )
        out.print(f"result: {page}", soft_wrap=True)


def demo(words: Sequence[str]) -> None:
    """Show the main job on embedded data: a few minutes."""
    parser = command("demo", demo, "unbraid demo [--out FOLDER]")
    parser.add_argument("--out", type=Path, default=Path("runs/demo"), metavar="FOLDER", help="where to (runs/demo)")
    add_machine(parser)
    known = parser.parse_args(words)

    from unbraid.demo import run_demo

    run_demo(known.out, machine(known), out, show=not known.quiet)


COMMANDS: dict[str, Callable[[Sequence[str]], None]] = {
    "demo": demo,
    "fit": fit,
    "evaluate": evaluate,
    "report": report,
    "explore": explore,
    "export": export,
    "data": data,
    "reproduce": reproduce,
    "methods": methods,
    "metrics": metrics,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0, 2 for bad input, 130 for a run that was asked to stop."""
    words = list(sys.argv[1:] if argv is None else argv)
    logging.basicConfig(format="unbraid: %(message)s", level=logging.WARNING)
    logging.getLogger("unbraid").setLevel(logging.INFO)
    if not words or words[0] in ("-h", "--help", "help"):
        print_help()
        return 0
    if words[0] == "--version":
        out.print(f"unbraid {__version__}")
        return 0
    try:
        if words[0] not in COMMANDS:
            raise unknown("command", words[0], COMMANDS)
        COMMANDS[words[0]](words[1:])
    except InputError as error:
        complain(str(error))
        return 2
    except KeyboardInterrupt:
        complain("stopped.")
        return 130
    except Interrupted as stopped:
        complain(str(stopped))
        return 130
    return 0


def print_help() -> None:
    """What the tool is and what it can do, on one screen."""
    out.print("[bold]unbraid[/] learns the independent factors behind images and signals,")
    out.print("keeps reconstructions sharp, measures both, and shows the result.\n")
    for name, function in COMMANDS.items():
        out.print(f"  [bold]unbraid {name:<10}[/] {first_sentence(function.__doc__)}")
    out.print("\n[dim]unbraid COMMAND --help says more. Start with: unbraid demo")
