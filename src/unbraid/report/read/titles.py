"""Titles of methods that a run directory does not give."""

from __future__ import annotations

GREEK = {"beta": "β"}
KINDS = ("vae", "gan")


def readable_title(name: str) -> str:
    """A method's name as one would write it in a text, for runs that did not record the method's own title.

    Example:
        >>> [readable_title(name) for name in ("beta-tcvae", "dip-vae-ii", "ms-flow", "infogan")]
        ['β-TCVAE', 'DIP-VAE-II', 'MS-Flow', 'InfoGAN']
    """
    return "-".join(_part(part) for part in name.split("-"))


def _part(part: str) -> str:
    if part in GREEK:
        return GREEK[part]
    kind = next((kind for kind in KINDS if part.endswith(kind)), "")
    start = part.removesuffix(kind)
    return (start.upper() if len(start) <= 3 else start.capitalize()) + kind.upper()
