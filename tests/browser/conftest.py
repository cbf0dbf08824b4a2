"""Pages of small runs, and a browser to open them in: Debian's Chromium, driven by Playwright."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from opener import CHROMIUM, FLAGS, Opener

from unbraid import methods
from unbraid.api import Run, fit
from unbraid.core import Adam
from unbraid.data import load
from unbraid.data.label_budget import LabelBudget
from unbraid.explore.builder import write_page
from unbraid.training.contract import small_images

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STEPS = 150
# Codes that say something after so few steps: those that do not are folded away.
FIRST = methods.VAE(width=0.5, latents=4, adam=Adam(lr=5e-3), likelihood="gaussian", scale=0.1)


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def open_page(browser: "Browser") -> Iterator[Opener]:
    opener = Opener(browser)
    yield opener
    for context in opener.contexts:
        context.close()
    assert opener.complaints == []


def small_run(folder: Path, data: object, configs: list[methods.MethodConfig], **options: object) -> Run:
    return fit(data, configs, steps=STEPS, out=folder, show=False, **options)


@pytest.fixture(scope="session")
def chain_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two stages on images of 16×16."""
    folder = tmp_path_factory.mktemp("chain")
    data = small_images()
    np.savez(folder / "squares.npz", images=data.observations, factors=data.factors)
    configs = [FIRST, methods.MSVAE(width=0.1, latents=3)]
    return small_run(folder / "run", load(str(folder / "squares.npz")), configs)


@pytest.fixture(scope="session")
def chain_page(chain_run: Run) -> Path:
    write_page(chain_run, chain_run.folder / "explorer.html")
    return chain_run.folder / "explorer.html"


@pytest.fixture(scope="session")
def class_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A PartedVAE, which has classes."""
    config = methods.PartedVAE(width=0.1, attention_steps=3, latents=2, class_latents=2)
    labels = LabelBudget("all", ("shade",))
    return small_run(tmp_path_factory.mktemp("classes") / "run", small_images(), [config], labels=labels)


@pytest.fixture(scope="session")
def table_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A table of measurements: vectors whose values have names and units."""
    folder = tmp_path_factory.mktemp("table")
    random = np.random.default_rng(2)
    with (folder / "rooms.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["height", "area", "floor", "light"])
        for k, (height, area, light) in enumerate(random.normal([2.5, 20.0, 300.0], [0.2, 6.0, 90.0], size=(60, 3))):
            writer.writerow([f"{height:.3f}", f"{area:.3f}", ("oak", "tiles", "cork")[k % 3], f"{light:.3f}"])
    config = methods.BetaVAE(width=0.05, latents=2, likelihood="gaussian")
    return small_run(folder / "run", load(str(folder / "rooms.csv"), log1p=["light"]), [config])
