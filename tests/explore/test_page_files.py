"""What the page writes and reads by itself: GIFs, and bytes that stand in it as text."""

import base64
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from unbraid.explore.builder import as_text
from unbraid.explore.packing import PAGE

NODE = shutil.which("node") or ""
pytestmark = pytest.mark.skipif(not NODE, reason="the page's program is tested with Node (20 or later)")


def written_gif(frames: NDArray[np.uint8], delays: list[int], folder: Path) -> Image.Image:
    """What Pillow reads of a GIF that the page's encoder makes of frames [n, height, width, 3]."""
    solid = np.concatenate([frames, np.full((*frames.shape[:3], 1), 255, np.uint8)], axis=3)
    job = {"width": frames.shape[2], "height": frames.shape[1], "delays": delays}
    job["frames"] = [base64.b64encode(frame.tobytes()).decode() for frame in solid]
    (folder / "job.json").write_text(json.dumps(job))
    script = Path(__file__).with_name("gif.mjs")
    done = subprocess.run([NODE, script, folder / "job.json", folder / "made.gif"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Image.open(folder / "made.gif")


def read(gif: Image.Image, k: int) -> NDArray[np.int64]:
    gif.seek(k)
    return np.asarray(gif.convert("RGB")).astype(int)


def test_few_colours_come_back_exactly(tmp_path: Path) -> None:
    """Noise of 200 colours fills the table of codes many times over, so that it is begun anew."""
    random = np.random.default_rng(0)
    cells = random.choice(32**3, 200, replace=False)
    colours = np.stack([cells >> 10, (cells >> 5) & 31, cells & 31], axis=1).astype(np.uint8) * 8 + 3
    frames = colours[random.integers(0, 200, (3, 90, 131))]
    gif = written_gif(frames, [45, 9, 300], tmp_path)
    assert (gif.size, gif.n_frames, gif.info["loop"]) == ((131, 90), 3, 0)
    for k, (frame, duration) in enumerate(zip(frames, (450, 90, 3000), strict=True)):
        np.testing.assert_array_equal(read(gif, k), frame)
        assert gif.info["duration"] == duration


def test_many_colours_come_back_nearly(tmp_path: Path) -> None:
    ramp = np.linspace(0, 255, 64)
    frame = np.stack(np.broadcast_arrays(ramp[:, None], ramp[None], 128), axis=2).astype(np.uint8)
    gif = written_gif(np.stack([frame, frame[::-1]]), [9, 9], tmp_path)
    assert np.abs(read(gif, 0) - frame).mean() < 6
    assert np.abs(read(gif, 1) - frame[::-1]).mean() < 6


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 1001])
def test_bytes_that_became_text_come_back(length: int) -> None:
    content = np.random.default_rng(length).integers(0, 256, length, dtype=np.uint8).tobytes()
    text = as_text(content)
    assert "<" not in text
    program = f"import {{ fromText }} from {json.dumps((PAGE / 'bytes.js').as_uri())};"
    program += f"console.log(Buffer.from(fromText({json.dumps(text)})).toString('hex'))"
    done = subprocess.run([NODE, "--input-type=module", "-e", program], capture_output=True, text=True)
    assert done.stdout.strip() == content.hex(), done.stderr
