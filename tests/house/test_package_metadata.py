"""Project URLs and the README's links follow the repository's public address, through sdist and wheel."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/someone/unbraid.git", "https://github.com/someone/unbraid"),
        ("https://user:secret@github.com/someone/unbraid", "https://github.com/someone/unbraid"),
        ("git@github.com:someone/unbraid.git\n", "https://github.com/someone/unbraid"),
        ("ssh://git@gitlab.com/group/part/unbraid.git", "https://gitlab.com/group/part/unbraid"),
        ("https://github.com.example.org/someone/unbraid", None),
        ("https://git.company.example/someone/unbraid", None),
        ("/srv/git/unbraid.git", None),
        ("", None),
    ],
)
def test_an_address_is_public_or_none(hook: ModuleType, remote: str, address: str | None) -> None:
    assert hook.public_address(remote) == address


def test_links_into_the_repository_become_absolute(hook: ModuleType) -> None:
    text = "![a](docs/a.gif) [b](docs/b.md#c) [d](https://d.org) [e](#e)"
    made = hook.absolute_links(text, "https://h/x", "v1")
    assert made == "![a](https://h/x/raw/v1/docs/a.gif) [b](https://h/x/blob/v1/docs/b.md#c) [d](https://d.org) [e](#e)"


def build(project: Path, target: str) -> Path:
    """What `python -m build` makes of a project, with the hatchling that is installed here."""
    out = project / "out"
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(out)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(out.glob("*.tar.gz" if target == "sdist" else "*.whl"))


def wheel_metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_string(archive.read(name).decode())


def checkout(folder: Path, origin: str) -> Path:
    """A repository with all that the metadata is made from."""
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src/unbraid/_version.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "remote", "add", "origin", origin], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("public", [True, False])
def test_a_wheel_from_the_sdist_has_the_address_of_the_checkout(public: bool, tmp_path: Path) -> None:
    origin = "git@github.com:someone/unbraid.git" if public else "/srv/git/unbraid.git"
    sdist = build(checkout(tmp_path / "checkout", origin), "sdist")
    # Unpacked within a checkout of something else, whose address is not ours.
    other = checkout(tmp_path / "other", "https://github.com/other/thing.git")
    with tarfile.open(sdist) as archive:
        archive.extractall(other, filter="data")
    metadata = wheel_metadata(build(other / sdist.name.removesuffix(".tar.gz"), "wheel"))
    urls = dict(line.split(", ") for line in metadata.get_all("Project-URL", []))
    address = "https://github.com/someone/unbraid"
    assert urls == (
        {
            "Source": address,
            "Issues": f"{address}/issues",
            "Documentation": f"{address}/tree/HEAD/docs",
            "Changelog": f"{address}/blob/HEAD/CHANGELOG.md",
        }
        if public
        else {}
    )
    start = f"{address}/raw/v{metadata['Version']}/" if public else ""
    assert f"]({start}docs/sliders.gif)" in str(metadata.get_payload())
