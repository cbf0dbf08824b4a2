"""Fabricated run directories, one for each shape that a run can take."""

from __future__ import annotations

from pathlib import Path

import fabricate
import pytest


@pytest.fixture(scope="session")
def image_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fabricate.image_run(tmp_path_factory.mktemp("image") / "shapes-ms")


@pytest.fixture(scope="session")
def vector_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fabricate.vector_run(tmp_path_factory.mktemp("vector") / "pendulum-ms")


@pytest.fixture(scope="session")
def class_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fabricate.class_run(tmp_path_factory.mktemp("class") / "shapes-parted")


@pytest.fixture(scope="session")
def plain_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fabricate.plain_run(tmp_path_factory.mktemp("plain") / "photos-tc")
