"""Traversals as animations."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

from unbraid.errors import InputError
from unbraid.report.animation import Traversal
from unbraid.report.draw.moving import GAP, HEAD


def frames_of(path: Path) -> list[np.ndarray]:
    with Image.open(path) as gif:
        return [np.asarray(frame.convert("RGB")).astype(int) for frame in ImageSequence.Iterator(gif)]


def test_images_move_back_and_forth_for_ever(tmp_path: Path) -> None:
    shades = np.linspace(0, 255, 5).astype(np.uint8)
    first = np.broadcast_to(shades[None, :, None, None, None], (3, 5, 16, 16, 3)).copy()  # [code, step, …]
    moved = Traversal((first, 255 - first), ("hue", "size", "z3"), shown=(1,), stages=(("y", "A"), ("x̂", "B")))
    path = moved.save(tmp_path / "moved.gif")
    frames = frames_of(path)
    assert len(frames) == 2 * 5 - 2
    np.testing.assert_array_equal(frames[1], frames[-1])
    with Image.open(path) as gif:
        assert gif.info["loop"] == 0
        assert gif.size == (2 * 128 + 4 * 1 + 2 * GAP, gif.size[1])  # one cell: y and x̂ side by side
    inside = HEAD + GAP + 64
    for k, shade in enumerate(shades):
        assert abs(frames[k][inside, GAP + 60].mean() - shade) < 4  # y on the left
        assert abs(frames[k][inside, GAP + 200].mean() - (255 - shade)) < 4  # x̂ on the right


@pytest.mark.parametrize(("values", "columns"), [(3, ("height", "area", "light")), (4, ()), (60, ())])
def test_vectors_are_charts_that_move(values: int, columns: tuple[str, ...], tmp_path: Path) -> None:
    outputs = np.linspace(-1, 1, 2 * 5 * values).reshape(2, 5, values).astype(np.float32)
    moved = Traversal((outputs,), ("z1", "z2"), original=outputs[0, 2], columns=columns)
    frames = frames_of(moved.save(tmp_path / "moved.gif"))
    assert len(frames) == 8
    assert np.abs(frames[0] - frames[4]).max() > 100


def test_only_gifs_are_written(tmp_path: Path) -> None:
    moved = Traversal((np.zeros((1, 3, 8, 8, 1), np.uint8),), ("z1",))
    with pytest.raises(InputError, match=r"ends in \.gif"):
        moved.save(tmp_path / "moved.mp4")
    assert not list(tmp_path.iterdir())


def test_channels_of_signals_are_drawn_one_below_another(tmp_path: Path) -> None:
    signals = np.zeros((2, 5, 3, 20))  # [code, step, channel, time]
    signals[0, :, 1] = np.linspace(-1, 1, 5)[:, None]
    path = Traversal((signals,), ("z1", "z2"), shown=(0,), original=np.zeros(60)).save(tmp_path / "moved.gif")
    first, *_, last = frames_of(path)[:5]
    changed = np.flatnonzero((np.abs(first - last).sum(axis=2) > 60)[HEAD + GAP :].any(axis=1))
    assert changed.min() >= 72
    assert changed.max() < 2 * 72
