"""Package metadata that depends on where the repository is published: project URLs, and the README's links.

The address is that of the checkout's `origin`. Without one on a known public host there are no URLs, and the README
keeps its relative links. A wheel that is built from an sdist takes both from the sdist's PKG-INFO.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PUBLIC = re.compile(r"(?:https://(?:[^@/]+@)?|(?:ssh://)?git@)(github\.com|gitlab\.com)[:/](.+?)(?:\.git)?/?")


def public_address(remote: str) -> str | None:
    """The web address of a remote on a public host, without user or password; None for any other."""
    match = PUBLIC.fullmatch(remote.strip())
    return f"https://{match[1]}/{match[2]}" if match else None


def absolute_links(text: str, address: str, ref: str) -> str:
    """Markdown whose relative links and pictures lead into the repository at this tag."""
    text = re.sub(r"(!\[[^]]*\]\()(?!https?:|#)", rf"\g<1>{address}/raw/{ref}/", text)
    return re.sub(r"((?<!!)\[[^]]*\]\()(?!https?:|#)", rf"\g<1>{address}/blob/{ref}/", text)


class RepositoryMetadata(MetadataHookInterface):
    """Fill in `urls` and `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling with the `project` table."""
        root = Path(self.root)
        text = (root / "README.md").read_text(encoding="utf-8")
        git = ["git", "-C", self.root, "remote", "get-url", "origin"]
        # An unpacked sdist inside another project's checkout must not take that project's address.
        found = subprocess.run(git, capture_output=True, text=True).stdout if (root / ".git").exists() else ""
        address = public_address(found)
        if address:
            text = absolute_links(text, address, f"v{metadata['version']}")
            pages = {"Issues": "issues", "Documentation": "tree/HEAD/docs", "Changelog": "blob/HEAD/CHANGELOG.md"}
            metadata["urls"] = {"Source": address} | {name: f"{address}/{page}" for name, page in pages.items()}
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
