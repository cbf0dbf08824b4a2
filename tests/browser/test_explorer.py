"""The explorer as people use it, in a browser."""

from __future__ import annotations

import io
import json
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from opener import CHROMIUM, Opener
from PIL import Image

from unbraid import methods
from unbraid.api import Run, fit
from unbraid.explore.builder import write_page
from unbraid.explore.server import ExplorerServer
from unbraid.training.batches import as_stored
from unbraid.training.contract import small_images

pytest.importorskip("playwright.sync_api", reason="browser tests need playwright: make test-browser")
if CHROMIUM is None:
    pytest.skip("browser tests need chromium: make test-browser", allow_module_level=True)
if TYPE_CHECKING:
    from playwright.sync_api import Page

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SETTLED = 700  # milliseconds: the address follows the state after 300


def pixels(page: Page, view: str) -> NDArray[np.int64]:
    """What a canvas shows, [height, width, 3]."""
    read = "c => [c.width, c.height, [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]]"
    width, height, values = page.locator(f'[data-view="{view}"] canvas').evaluate(read)
    return np.array(values).reshape(height, width, 4)[..., :3]


def codes(page: Page) -> list[list[float]]:
    return page.evaluate("explorer.codes()")


def decoded(run: Run, values: list[list[float]]) -> list[NDArray[np.int64]]:
    """What torch makes of the codes, as bytes."""
    groups = [{"z": torch.tensor([stage], dtype=torch.float32)} for stage in values]
    return [as_stored(made)[0].astype(int) for made in run.chain.decode(groups)]


def after(page: Page, act: object) -> None:
    """Do something, and wait until the page has shown what comes of it."""
    before = page.locator("body").get_attribute("data-shown")
    act()
    page.wait_for_selector(f'body:not([data-shown="{before}"])')


def press(page: Page, key: str) -> None:
    after(page, lambda: page.keyboard.press(key))


def test_a_slider_shows_what_torch_decodes(chain_page: Path, chain_run: Run, open_page: Opener) -> None:
    page = open_page(chain_page)
    start, before = codes(page), pixels(page, "2")
    for row, key in (("1/z2", "End"), ("1/z1", "Home")):
        page.locator(f'[data-code="{row}"] input').focus()
        press(page, key)
    assert codes(page)[0][1] > start[0][1]
    assert codes(page)[0][0] < start[0][0]
    assert codes(page)[1] == start[1]
    for view, made in zip(("1", "2"), decoded(chain_run, codes(page)), strict=True):
        assert np.abs(pixels(page, view) - made).max() <= 2
    assert np.abs(pixels(page, "2") - before).max() > 2


def test_a_name_is_found_in_the_saved_page(chain_page: Path, chain_run: Run, open_page: Opener, tmp_path: Path) -> None:
    page = open_page(chain_page)
    page.locator('[data-code="1/z3"] .name').click()
    page.keyboard.type("hue <b>")
    page.keyboard.press("Enter")
    assert page.locator("input.edit").count() == 0  # the key does not open it again
    with page.expect_download() as saved:
        page.click("#save-page")
    saved.value.save_as(tmp_path / "saved.html")
    again = open_page(tmp_path / "saved.html")
    assert again.locator('[data-code="1/z3"] .name').inner_text() == "hue <b>"
    assert again.locator('[data-code="1/z3"] .column').inner_text() == "z3"
    assert again.locator('[data-code="1/z3"] input').get_attribute("aria-label") == "hue <b> (z3)"
    with page.expect_download() as named:
        page.click("#save-names")
    names = chain_run.folder / "names.json"
    named.value.save_as(names)
    try:
        assert json.loads(names.read_text()) == {"z3": "hue <b>"}
        write_page(chain_run, tmp_path / "next.html")
    finally:
        names.unlink()
    following = open_page(tmp_path / "next.html")
    assert following.locator('[data-code="1/z3"] .name').inner_text() == "hue <b>"


