"""Sharing a run: a folder that a model hub accepts, and the way back from its address, with digests checked."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path
from typing import Any

from unbraid._version import __version__
from unbraid.data import cache
from unbraid.data.published.download import RemoteFile, fetch
from unbraid.errors import InputError
from unbraid.evaluation.scores_file import kept_scores
from unbraid.explore.builder import write_page
from unbraid.explore.description import code_table
from unbraid.runs.directory import RunDirectory
from unbraid.util.files import check_folder, read_json, write_json, write_text
from unbraid.util.names import FILE as NAMES
from unbraid.util.names import read_names
from unbraid.util.schema import digest as text_digest
from unbraid.util.schema import to_json

INDEX = "files.json"
# All that a run is read from. Nothing else is fetched, whatever an index asks for.
SHARED = re.compile(
    r"(config|metrics|names|preprocessing|verdict)\.json|(codes|codes-without-labels|observations)\.npz"
    r"|stage-\d+/(stage\.json|weights\.safetensors)"
)
HUB = "https://huggingface.co/{}/resolve/main"


def write_card(run: RunDirectory, folder: Path, licence: str = "") -> Path:
    """Write README.md, weights, codes, scores and the explorer, with a digest of each file that a run is read from."""
    check_folder(folder)
    run.chain  # noqa: B018  (refuses a run that is not finished before anything is written)
    code_table(run)
    for path in sorted(run.folder.rglob("*")):
        name = path.relative_to(run.folder).as_posix()
        if path.is_file() and SHARED.fullmatch(name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / name)
    write_page(run, folder / "explorer.html")
    write_text(folder / "README.md", card(run, licence))
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    index = {name: described_file(folder / name) for name in names if SHARED.fullmatch(name)}
    write_json(folder / INDEX, {"format": 1, "unbraid": __version__, "files": index})
    return folder


def described_file(path: Path) -> dict[str, Any]:
    """Size and digest of a file."""
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def card(run: RunDirectory, licence: str) -> str:
    """The README: what the model is, what it was trained on and how, how well it does, how to use it."""
    data, methods = run.plan.data, [config.name for config, _ in run.plan.stages]
    tags = ["disentanglement", "representation-learning", *dict.fromkeys(methods)]
    front = ["---", *([f"license: {licence}"] if licence else []), "library_name: unbraid", "tags:"]
    shape, factors = "×".join(map(str, data["shape"])), ", ".join(factor["name"] for factor in data["factors"])
    name = Path(str(data["name"])).stem
    lines = [
        *front,
        *(f"- {tag}" for tag in tags),
        "---",
        f"# {name}: {' + '.join(methods)}",
        "",
        f"Made with unbraid {__version__}. `explorer.html` shows what every code does: download and open it.",
        "",
        "## Data",
        f"{name}: {data['n']:,} observations of shape {shape}; factors: {factors or 'none'}.",
        f"Fingerprint `{data['fingerprint']}`, seed {run.plan.seed}.",
        "",
        "## Stages",
        *stage_lines(run),
        "",
        "## Scores",
        *score_lines(run),
        "",
        "## Use",
        "```python",
        "import unbraid as ub",
        "",
        'run = ub.open("https://…")  # or "hf://organisation/name"; give data=… where it was not built in',
        "run.encode(x), run.reconstruct(x)",
        "```",
    ]
    named = [f"- `{code}`: {meaning}" for code, meaning in read_names(run.folder).items()]
    return "\n".join([*lines, *(["", "## Names of codes", *named] if named else [])]) + "\n"


def stage_lines(run: RunDirectory) -> list[str]:
    """A table of the stages, with the options that are not at their defaults."""
    lines = ["| stage | method | steps | options |", "|---|---|---|---|"]
    for number, (config, steps) in enumerate(run.plan.stages, 1):
        usual = to_json(type(config)())
        changed = [f"{key} {value}" for key, value in to_json(config).items() if value != usual.get(key)]
        lines.append(f"| {number} | {config.name} | {steps:,} | {', '.join(changed) or 'defaults'} |")
    return lines


def score_lines(run: RunDirectory) -> list[str]:
    """A table of the scores with their intervals; a sentence where there are none."""
    scores = {name: score for name, score in kept_scores(run).items() if name != "_"}
    if not scores:
        return ["Not evaluated."]
    lines = ["| metric | value | 95 % interval |", "|---|---|---|"]
    for name, score in scores.items():
        interval = score.get("interval")
        between = f"{interval[0]:.4g} to {interval[1]:.4g}" if interval else ""
        value = score.get("value")
        lines.append(f"| {name} | {'' if value is None else f'{value:.4g}'} | {between} |")
    return lines


def is_address(folder: str | Path) -> bool:
    """Whether this names a run elsewhere, and no folder here."""
    return isinstance(folder, str) and re.match(r"[a-z]+://", folder) is not None


def fetch_run(address: str) -> Path:
    """Fetch a shared run: its files are checked against their digests and kept in the cache.

    Args:
        address: `https://…` of a folder that `write_card` wrote, or `hf://organisation/name`.

    Returns:
        The run directory, here.
    """
    base = hub_address(address)
    home = cache.place(f"runs/{text_digest(base)[:16]}")
    (home / INDEX).unlink(missing_ok=True)  # what the address holds now decides
    index = read_json(fetch(RemoteFile(INDEX, (f"{base}/{INDEX}",)), home))
    files = index.get("files") if isinstance(index, dict) else None
    if not isinstance(files, dict) or "config.json" not in files:
        raise InputError(f"{address!r} holds no shared run: its {INDEX} lists no config.json.")
    for name, entry in files.items():
        if not SHARED.fullmatch(name):
            raise InputError(f"{address!r} lists {name!r}, which is no file of a run: it was not fetched.")
        fetch_file(base, home, name, entry)
    if NAMES not in files:
        (home / NAMES).unlink(missing_ok=True)
    return home


def fetch_file(base: str, home: Path, name: str, entry: dict[str, Any]) -> None:
    """One file of a run; one that has changed at its address since it was fetched is fetched again."""
    target = home / name
    if target.is_file() and described_file(target)["sha256"] != entry["sha256"]:
        target.unlink()
    remote = RemoteFile(target.name, (f"{base}/{name}",), entry["bytes"], entry["sha256"])
    fetch(remote, target.parent)


def hub_address(address: str) -> str:
    """Where the files of an address are."""
    if address.startswith("hf://"):
        name = address.removeprefix("hf://").strip("/")
        if name.count("/") != 1:
            raise InputError(f"{address!r} must name an organisation and a model: hf://organisation/name.")
        return HUB.format(name)
    if not re.match(r"https?://", address):
        raise InputError(f"{address!r} is no address: give https://… or hf://organisation/name.")
    return address.rstrip("/")
