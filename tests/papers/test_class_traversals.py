"""Pictures of what class-related and class-independent codes change."""

from pathlib import Path

import numpy as np
import pytest
import torch

import unbraid as ub
from unbraid.api import Run
from unbraid.evaluation.class_priors import typical_z
from unbraid.evaluation.classes import class_method, classify
from unbraid.methods import PartedVAE
from unbraid.papers.measures.class_traversals import free_rows, likeliest_codes, rows_within, transfer_rows
from unbraid.training.batches import as_stored
from unbraid.training.contract import small_images
from unbraid.training.machine import Machine


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder: Path = tmp_path_factory.mktemp("classes")
    config = PartedVAE(width=0.1, attention_steps=2)
    return ub.fit(small_images(), config, steps=3, out=folder / "run", machine=Machine("cpu"), show=False)


def test_each_row_moves_its_own_z_and_nothing_else(run: Run) -> None:
    method, steps = class_method(run), 5
    with torch.inference_mode():
        z, u = typical_z(run), likeliest_codes(method)
        for code, (name, images) in enumerate(free_rows(run, steps)):
            assert name == f"z{code + 1}"
            for step, value in ((0, -2.0), (steps - 1, 2.0)):
                moved = z.clone()
                moved[code] = value
                assert np.array_equal(images[step], as_stored(method.decode({"u": u, "z": moved[None]}))[0])


def test_what_is_lent_stands_above_and_what_gets_it_at_the_left(run: Run) -> None:
    (_, given_by), *rows = transfer_rows(run, contents=2, styles=3)
    for _, row in rows:
        assert np.array_equal(row[1:], run.transfer(row[:1], given_by[1:])[0])


def test_only_classes_that_were_seen_have_a_row(run: Run) -> None:
    named = set(classify(run, np.ascontiguousarray(run.data.observations))[0].argmax(1).tolist())
    sizes = range(class_method(run).class_sizes[0])
    made = rows_within(run, tuple(sizes), steps=4)
    assert 0 < len(made) <= len(named)
    assert all(len(images) == 4 for _, images in made)
