"""The explorer with the model on this machine: what the page's worker asks, and who may ask."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from unbraid import methods
from unbraid.api import Run, fit
from unbraid.cli.main import main
from unbraid.errors import InputError
from unbraid.explore.server import ExplorerServer
from unbraid.training.contract import small_images


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    configs = [methods.BetaTCVAE(width=0.1, latents=4), methods.MSVAE(width=0.1, latents=3)]
    return fit(small_images(), configs, steps=3, out=tmp_path_factory.mktemp("served") / "run", show=False)


@pytest.fixture(scope="module")
def server(run: Run) -> Iterator[ExplorerServer]:
    with ExplorerServer(run) as started:
        threading.Thread(target=started.serve_forever, daemon=True).start()
        yield started
        started.shutdown()


def ask(address: str, content: bytes | None = None, **headers: str) -> bytes:
    request = urllib.request.Request(address, content, headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read()


def status(address: str, content: bytes | None = None, **headers: str) -> int:
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(address, content, **headers)
    return refused.value.code


def numbers(*parts: NDArray[np.float32]) -> bytes:
    return np.concatenate([part.ravel() for part in parts]).astype("<f4").tobytes()


def test_codes_become_what_the_run_decodes(run: Run, server: ExplorerServer) -> None:
    codes = [np.linspace(-1, 1, 4, dtype=np.float32), np.linspace(2, -2, 3, dtype=np.float32)]
    made = np.frombuffer(ask(f"{server.address}decode", numbers(*codes)), "<f4").reshape(2, 3, 16, 16)
    for found, expected in zip(made, run.decode([code[None] for code in codes]), strict=True):
        assert np.abs(np.rint(255 * found.transpose(1, 2, 0)) - expected[0]).max() <= 1


def test_an_observation_becomes_its_codes(run: Run, server: ExplorerServer) -> None:
    x = run.data.observations[7]
    values = (x.transpose(2, 0, 1) / 255).astype(np.float32)
    found = np.frombuffer(ask(f"{server.address}encode", numbers(values, np.zeros(7, np.float32))), "<f4")
    table = run.encode(x[None])
    np.testing.assert_allclose(found[:4], table.codes[0], atol=1e-5)
    np.testing.assert_allclose(found[4:], table.arrays["stage-2/codes"][0], atol=1e-5)


def test_names_are_kept_with_the_run(run: Run, server: ExplorerServer) -> None:
    ask(f"{server.address}names", b'{"z2": "hue"}')
    kept = run.folder / "names.json"
    assert json.loads(kept.read_text()) == {"z2": "hue"}
    assert status(f"{server.address}names", b'{"z2": 3}') == 400
    assert status(f"{server.address}names", b"no JSON") == 400
    assert json.loads(kept.read_text()) == {"z2": "hue"}
    kept.unlink()


def test_strangers_are_told_nothing(server: ExplorerServer) -> None:
    assert b'id="model-data"' in ask(server.address)
    root = f"http://127.0.0.1:{server.server_port}/"
    assert status(root) == 404
    assert status(f"{root}guess/decode", b"") == 404
    assert status(server.address, Host=f"elsewhere.example:{server.server_port}") == 404
    assert server.server_address[0] == "127.0.0.1"


def test_wrong_questions_are_refused_in_a_sentence(server: ExplorerServer) -> None:
    assert status(f"{server.address}decode", b"abc") == 400
    assert status(f"{server.address}decode", numbers(np.zeros(6, np.float32))) == 400


def test_a_port_that_is_taken_is_said(run: Run, server: ExplorerServer, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match=f"port {server.server_port} cannot be used"):
        ExplorerServer(run, server.server_port)
    assert main(["explore", str(run.folder), "--port", "80"]) == 2
    assert "add --serve" in capsys.readouterr().err
