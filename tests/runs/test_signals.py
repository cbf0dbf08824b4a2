"""Signals of several channels: told from images, scaled by channel, convolved in time, given back in their shape."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import unbraid as ub
from unbraid.cli.main import main
from unbraid.core import DataSpec
from unbraid.data.own.arrays import from_arrays
from unbraid.errors import InputError
from unbraid.methods import VAE
from unbraid.nets.stacks import Encoder, decoder

DRAWS = np.random.default_rng(0)
TIME = np.linspace(0, 1, 40)
PHASE = DRAWS.uniform(0, 6, (60, 1))
SIGNALS = np.stack([np.sin(9 * TIME + PHASE), 100 + 20 * np.cos(9 * TIME + PHASE), 1e-3 * (TIME + 0 * PHASE)], 1)
SIGNALS += 1e-4 * DRAWS.normal(size=SIGNALS.shape)


@pytest.mark.parametrize("layout", ["nct", "ntc"])
def test_each_channel_has_its_own_scale(layout: str) -> None:
    given = SIGNALS if layout == "nct" else SIGNALS.swapaxes(1, 2)
    data = from_arrays(given, arguments={})
    assert data.shape == (120,)
    how = data.preprocessing
    assert (how.signal, how.layout) == ((3, 40), layout)
    stored = np.float64(data.observations).reshape(60, 3, 40)
    np.testing.assert_allclose(stored.mean((0, 2)), 0, atol=1e-4)
    np.testing.assert_allclose(stored.std((0, 2)), 1, rtol=1e-4)
    raw: Any = how.raw(data.observations.astype(np.float32))
    np.testing.assert_allclose(raw.reshape(60, 3, 40), SIGNALS, rtol=1e-4, atol=1e-6)
    assert data.arguments is not None
    np.testing.assert_allclose(data.arguments["standardize"]["mean"], SIGNALS.mean((0, 2)), rtol=1e-6)
    again = from_arrays(given, **data.arguments)
    assert again.fingerprint == data.fingerprint
    assert from_arrays(given, standardize=False).preprocessing.mean == ()


def test_what_may_be_images_is_images_unless_it_is_said() -> None:
    grey = DRAWS.uniform(size=(5, 8, 40))
    assert from_arrays(grey).is_image
    assert from_arrays(grey, layout="nct").shape == (320,)
    assert from_arrays(2 * grey - 1, value_range=(-1, 1)).is_image
    with pytest.raises(InputError, match=r"value_range=\(-1, 1\), or layout='nct' if they are signals"):
        from_arrays(DRAWS.normal(size=(5, 28, 28)))  # either axis could be time
    with pytest.raises(InputError, match=r"layout='nct' is for signals of three axes"):
        from_arrays(np.zeros((5, 8, 8, 3)), layout="nct")


def test_long_signals_are_convolved_along_time() -> None:
    long, short = DataSpec((120,), 9, signal=(3, 40)), DataSpec((60,), 9, signal=(3, 20))
    for spec, convolved in ((long, True), (short, False)):
        model: Any = VAE(likelihood="gaussian", width=0.1).build(spec)
        kinds = {type(part).__name__ for part in model.modules()}
        assert ("Conv1d" in kinds, "ConvTranspose1d" in kinds) == (convolved, convolved)
        x = torch.randn(2, *spec.shape)
        assert model.decode({"z": model.encode(x)["z"].mean}).shape == x.shape
    # A channel's first value meets the first values of the other channels, and not its neighbours in the vector.
    net = Encoder((120,), 2, network="auto", signal=(3, 40))
    first: Any = net.trunk[1]
    assert (first.in_channels, net.trunk(torch.zeros(1, 120)).shape[1]) == (3, 256)
    seen: Any = net.trunk[0](torch.arange(120.0)[None])
    assert seen[0, :, 0].tolist() == [0.0, 40.0, 80.0]
    assert decoder(4, (120,), signal=(3, 40))(torch.zeros(1, 4)).shape == (1, 120)


def test_a_run_of_signals_stands_on_its_own(tmp_path: Path) -> None:
    path = tmp_path / "signals.npy"
    np.save(path, SIGNALS)
    words = ["fit", str(path), "--method", "vae", "--steps", "250", "--width", "0.2", "--latents", "3", "--quiet"]
    assert main([*words, "--adam.lr", "0.01", "--out", str(tmp_path / "run")]) == 0
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "observation 1 and its reconstructions, channel 3" in page
    path.rename(tmp_path / "new.npy")
    run = ub.open(tmp_path / "run")
    codes = run.encode(SIGNALS[:4]).codes
    np.testing.assert_allclose(run.encode(tmp_path / "new.npy").codes[:4], codes, atol=1e-5)
    np.testing.assert_allclose(run.encode(SIGNALS[2]).codes[0], codes[2], atol=1e-5)
    (made,) = run.reconstruct(SIGNALS[:4])
    assert made.shape == (4, 3, 40)
    np.testing.assert_allclose(run.decode(codes)[0], made, rtol=1e-4, atol=1e-5)
    assert made[:, 1].mean() == pytest.approx(100, abs=15)  # raw units
    assert np.corrcoef(run.reconstruct(SIGNALS)[0][:, 0].ravel(), SIGNALS[:, 0].ravel())[0, 1] > 0.3  # it learns
    assert run.traverse(SIGNALS[:1], steps=2)[0].shape == (3, 2, 3, 40)
    with pytest.raises(InputError, match="have 80 values, and those that the run was trained on 120"):
        run.encode(SIGNALS[:, :2])
    assert main(["encode", str(tmp_path / "run"), str(tmp_path / "new.npy"), "--out", str(tmp_path / "codes.csv")]) == 0
    assert main(["decode", str(tmp_path / "run"), str(tmp_path / "codes.csv"), "--out", str(tmp_path / "made")]) == 0
    np.testing.assert_allclose(np.load(tmp_path / "made" / "observations.npy")[:4], made, rtol=1e-3, atol=1e-4)


def test_channels_last_come_back_channels_last(tmp_path: Path) -> None:
    data = from_arrays(SIGNALS.swapaxes(1, 2), layout="ntc")
    run = ub.fit(data, VAE(likelihood="auto", width=0.05, latents=2), steps=1, out=tmp_path / "run", show=False)
    assert run.reconstruct(SIGNALS.swapaxes(1, 2)[:4])[0].shape == (4, 40, 3)
    assert from_arrays(SIGNALS[:, 0]).preprocessing.signal is None
