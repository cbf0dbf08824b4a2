"""Pictures, charts and numbers on their own."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unbraid.errors import InputError
from unbraid.metrics import MetricKey, Table
from unbraid.metrics.usage import in_use
from unbraid.report import grid, reconstruction_picture, traversal_picture, write_figures
from unbraid.report.draw import charts, words
from unbraid.report.draw.svg import linear_ticks, log_ticks, tag, value_axis
from unbraid.report.read.content import RunFiles
from unbraid.report.read.scores import display, read_score
from unbraid.report.sections import scores


def solid(values: list[int], side: int = 4, channels: int = 3) -> np.ndarray:
    return np.stack([np.full((side, side, channels), v, dtype=np.uint8) for v in values])


def test_a_grid_keeps_every_pixel_and_leaves_gaps_transparent() -> None:
    made = np.asarray(grid(solid([10, 20, 30]), columns=2, pad=1, scale=3))
    assert made.shape == (25, 25, 4)
    assert (made[:12, :12, 0] == 10).all()
    assert (made[:12, 13:, 0] == 20).all()
    assert (made[13:, :12, 0] == 30).all()
    assert (made[:, 12, 3] == 0).all()
    assert (made[13:, 13:, 3] == 0).all()


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 7])
def test_any_number_of_channels_can_be_looked_at(channels: int) -> None:
    pixel = grid(solid([5], channels=channels), 1).getpixel((0, 0))
    assert isinstance(pixel, tuple)
    assert pixel[:3] == (5, 5, 5)


def test_a_grid_of_floats_is_refused() -> None:
    with pytest.raises(InputError, match="uint8"):
        grid(np.zeros((2, 4, 4, 3)), 2)


def test_reconstruction_rows_are_in_order() -> None:
    made = np.asarray(reconstruction_picture(solid([10], 32), [solid([90], 32), solid([200], 32)], scale=1))
    column = made[:, -20, 0]
    assert list(dict.fromkeys(int(v) for v in column if v != 255)) == [10, 90, 200]


def test_traversal_rows_alternate_and_follow_the_information() -> None:
    first = np.stack([solid([10], 32), solid([20], 32)])
    final = np.stack([solid([110], 32), solid([120], 32)])
    made = np.asarray(traversal_picture([first, final], information=np.array([0.1, 2.0])))
    column = made[:, -20, 0]
    assert list(dict.fromkeys(int(v) for v in column if v != 255)) == [20, 120, 10, 110]


def test_figures_of_a_run_are_written(image_run: Path, vector_run: Path, tmp_path: Path) -> None:
    written = write_figures(image_run, tmp_path / "figures")
    assert [path.name for path in written] == ["reconstructions.png", "traversals.png"]
    with Image.open(written[0]) as picture:
        assert picture.width > 8 * 128
    with pytest.raises(InputError, match="no pictures of images"):
        write_figures(vector_run)


def test_smoothing_keeps_a_straight_line_and_ignores_gaps() -> None:
    flat = np.full(50, 3.0)
    flat[20] = np.nan
    assert np.allclose(charts.smooth(flat), 3.0)
    assert charts.smooth(np.arange(100.0))[50] == pytest.approx(50)


def test_falling_losses_get_a_logarithmic_axis_and_rising_terms_a_linear_one() -> None:
    x = np.linspace(0, 1, 100)
    assert value_axis(5000 * np.exp(-8 * x) + 30, 100, 0).log
    assert not value_axis(10 * (1 - np.exp(-8 * x)) + 0.01, 100, 0).log
    assert not value_axis(-x, 100, 0).log


def test_ticks_are_round_and_inside() -> None:
    assert linear_ticks(0, 1, 5) == [0, 0.25, 0.5, 0.75, 1]
    assert linear_ticks(-0.3, 9.4, 6) == [0, 2, 4, 6, 8]
    assert log_ticks(40, 6000, 5) == [100, 300, 1000, 3000]
    assert log_ticks(1e-3, 1e3, 4) == [1e-3, 1e-1, 1e1, 1e3]


def test_a_curve_of_one_point_and_one_of_nothing_finite_can_be_drawn() -> None:
    assert "<svg" in charts.curve(np.array([5.0]), np.array([2.0]), "total", 1)
    assert "<svg" in charts.curve(np.array([5.0, 6.0]), np.array([np.nan, np.inf]), "total", 1)
    assert "<svg" in charts.whisker(math.nan, None, (0.0, 1.0), "MIG")


def test_svg_escapes_text_and_attributes() -> None:
    assert tag("text", "<b>", x=1.5, class_='"') == '<text x="1.5" class="&#34;">&lt;b&gt;</text>'


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.4127, "0.413"), (0.00412, "0.00412"), (1234.5, "1,234"), (-2.5, "−2.50"), (0.0, "0"), (math.nan, "–"),
     (3.2e-7, "3.20·10⁻⁷"), (math.inf, "∞")],
)  # fmt: skip
def test_numbers_read_well(value: float, text: str) -> None:
    assert words.number(value) == text


def test_durations_and_shapes_read_well() -> None:
    assert [words.duration(s) for s in (3.21, 42, 141.3, 7260)] == ["3.2 s", "42 s", "2 min 21 s", "2 h 01 min"]
    assert words.shape([3, 64, 48]) == "48×64 RGB images"
    assert words.symbols(1) == ["x̂"]
    assert words.symbols(3) == ["y₁", "y₂", "x̂"]


@pytest.mark.parametrize(
    ("name", "values", "ends"),
    [
        ("mig", [0.2, 0.3], (0.0, 1.0)),
        ("l2", [0.041], (0.0, 0.06)),
        ("elbo_terms/elbo", [-8649.0, -8700.0], (-10_000.0, 0.0)),
        ("elbo_terms/total_correlation", [-0.2, 0.5], (-0.2, 0.6)),
        ("elbo_terms/total_correlation", [-1e-6, 0.5], (0.0, 0.6)),  # an estimate's error
        ("kid", [math.nan], (0.0, 1.0)),
    ],
)
def test_an_axis_holds_everything_that_is_shown(name: str, values: list[float], ends: tuple[float, float]) -> None:
    assert scores.axis_ends(display(MetricKey.parse(name)), values) == pytest.approx(ends)


def test_a_latent_that_is_the_same_for_all_observations_is_not_in_use() -> None:
    random = np.random.default_rng(0)
    codes = np.stack([random.normal(size=200), np.full(200, 3.0), random.normal(size=200)], axis=1)
    table = Table.from_arrays({"codes": codes, "information": np.array([1.0, 4.5, 0.01])})
    assert in_use(table).tolist() == [True, False, False]


def test_metrics_of_one_name_share_an_axis_only_if_they_are_one_metric(tmp_path: Path) -> None:
    names = {"total_correlation": 12.0, "elbo_terms/total_correlation": 0.1, "l2": 0.01, "stage-1/l2": 0.3}
    found = tuple(read_score(name, {"value": value}) for name, value in names.items())
    run = RunFiles(tmp_path, {}, {}, (), {}, None, found, {})
    ends = {row.readings[0].key: row.ends for row in scores.score_rows(run) if row.readings[0]}
    assert ends["total_correlation"] != ends["elbo_terms/total_correlation"]
    assert ends["l2"] == ends["stage-1/l2"]
