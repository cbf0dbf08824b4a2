"""A run that is shared, fetched from a server, and opened again."""

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import unbraid as ub
from unbraid import methods
from unbraid.api import Run, fit
from unbraid.cli.main import main
from unbraid.data import load
from unbraid.errors import InputError
from unbraid.explore.sharing import hub_address
from unbraid.training.contract import small_images


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        """Nothing."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("shared")
    np.save(folder / "squares.npy", small_images().observations)
    config = methods.BetaTCVAE(width=0.1, latents=4, beta=2.5)
    made = fit(load(str(folder / "squares.npy")), [config], steps=3, out=folder / "run", show=False)
    made.evaluate(["l1"], show=False)
    (made.folder / "names.json").write_text('{"z2": "hue"}')
    assert main(["export", str(made.folder), "--card", str(folder / "card"), "--licence", "cc-by-4.0"]) == 0
    return made


@pytest.fixture
def card(run: Run) -> Path:
    return run.folder.parent / "card"


@pytest.fixture
def address(card: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(card)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_shared_run_is_the_run(run: Run, address: str) -> None:
    there = ub.open(address)
    assert there.folder != run.folder
    x = run.data.observations[:6]
    np.testing.assert_array_equal(there.reconstruct(x)[0], run.reconstruct(x)[0])
    np.testing.assert_array_equal(there.encode().codes, run.encode().codes)
    assert json.loads((there.folder / "names.json").read_text()) == {"z2": "hue"}


def test_the_card_says_what_the_model_is(card: Path) -> None:
    text = (card / "README.md").read_text()
    assert text.startswith("---\nlicense: cc-by-4.0\nlibrary_name: unbraid\ntags:\n- disentanglement\n")
    assert "| 1 | beta-tcvae | 3 |" in text
    assert "beta 2.5" in text
    assert "latents 4" in text
    assert "batch_size" not in text  # it has its default
    assert "| l1 |" in text
    assert "`z2`: hue" in text
    assert (card / "explorer.html").is_file()


def test_a_file_that_was_changed_is_not_used(card: Path, address: str) -> None:
    weights = card / "stage-1" / "weights.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    try:
        with pytest.raises(InputError, match="sha256"):
            ub.open(address)
    finally:
        weights.write_bytes(content)


def test_an_index_cannot_ask_for_other_files(card: Path, address: str) -> None:
    index = card / "files.json"
    content = index.read_text()
    listed = json.loads(content)
    listed["files"]["../../outside.json"] = {"bytes": 1, "sha256": "0" * 64}
    index.write_text(json.dumps(listed))
    try:
        with pytest.raises(InputError, match="outside"):
            ub.open(address)
    finally:
        index.write_text(content)


def test_addresses() -> None:
    assert hub_address("hf://team/model") == "https://huggingface.co/team/model/resolve/main"
    assert hub_address("https://example.org/run/") == "https://example.org/run"
    for wrong in ("hf://team", "runs/here", "ftp://example.org"):
        with pytest.raises(InputError):
            hub_address(wrong)
