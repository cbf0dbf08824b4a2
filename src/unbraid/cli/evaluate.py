"""`unbraid evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unbraid.cli.console import print_places
from unbraid.cli.parsers import ListOf, command_parser
from unbraid.errors import InputError


def evaluate(words: Sequence[str]) -> None:
    """Score a run, or a table of codes of any other model."""
    parser = command_parser("evaluate", evaluate, "unbraid evaluate RUN [--metrics NAME …|all] | --codes FILE")
    parser.add_argument("run", nargs="?", type=Path, metavar="RUN", help="a run directory")
    parser.add_argument(
        "--metrics", action=ListOf, metavar="NAME", help="names, or all (a first few; with --codes all)"
    )
    parser.add_argument("--codes", type=Path, metavar="FILE", help="codes of any model: .npz, .csv, .parquet, .h5ad")
    parser.add_argument("--factors", action=ListOf, metavar="NAME", help="columns of it that are factors")
    parser.add_argument("--key", metavar="NAME", help="of the codes in obsm of an .h5ad file")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draws, with --codes (0)")
    parser.add_argument("--inception", type=Path, metavar="FILE", help="Inception's weights: fid, kid, identity_change")
    parser.add_argument("--lpips", type=Path, metavar="FILE", help="a perceptual network (TorchScript), for lpips")
    parser.add_argument("--images", type=int, default=1000, metavar="N", help="images for these and for lpips (1000)")
    parser.add_argument(
        "--feature-precision",
        metavar="NAME",
        help="of Inception: float32, bfloat16, or auto: bfloat16 where the processor has it",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    known = parser.parse_args(words)
    if (known.run is None) == (known.codes is None):
        raise InputError("name a run directory or --codes FILE, one of them.")

    from unbraid.api import Run
    from unbraid.cli.scores import print_scores
    from unbraid.evaluation.evaluate import evaluate_table

    if known.codes is not None:
        names = known.metrics or ["all"]
        where = {"factors": known.factors or (), "key": known.key}
        print_scores(evaluate_table(known.codes, names, **where, seed=known.seed, show=not known.quiet))
        return
    run = Run.open(known.run)
    options = {"inception": known.inception, "lpips": known.lpips, "images": known.images}
    if known.feature_precision is not None:
        options["feature_precision"] = known.feature_precision
    print_scores(run.evaluate(known.metrics, show=not known.quiet, **options))
    print_places(run.folder, run.report())
