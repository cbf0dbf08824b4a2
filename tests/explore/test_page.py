"""Runs that leave the house: files, descriptions, names, and the text of the page."""

import base64
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from interpreter import run_graphs

from unbraid import methods
from unbraid.api import Run, fit
from unbraid.cli.main import main
from unbraid.core import DataSpec
from unbraid.data.factor_data import Factor
from unbraid.errors import InputError
from unbraid.explore import builder
from unbraid.explore.content import order_on_plane, placed
from unbraid.explore.description import slider_ranges
from unbraid.explore.graphs import Decoder, session, traced
from unbraid.methods import recipes
from unbraid.training.contract import small_images
from unbraid.util.names import named_columns, read_names


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of two stages, from a file, so that commands can open it again."""
    folder = tmp_path_factory.mktemp("export")
    np.save(folder / "squares.npy", small_images().observations)
    from unbraid.data import load

    configs = [methods.BetaTCVAE(width=0.1, latents=4), methods.MSVAE(width=0.1, latents=3)]
    return fit(load(str(folder / "squares.npy")), configs, steps=3, out=folder / "run", show=False)


def packed_model(page: str) -> dict[str, Any]:
    """The description that a page holds."""
    text = re.search(r'id="model-data">(.*?)</script>', page).group(1)
    return json.loads(zlib.decompress(base64.b85decode(text.replace(",", "<"))))


def test_exported_files_make_what_the_run_makes(chain: Run, tmp_path: Path) -> None:
    assert main(["export", str(chain.folder), "--onnx", str(tmp_path / "onnx")]) == 0
    model = json.loads((tmp_path / "onnx" / "model.json").read_text())
    assert [stage["method"] for stage in model["stages"]] == ["beta-tcvae", "ms-vae"]
    assert [len(stage["codes"]) for stage in model["stages"]] == [4, 3]
    assert [code["column"] for code in model["stages"][1]["codes"]] == ["z1", "z2", "z3"]
    x = chain.data.observations[:5].transpose(0, 3, 1, 2).astype(np.float32) / 255  # as model.json says
    feeds = {"x": x}
    for number, stage in enumerate(model["stages"], 1):
        for part, output in (("encoder", "codes"), ("decoder", "y")):
            graph = onnx.load(tmp_path / "onnx" / stage[part])
            assert graph.opset_import[0].version == model["opset"]
            wanted = {name: feeds[name] for name in stage[f"{part}_inputs"]}
            feeds[output] = session(graph).run(None, wanted)[0]
        table = chain.encode(chain.data.observations[:5])
        codes = table.codes if number == 1 else table.arrays["stage-2/codes"]
        np.testing.assert_allclose(feeds["codes"], codes, atol=1e-4)
    made = chain.reconstruct(chain.data.observations[:5])[-1]
    assert np.abs(np.rint(255 * feeds["y"].transpose(0, 2, 3, 1)) - made).max() <= 1


def test_explore_writes_the_page_and_reads_names(chain: Run) -> None:
    (chain.folder / "names.json").write_text('{"z2": "</script>", "stage-2/z1": "grain"}')
    try:
        assert main(["explore", str(chain.folder), "--no-open"]) == 0
    finally:
        (chain.folder / "names.json").unlink()
    page = (chain.folder / "explorer.html").read_text()
    names = re.search(r'id="names-data">(.*?)</script>', page)
    assert json.loads(names.group(1)) == {"z2": "</script>", "stage-2/z1": "grain"}
    model = packed_model(page)
    assert [code["name"] for code in model["stages"][0]["codes"]] == ["z1", "</script>", "z3", "z4"]
    assert [code["name"] for code in model["stages"][1]["codes"]] == ["grain", "z2", "z3"]
    assert not re.search(r"\{\{\w+\}\}|^import |^export ", page, re.MULTILINE)
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_a_page_that_would_be_too_large_is_refused(chain: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "AIMED", 1000)
    monkeypatch.setattr(builder, "MOST", 2000)
    with pytest.raises(InputError, match="--serve"):
        builder.write_page(chain, tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_export_says_what_it_needs(chain: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(chain.folder)]) == 2
    assert "--onnx FOLDER, --html FILE or --card FOLDER" in capsys.readouterr().err


def test_names_that_are_no_names_are_refused(tmp_path: Path) -> None:
    assert read_names(tmp_path) == {}
    (tmp_path / "names.json").write_text('{"z1": 3}')
    with pytest.raises(InputError, match=r"names\.json"):
        read_names(tmp_path)
    names = {"z1": "hue", "stage-2/z2": "grain"}
    assert named_columns(["z1", "z2"], names) == ["hue", "z2"]
    assert named_columns(["z1", "z2"], names, stage=2) == ["z1", "grain"]


def test_sliders_reach_beyond_the_data_but_not_beyond_limits() -> None:
    codes = np.stack([np.linspace(5, 15, 1001), np.linspace(0, 1, 1001), np.full(1001, 0.1)], 1).astype(np.float32)
    limits = np.array([(-np.inf, np.inf), (0, 1), (-np.inf, np.inf)])
    low, high = slider_ranges(codes, limits)
    np.testing.assert_allclose(low, [5.05 - 0.99, 0, -2], atol=1e-3)  # 99 % of the data, and a tenth more
    np.testing.assert_allclose(high, [14.95 + 0.99, 1, 2], atol=1e-3)


def test_the_map_keeps_what_varies_and_is_coloured_by_what_it_orders() -> None:
    random = np.random.default_rng(4)
    codes = random.normal(size=(120, 4)).astype(np.float32) * [5.0, 0.01, 3.0, 0.01]
    plane = placed(codes)
    assert plane.min() == 0
    assert plane.max() == 1
    assert abs(np.corrcoef(plane[:, 0], codes[:, 0])[0, 1]) > 0.99
    assert abs(np.corrcoef(plane[:, 1], codes[:, 2])[0, 1]) > 0.99
    number = Factor("number", 0, "continuous")
    ordered = order_on_plane(plane, codes[:, 0].astype(float), number)
    assert ordered > 0.5
    assert abs(order_on_plane(plane, random.normal(size=120), number)) < 0.2
    halves = (codes[:, 0] > 0).astype(float)
    assert order_on_plane(plane, halves, Factor("half", 2, "categorical")) > 0.5


def test_the_demo_s_chain_is_decoded_in_a_tenth_of_a_second() -> None:
    data = DataSpec((3, 64, 64), 100)
    y, jobs = torch.rand(3, 3, 64, 64), []
    started: list[Any] = [recipes.start(method, "fast") for method in (methods.BetaTCVAE, methods.MSVAE)]
    first, second = (replace(config, likelihood="gaussian-optimal") for config in started)
    for config, inputs in ((first, {}), (second, {"y": y})):
        codes = torch.randn(3, config.latents)
        module = Decoder(config.build(data).eval().requires_grad_(False), {"z": codes})
        model = traced(module, {"codes": codes, **inputs}, ["x"], config.name)
        jobs.append((model, {name: value[:1].numpy() for name, value in {"codes": codes, **inputs}.items()}))
    assert sum(one["milliseconds"] for one in run_graphs(jobs, repeats=20)) < 100
