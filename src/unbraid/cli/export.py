"""`unbraid export`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unbraid.cli.console import out
from unbraid.cli.parsers import command_parser
from unbraid.errors import InputError


def export(words: Sequence[str]) -> None:
    """Write a run's model as ONNX, or as one page with sliders that anyone can open."""
    parser = command_parser("export", export, "unbraid export RUN --onnx FOLDER | --html FILE")
    parser.add_argument("run", type=Path, metavar="RUN", help="a run directory")
    parser.add_argument("--onnx", type=Path, metavar="FOLDER", help="encoders, decoders and model.json go there")
    parser.add_argument("--html", type=Path, metavar="FILE", help="the page: works from disk, without a network")
    known = parser.parse_args(words)
    if known.onnx is None and known.html is None:
        raise InputError("say what to write: --onnx FOLDER or --html FILE.")

    from unbraid.api import Run

    run = Run.open(known.run)
    if known.onnx is not None:
        from unbraid.explore.onnx_files import export_onnx

        described = export_onnx(run, known.onnx)
        stages, opset = described["stages"], described["opset"]
        out.print(f"onnx: {known.onnx} ({len(stages)} stage{'s' * (len(stages) > 1)}, opset {opset})", soft_wrap=True)
    if known.html is not None:
        from unbraid.explore.builder import write_page

        print_page(known.html, write_page(run, known.html))


def print_page(page: Path, size: int) -> None:
    """Print where a page is, and how large.

    Args:
        page: the file.
        size: in bytes.
    """
    out.print(f"page: {page} ({size / 1e6:.1f} MB)", soft_wrap=True)
