"""How the documentation is built: `make docs`."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from generate import write_pages

import unbraid
from unbraid import __version__

# Notebooks run in a folder of their own, with the package that this file sees: PYTHONPATH may be a relative path.
os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(unbraid.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])

project, author, release = "unbraid", "the authors of unbraid", __version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "**.ipynb_checkpoints", "jupyter_execute"]
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "auto"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_execution_in_temp = True  # what notebooks write does not stay beside them
nb_merge_streams = True
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_default_options = {"members": True, "show-inheritance": False}
suppress_warnings = ["autodoc.import_object"]
linkcheck_ignore = [r"https://example\.org/"]
linkcheck_anchors = False
html_theme = "furo"
html_title = f"unbraid {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def escape_formulas(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Docstrings are plain text: |a − b| and p_ are formulas there, and markup for Sphinx."""
    for number, line in enumerate(lines):
        if ">>>" not in line and "``" not in line:
            lines[number] = re.sub(r"(?<=\w)_(?=\W|$)", r"\\_", line.replace("|", "\\|"))


def setup(app: Any) -> None:
    """Connect what changes docstrings."""
    app.connect("autodoc-process-docstring", escape_formulas)


write_pages(Path(__file__).parent / "reference")
