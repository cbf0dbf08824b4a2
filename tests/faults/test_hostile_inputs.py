"""Inputs that nobody means well, or that a broken disk or program has left: each is one sentence."""

import io
import os
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import unbraid as ub
from unbraid.cli.main import main
from unbraid.errors import InputError
from unbraid.evaluation import inception, lpips


def npy(shape: tuple[int, ...], descr: str = "|u1", content: bytes = b"") -> bytes:
    """An .npy file that announces any shape."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": descr, "fortran_order": False, "shape": shape})
    return out.getvalue() + content


def archive(path: Path, members: dict[str, bytes], how: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", how) as file:
        for name, content in members.items():
            file.writestr(name, content)


def bomb(path: Path) -> None:
    """0.3 MB that announce and hold 300 MB of zeros."""
    header = npy((300, 1000, 1000))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("x.npy", "w") as member:
        member.write(header)
        for _ in range(300):
            member.write(bytes(1_000_000))


def lie(path: Path) -> None:
    """A few bytes whose array announces terabytes."""
    archive(path, {"x.npy": npy((10**6, 10**6), "<f8", bytes(80))})


def bad_sum(path: Path) -> None:
    np.savez(path, x=np.ones((8, 4)))
    content = bytearray(path.read_bytes())
    content[content.index(struct.pack("<d", 1.0)) + 7] ^= 1
    path.write_bytes(content)


def unknown_packing(path: Path) -> None:
    np.savez(path, x=np.ones((8, 4)))
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = content.index(mark) + place
        content[at : at + 2] = struct.pack("<H", 99)
    path.write_bytes(content)


def garbage(path: Path) -> None:
    path.write_bytes(np.random.default_rng(0).bytes(3000))


def empty(path: Path) -> None:
    path.write_bytes(b"")


HOSTILE: list[Callable[[Path], None]] = [bomb, lie, bad_sum, unknown_packing, garbage, empty]


@pytest.mark.parametrize("make", HOSTILE)
def test_archives_that_lie_are_refused_as_data_and_as_codes(
    make: Callable[[Path], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.npz"
    make(path)
    with pytest.raises(InputError, match=r"x\.npz'.*(readable|announces)"):
        ub.data.load(path)
    assert main(["evaluate", "--codes", str(path), "--quiet"]) == 2
    assert "x.npz'" in capsys.readouterr().err


def test_what_is_announced_beyond_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unbraid.util import arrays

    np.savez(tmp_path / "x.npz", x=np.ones((64, 8)))
    monkeypatch.setattr(arrays, "available_memory", lambda: 1000)
    with pytest.raises(InputError, match=r"needs 4,.* bytes unpacked and 1,000 are free"):
        ub.data.load(tmp_path / "x.npz")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".h5"])
def test_a_pipe_is_not_waited_for(suffix: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"pipe{suffix}")
    with pytest.raises(InputError, match="is not a plain file"):
        ub.data.load(tmp_path / f"pipe{suffix}")


@pytest.mark.parametrize(
    ("shape", "descr"), [((10**9, 10**9), "<f8"), ((2, 3), "|O"), ((4,), "<f8"), ((-3, 2), "<f8"), ((2, 2), "|V8")]
)
def test_an_npy_that_lies_is_refused(shape: tuple[int, ...], descr: str, tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(npy(shape, descr, bytes(8)))
    with pytest.raises(InputError, match=r"x\.npy|array"):
        ub.data.load(tmp_path / "x.npy")


def test_letters_that_the_terminal_does_not_have_are_replaced() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "unbraid", "methods"], capture_output=True, env=environment, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert b"?-TCVAE" in done.stdout
    assert b"Traceback" not in done.stderr


class OneNumber(torch.nn.Module):
    """A network with the right input and a meaningless output."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean()


class Two(torch.nn.Module):
    """A network with another signature."""

    def forward(self, x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        return x + y + z


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("network", [OneNumber, Two])
def test_networks_of_another_kind_are_named(network: type[torch.nn.Module], tmp_path: Path) -> None:
    file = tmp_path / "net.pt"
    torch.jit.script(network()).save(file)
    images = np.zeros((3, 16, 16, 3), np.uint8)
    with pytest.raises(InputError, match=r"net\.pt' does not (take images|give finite features)"):
        inception.features(inception.load_network(file)[0], images, "", False)
    with pytest.raises(InputError, match=r"net\.pt' does not (compare two|give one finite)"):
        lpips.checked_distances(lpips.load_network(file), images, images, file)


def test_seconds_since_1970_keep_their_digits(tmp_path: Path) -> None:
    seconds = 1.7e9 + 0.5 * np.arange(64.0)
    lines = [f"{second:.1f},{number % 5}" for number, second in enumerate(seconds)]
    (tmp_path / "t.csv").write_text("\n".join(["reading,value", *lines]))
    data = ub.data.load(tmp_path / "t.csv")
    expected = (seconds - seconds.mean()) / seconds.std()
    np.testing.assert_allclose(data.observations[:, 0], expected, rtol=1e-6)
    assert data.arguments is not None
    again = ub.data.load(tmp_path / "t.csv", standardize=data.arguments["standardize"])
    np.testing.assert_array_equal(again.observations, data.observations)


def test_values_that_networks_cannot_hold_are_named_by_column_and_row(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,1e300\n5,6\n7,8")
    with pytest.raises(InputError, match=r"column 'b' holds 1e\+300 in row 2"):
        ub.data.load(tmp_path / "t.csv", standardize=False)
    standardised = ub.data.load(tmp_path / "t.csv").observations
    assert np.isfinite(standardised).all()
    np.testing.assert_allclose(standardised.std(0), 1, rtol=1e-5)
    np.save(tmp_path / "x.npy", np.array([[1.0, 2.0], [3.0, -1e39]]))
    with pytest.raises(InputError, match="column 2 holds -1e\\+39 in row 2"):
        ub.data.load(tmp_path / "x.npy")
