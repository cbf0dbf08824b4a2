"""`unbraid decode`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unbraid.cli.console import out
from unbraid.cli.parsers import command_parser
from unbraid.errors import InputError


def decode(words: Sequence[str]) -> None:
    """Make observations from codes: images as files, vectors as a table."""
    parser = command_parser("decode", decode, "unbraid decode RUN CODES --out PLACE")
    parser.add_argument("run", type=Path, metavar="RUN", help="a run directory; its training data need not be there")
    parser.add_argument(
        "codes", type=Path, metavar="CODES", help="a .csv, .parquet or .npz as unbraid encode writes it"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="PLACE", help="a folder; or a .csv for a table, an .npy for signals"
    )
    known = parser.parse_args(words)

    from unbraid.api import Run
    from unbraid.cli.code_files import observations_file, read_codes, write_observations

    if known.out.exists() and (known.out.is_file() or any(known.out.iterdir())):
        raise InputError(f"--out {str(known.out)!r} is there already and not empty; name another place.")
    run = Run.open(known.run)
    place = observations_file(known.out, run.is_image, run.preprocessing)
    codes, names = read_codes(known.codes)
    made = run.decode(codes)[-1]
    write_observations(made, place, names, run.preprocessing)
    out.print(f"decoded: {place} ({len(made):,} observation{'s' * (len(made) != 1)})", soft_wrap=True)
