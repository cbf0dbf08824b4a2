"""The explorer in a notebook: the same page as a widget, in Jupyter, marimo and wherever else anywidget runs."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from unbraid.errors import InputError
from unbraid.explore.builder import write_page
from unbraid.util.files import write_json
from unbraid.util.names import FILE

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise InputError(f"the explorer in a notebook needs {error.name}: pip install 'unbraid[notebook]'.") from error

if TYPE_CHECKING:
    from unbraid.runs.directory import RunDirectory


class Explorer(anywidget.AnyWidget):
    """A page with sliders; `codes` and `names` follow what is done in it.

    `codes` has a list for each stage; `names` is what `save_names` writes to the run directory.
    """

    _esm = Path(__file__).parent / "page" / "widget.js"
    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(960).tag(sync=True)
    codes: Any = traitlets.List().tag(sync=True)
    names = traitlets.Dict().tag(sync=True)

    def __init__(self, run: RunDirectory, height: int = 960) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "explorer.html"
            write_page(run, path)
            super().__init__(page=path.read_text(encoding="utf-8"), height=height)
        self.folder = run.folder

    def save_names(self) -> Path:
        """Keep the names: write names.json, which the next page reads, and return its path."""
        write_json(self.folder / FILE, dict(self.names))
        return self.folder / FILE
