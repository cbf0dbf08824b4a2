"""Print the oldest versions that pyproject.toml allows, as pins for pip: `make test-oldest` installs these."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
wanted = list(project["dependencies"])
for extra in ("lightgbm", "data", "anndata", "export", "notebook"):
    wanted += project["optional-dependencies"][extra]
for requirement in wanted:
    match = re.fullmatch(r"([A-Za-z0-9_-]+)>=([0-9.]+)", requirement)
    if match and match[1] != "torch":  # comes in one version only
        print(f"{match[1]}=={match[2]}")
