"""The explorer as a notebook's widget, in a page that stands for the notebook."""

import json
from pathlib import Path

import pytest
from opener import CHROMIUM, Opener

from unbraid.api import Run
from unbraid.explore.packing import PAGE

pytest.importorskip("playwright.sync_api", reason="browser tests need playwright: make test-browser")
pytest.importorskip("anywidget")
if CHROMIUM is None:
    pytest.skip("browser tests need chromium: make test-browser", allow_module_level=True)


def test_a_notebook_hears_what_is_done(chain_run: Run, open_page: Opener, tmp_path: Path) -> None:
    widget = chain_run.explore()
    host = """<!doctype html><body data-shown><div id="cell"></div><script type="module">
        %s
        const values = {page: %s, height: 700, codes: [], names: {}};
        window.values = values;
        const model = {get: (name) => values[name], set: (name, v) => { values[name] = v; }, save_changes: () => {}};
        render({model, el: document.getElementById('cell')});
    </script>"""
    source = (PAGE / "widget.js").read_text().replace("export default { render };", "")
    (tmp_path / "host.html").write_text(host % (source, json.dumps(widget.page).replace("</", "<\\/")))
    page = open_page(tmp_path / "host.html")
    frame = page.frame_locator("iframe")
    frame.locator("body[data-shown]").wait_for()
    frame.locator('[data-code="1/z2"] .name').click()
    page.keyboard.type("hue")
    page.keyboard.press("Enter")
    page.wait_for_function("'z2' in values.names")
    assert page.evaluate("values.names") == {"z2": "hue"}
    page.wait_for_timeout(400)  # an address that follows the state would complain in the console by now
    assert [len(stage) for stage in page.evaluate("values.codes")] == [4, 3]
    widget.names = page.evaluate("values.names")
    try:
        assert json.loads(widget.save_names().read_text()) == {"z2": "hue"}
    finally:
        (chain_run.folder / "names.json").unlink()