def test_a_picture_that_is_dropped_in_is_encoded(
    chain_page: Path, chain_run: Run, open_page: Opener, tmp_path: Path
) -> None:
    x = chain_run.data.observations[5]
    Image.fromarray(x).save(tmp_path / "own.png")
    page = open_page(chain_page)
    content = list((tmp_path / "own.png").read_bytes())
    drop = """bytes => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(bytes)], 'own.png', {type: 'image/png'}));
        window.dispatchEvent(new DragEvent('drop', {dataTransfer: data, cancelable: true}));
    }"""
    after(page, lambda: page.evaluate(drop, content))
    assert np.abs(pixels(page, "x") - x.astype(int)).max() <= 1
    table = chain_run.encode(x[None])
    want = [table.codes[0], table.arrays["stage-2/codes"][0]]
    for found, expected in zip(codes(page), want, strict=True):
        np.testing.assert_allclose(found, expected, atol=0.01)
    assert "own.png is encoded" in page.inner_text("#status")


def test_a_file_that_is_no_picture_is_refused_in_a_sentence(
    chain_page: Path, open_page: Opener, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("no picture")
    page = open_page(chain_page)
    start = codes(page)
    page.set_input_files("#file", tmp_path / "notes.txt")
    page.wait_for_selector("#status:has-text('notes.txt cannot be read')")
    assert codes(page) == start


def test_keys_move_pad_and_map(chain_page: Path, open_page: Opener) -> None:
    page = open_page(chain_page)
    across, up = int(page.input_value("#across")), int(page.input_value("#up"))
    assert across != up
    start = codes(page)[0]
    page.focus("#pad")
    press(page, "ArrowRight")
    press(page, "ArrowDown")
    moved = codes(page)[0]
    assert moved[across] > start[across]
    assert moved[up] < start[up]
    assert [v for k, v in enumerate(moved) if k not in (across, up)] == [
        v for k, v in enumerate(start) if k not in (across, up)
    ]
    before = pixels(page, "x")
    page.focus("#map")
    page.keyboard.press("ArrowDown")  # looks at the observation that was started from
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
        if page.locator("#map circle.near:not(.chosen)").count():
            break
    press(page, "Enter")
    assert page.locator("#map circle.near.chosen").count() == 1
    assert np.abs(pixels(page, "x") - before).max() > 20


def test_the_address_holds_the_state(chain_page: Path, open_page: Opener) -> None:
    page = open_page(chain_page)
    after(page, lambda: page.click("#random"))
    page.locator('[data-code="1/z1"] .name').click()
    page.keyboard.type("size")
    page.keyboard.press("Enter")
    page.wait_for_timeout(SETTLED)
    kept = codes(page)
    again = open_page(chain_page, page.evaluate("location.hash"))
    for one, other in zip(kept, codes(again), strict=True):
        np.testing.assert_allclose(one, other, atol=0.001)
    assert again.locator('[data-code="1/z1"] .name').inner_text() == "size"
    assert np.abs(pixels(page, "2") - pixels(again, "2")).max() <= 1
    assert "absent" in again.locator('[data-view="x"]').get_attribute("class")


def test_a_click_can_copy_one_stage_s_codes(chain_page: Path, open_page: Opener) -> None:
    page = open_page(chain_page)
    start = codes(page)
    page.select_option("#click", label="copies ms-vae's codes from it")
    circles = page.locator("#map circle:not(.chosen)")
    after(page, lambda: circles.last.click(force=True))
    assert codes(page)[0] == start[0]
    assert codes(page)[1] != start[1]


def test_mean_and_back(chain_page: Path, chain_run: Run, open_page: Opener) -> None:
    page = open_page(chain_page)
    start = codes(page)
    after(page, lambda: page.click("#mean"))
    np.testing.assert_allclose(codes(page)[0], chain_run.encode().codes.mean(axis=0), atol=1e-4)
    after(page, lambda: page.click("#restore"))
    assert codes(page) == start


def test_the_strip_is_saved_as_a_picture(chain_page: Path, open_page: Opener) -> None:
    page = open_page(chain_page)
    page.wait_for_selector("#strip[aria-label]")
    with page.expect_download() as saved:
        page.click("#save-strip")
    picture = Image.open(io.BytesIO(Path(saved.value.path()).read_bytes()))
    assert picture.format == "PNG"
    assert picture.size == (9 * 256 + 8 * 4, 256)
    assert len(np.unique(np.asarray(picture.convert("L")))) > 4


def test_the_strip_is_saved_as_an_animation(chain_page: Path, chain_run: Run, open_page: Opener) -> None:
    page = open_page(chain_page)
    page.locator('[data-code="1/z2"] input').focus()
    with page.expect_download() as saved:
        page.click("#save-gif")
    assert saved.value.suggested_filename == "z2.gif"
    gif = Image.open(io.BytesIO(Path(saved.value.path()).read_bytes()))
    assert (gif.format, gif.n_frames, gif.info["loop"]) == ("GIF", 28, 0)
    limits = page.evaluate("""() => {
        const slider = document.querySelector('[data-code="1/z2"] input');
        return [Number(slider.min), Number(slider.max)];
    }""")
    for k, value in ((0, limits[0]), (14, limits[1])):
        gif.seek(k)
        shown = np.asarray(gif.convert("RGB")).astype(int)
        moved = [list(stage) for stage in codes(page)]
        moved[0][1] = value
        for side, made in enumerate(decoded(chain_run, moved)):  # y and x̂ side by side, enlarged 16 times
            left = 14 + side * (256 + 14)
            small = shown[58 + 8 : 58 + 256 : 16, left + 8 : left + 256 : 16]
            assert np.abs(small - made).mean() < 6  # 256 colours


def test_a_served_page_asks_for_what_it_shows(chain_run: Run, open_page: Opener) -> None:
    with ExplorerServer(chain_run) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        open_page.allowed.append(server.address)
        page = open_page(server.address)
        page.locator('[data-code="1/z1"] input').focus()
        press(page, "End")
        for view, made in zip(("1", "2"), decoded(chain_run, codes(page)), strict=True):
            assert np.abs(pixels(page, view) - made).max() <= 1
        assert not page.locator("#save-page").is_visible()
        page.locator('[data-code="1/z1"] .name').click()
        page.keyboard.type("size")
        page.keyboard.press("Enter")
        page.click("#save-names")
        page.wait_for_selector("#status:has-text('kept with the run')")
        assert json.loads((chain_run.folder / "names.json").read_text()) == {"z1": "size"}
        (chain_run.folder / "names.json").unlink()
        x = chain_run.data.observations[5]
        buffer = io.BytesIO()
        Image.fromarray(x).save(buffer, "PNG")
        own = {"name": "own.png", "mimeType": "image/png", "buffer": buffer.getvalue()}
        after(page, lambda: page.set_input_files("#file", own))
        np.testing.assert_allclose(codes(page)[0], chain_run.encode(x[None]).codes[0], atol=0.01)
        server.shutdown()


def test_a_page_without_observations_says_so(chain_run: Run, open_page: Opener, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(chain_run.folder, folder)
    (folder / "observations.npz").unlink()
    config = json.loads((folder / "config.json").read_text())
    config["data"]["name"] = str(tmp_path / "gone.npz")
    (folder / "config.json").write_text(json.dumps(config))
    write_page(Run.open(folder), tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    assert "the map has no pictures" in page.inner_text("#map-absent")
    assert "absent" in page.locator('[data-view="x"]').get_attribute("class")
    after(page, lambda: page.locator("#map circle:not(.chosen)").last.click(force=True))
    for view, made in zip(("1", "2"), decoded(chain_run, codes(page)), strict=True):
        assert np.abs(pixels(page, view) - made).max() <= 2


def test_an_old_browser_is_told(chain_page: Path, open_page: Opener, tmp_path: Path) -> None:
    """One that does not understand the program at all, as it would be with an operator of the future."""
    text = chain_page.read_text()
    (tmp_path / "old.html").write_text(text.replace('"use strict";', '"use strict"; let of the = future;'))
    context = open_page.browser.new_context()
    page = context.new_page()
    page.goto((tmp_path / "old.html").as_uri())
    page.wait_for_selector("#status:has-text('too old')")
    context.close()


def test_a_phone_shows_everything_in_its_width(chain_page: Path, open_page: Opener) -> None:
    page = open_page(chain_page, **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    slider = page.locator('[data-code="1/z1"] input')
    box = slider.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    after(page, lambda: slider.tap(position={"x": box["width"] - 12, "y": box["height"] / 2}))
    assert page.locator('[data-view="2"] canvas').bounding_box()["y"] < 844


def test_every_control_has_a_name(chain_page: Path, open_page: Opener) -> None:
    page = open_page(chain_page)
    nameless = """[...document.querySelectorAll('button, input:not([hidden]), select, [tabindex]')].filter(e =>
        !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.[0]?.textContent.trim())).length"""
    assert page.evaluate(nameless) == 0


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_colours_follow_the_system(chain_page: Path, open_page: Opener, scheme: str, dark: bool) -> None:
    page = open_page(chain_page, color_scheme=scheme)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) < 384) is dark


def test_a_class_sets_its_mode(class_run: Run, open_page: Opener, tmp_path: Path) -> None:
    write_page(class_run, tmp_path / "classes.html")
    page = open_page(tmp_path / "classes.html")
    buttons = page.locator("#classes button")
    assert buttons.all_inner_texts() == ["0", "1", "2"]
    after(page, lambda: buttons.nth(2).click())
    modes = class_run.stage(1).mode_list[0].mean
    np.testing.assert_allclose(codes(page)[0][:2], modes[2].tolist(), atol=1e-5)


def test_a_row_of_a_table_is_encoded(table_run: Run, open_page: Opener, tmp_path: Path) -> None:
    write_page(table_run, tmp_path / "table.html")
    page = open_page(tmp_path / "table.html")
    (tmp_path / "room.csv").write_text("light;area;height;floor;note\n250;31;2,4;oak;new\n")
    after(page, lambda: page.set_input_files("#file", tmp_path / "room.csv"))
    room = {"height": [2.4], "area": [31.0], "floor": ["oak"], "light": [250.0]}  # in the table's own units
    np.testing.assert_allclose(codes(page)[0], table_run.encode(room).codes[0], atol=0.01)
    (tmp_path / "odd.csv").write_text("height,area,floor,light\n2.4,31,moss,250\n")
    page.set_input_files("#file", tmp_path / "odd.csv")
    page.wait_for_selector("#status:has-text('“moss” is no value of floor (cork, oak, tiles)')")
    (tmp_path / "bad.csv").write_text("light,area\n250,31\n")
    page.set_input_files("#file", tmp_path / "bad.csv")
    page.wait_for_selector("#status:has-text('no column “height”')")


@pytest.mark.parametrize(
    ("configs", "sizes", "infers"),
    [
        ([methods.GaussianMixture(components=3), methods.MSFlow(width=0.02, transforms=2)], [3, 768], True),
        ([methods.Controls(width=0.1), methods.MSGAN(width=0.1)], [2, 10], False),
    ],
    ids=["mixture and flow", "controls and GAN"],
)
def test_other_chains_open_too(
    configs: list[methods.MethodConfig], sizes: list[int], infers: bool, open_page: Opener, tmp_path: Path
) -> None:
    run = fit(small_images(), configs, steps=3, out=tmp_path / "run", show=False)
    write_page(run, tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    after(page, lambda: page.click("#random"))
    assert [len(stage) for stage in codes(page)] == sizes
    assert page.locator("#choose").is_visible() is infers
    groups = [{key: torch.tensor([stage], dtype=torch.float32)} for key, stage in zip("cz", codes(page), strict=True)]
    made = as_stored(run.chain.decode(groups)[-1])[0].astype(int)
    assert np.abs(pixels(page, "2") - made).max() <= 2
