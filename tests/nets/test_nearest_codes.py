"""p(z | y) from observations whose y look alike, and what draws from it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from unbraid import methods
from unbraid.api import Run, fit
from unbraid.evaluation.conditioning import conditioning_scores
from unbraid.nets import nearest_codes
from unbraid.nets.nearest_codes import NearestCodes
from unbraid.runs.conditioning import stage_inputs
from unbraid.training.contract import small_images
from unbraid.util.tensors import read_tensors


def learned(neighbours: int, monkeypatch: pytest.MonkeyPatch) -> NearestCodes:
    """Three values of y, four rows each; the codes of a row tell its number, with variances 0.04 and 0.16 (and 0)."""
    monkeypatch.setattr(nearest_codes, "NEIGHBOURS", neighbours)
    y = torch.tensor([0.0, 5.0, 9.0]).repeat_interleave(4)[:, None].repeat(1, 2)
    means = torch.arange(12.0)[:, None] + torch.tensor([0.0, 100.0])
    log_var = torch.tensor([0.04, 0.16]).log().repeat(12, 1)
    prior = NearestCodes((2,), 2, rows=100)
    prior.learn(zip(y.split(5), means.split(5), log_var.split(5), strict=True))
    return prior


def test_draws_are_posteriors_of_rows_with_a_similar_y(monkeypatch: pytest.MonkeyPatch) -> None:
    prior = learned(4, monkeypatch)
    torch.manual_seed(0)
    drawn = prior(torch.tensor([[4.0, 6.0]]).repeat(4000, 1))  # like the second value: rows 4 to 7
    rows = drawn.double().mean(1).sub(50).round()
    torch.testing.assert_close(drawn.mean(0), torch.tensor([5.5, 105.5]), atol=0.1, rtol=0)
    spread = np.var([4, 5, 6, 7]) + np.array([0.04, 0.16])
    np.testing.assert_allclose(drawn.var(0).numpy(), spread, rtol=0.1)
    shares = torch.stack([(rows == row).double().mean() for row in (4, 5, 6, 7)])
    assert (shares > 0.2).all(), shares


def test_rows_that_were_not_filled_are_never_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    prior = learned(50, monkeypatch)
    assert prior.means.shape == (100, 2)
    drawn = prior(torch.zeros(500, 2))
    assert drawn[:, 1].min() > 95  # an empty row would give some 0


def test_images_are_compared_small() -> None:
    prior = NearestCodes((3, 64, 32), 5, rows=10_000)
    assert prior.looks.shape == (nearest_codes.MOST_ROWS, 3 * 8 * 8)
    y = torch.rand(2, 3, 64, 32)
    expected = y.reshape(2, 3, 8, 8, 8, 4).mean(dim=(3, 5)).flatten(1)
    torch.testing.assert_close(prior.look(y), expected)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    stages = [methods.VAE(width=0.1, latents=2), methods.MSVAE.fast(width=0.1, latents=6)]
    out = tmp_path_factory.mktemp("learned") / "run"
    return fit(small_images(), stages, steps=20, out=out, show=False)


def test_what_was_learned_is_among_the_weights_and_no_parameter(run: Run) -> None:
    tensors = read_tensors(run.stage_folder(2) / "weights.safetensors")[0]
    model: Any = run.stage(2)
    assert int(tensors["learned_prior.count"]) == 48
    x, y = run.observations(np.arange(48)), stage_inputs(run, 2, show=False)[0]
    seen = torch.from_numpy(np.ascontiguousarray(y)).permute(0, 3, 1, 2).float() / 255
    torch.testing.assert_close(tensors["learned_prior.means"], model.encode(x, seen)["z"].mean, atol=1e-5, rtol=1e-4)
    record = (run.stage_folder(2) / "stage.json").read_text()
    assert f'"parameters": {sum(p.numel() for p in model.parameters())}' in record


def test_samples_come_from_it_or_as_in_the_paper_from_a_standard_normal(run: Run) -> None:
    y, x = run.sample(5)
    assert x.shape == (5, 16, 16, 3)
    again, other = run.sample(5), run.sample(5, seed=1)
    np.testing.assert_array_equal(again[1], x)
    assert not np.array_equal(other[0], y)
    normal = run.sample(5, learned=False)
    np.testing.assert_array_equal(normal[0], y)  # c is untouched
    torch.manual_seed(0)
    codes, _ = run.chain.sample(300)
    kept: Any = run.stage(2).learned_prior
    distance = torch.cdist((codes[1]["z"] / kept.deviation), kept.means / kept.deviation).min(1).values
    assert distance.mean() < 4, "within the noise of six latents of a code of the data"


def test_m3_is_with_draws_of_it_and_has_the_paper_s_beside_it(run: Run) -> None:
    m3 = conditioning_scores(run, show=False)["conditioning/M3"]
    assert m3.details["z"] == "learned"
    assert m3.details["normal"] != m3.value
    assert 0 <= m3.details["normal"] <= 1


def test_the_paper_s_stage_keeps_m3_as_it_was(tmp_path: Path) -> None:
    stages = [methods.VAE(width=0.1, latents=2), methods.MSVAE(width=0.1, latents=3)]
    plain = fit(small_images(), stages, steps=2, out=tmp_path / "run", show=False)
    assert "normal" not in conditioning_scores(plain, show=False)["conditioning/M3"].details


def test_the_report_shows_draws_beside_reconstructions(run: Run) -> None:
    page = run.report().read_text(encoding="utf-8")
    with np.load(run.folder / "pictures.npz") as pictures:
        assert pictures["drawn"].shape == pictures["reconstruction/2"].shape
        assert not np.array_equal(pictures["drawn"], pictures["reconstruction/2"])
    assert "z drawn" in page
    assert "z of others with a similar y" in page
