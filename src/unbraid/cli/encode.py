"""`unbraid encode`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unbraid.cli.console import out
from unbraid.cli.parsers import command_parser
from unbraid.errors import InputError

KINDS = (".csv", ".parquet", ".npz", ".h5ad")


def encode(words: Sequence[str]) -> None:
    """Write the codes of new observations as a table."""
    parser = command_parser("encode", encode, "unbraid encode RUN [PATH …] --out FILE.csv|.parquet|.npz|.h5ad")
    parser.add_argument("run", type=Path, metavar="RUN", help="a run directory; its training data need not be there")
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="images, folders, arrays or tables (the run's own data)"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the codes go")
    known = parser.parse_args(words)
    if known.out.suffix.lower() not in KINDS:
        raise InputError(f"--out {str(known.out)!r} is of a kind that cannot be written; name {', '.join(KINDS)}.")
    if known.out.exists():
        raise InputError(f"--out {str(known.out)!r} is there already; name another file, or delete it.")

    from unbraid.api import Run
    from unbraid.cli.code_files import write_codes

    run = Run.open(known.run)
    table = run.encode(known.paths) if known.paths else run.encode()
    write_codes(table, known.out)
    count = len(table.codes)
    out.print(f"codes: {known.out} ({count:,} observation{'s' * (count != 1)})", soft_wrap=True)
