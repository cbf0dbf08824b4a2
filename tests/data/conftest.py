from __future__ import annotations

import os
from pathlib import Path

import pytest

GIVEN = os.environ.get("UNBRAID_DATA")


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a cache of its own."""
    place = tmp_path / "cache"
    monkeypatch.setenv("UNBRAID_DATA", str(place))
    return place


@pytest.fixture
def real_data(monkeypatch: pytest.MonkeyPatch):
    """A file of real data in the folder that UNBRAID_DATA names outside the tests."""

    def find(relative: str) -> Path:
        from unbraid.data import cache

        if GIVEN is None:
            monkeypatch.delenv("UNBRAID_DATA")
        else:
            monkeypatch.setenv("UNBRAID_DATA", GIVEN)
        file = cache.folder() / relative
        if not file.exists():
            pytest.skip(f"{relative} is not in the data folder (UNBRAID_DATA)")
        return file

    return find
