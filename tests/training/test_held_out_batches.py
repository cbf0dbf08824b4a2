"""No batch of training has a held-out row, whatever stream it is drawn from, and held-out batches have no other."""

import numpy as np
import pytest
import torch

from small_methods import SMALL
from unbraid.core import MethodConfig, Stream
from unbraid.training.batches import BatchSource, TrainingData
from unbraid.training.contract import SEED, batch_source, fingerprint, job, local_fabric, small_images, training_data
from unbraid.training.loop import build
from unbraid.training.watching import Watched

HELD_OUT = np.arange(0, 48, 5)


def parts(config: MethodConfig) -> tuple[TrainingData, TrainingData]:
    """Training data of which every fifth row is held out, and these rows with their labels."""
    whole = training_data(config, small_images())
    labels = whole.labels.copy()
    labels[HELD_OUT] = np.nan
    known = np.full(labels.shape, np.nan)
    if labels.shape[1]:
        known[HELD_OUT] = whole.data.factors[HELD_OUT]
    rest = (whole.y, whole.codes, whole.factors, None, whole.required)
    source = TrainingData(whole.data, labels, *rest, held_out=HELD_OUT)
    return source, TrainingData(whole.data, known, *rest, held_out=source.seen_rows)


@pytest.mark.parametrize("stream", ["train", "labelled", "partly-labelled", "half-labelled"])
def test_no_held_out_row_is_ever_in_a_batch(stream: Stream) -> None:
    config = next(config for config in SMALL if config.uses_labels)
    source, held_out = parts(config)
    batches = BatchSource(source, seed=3, device=torch.device("cpu"))
    drawn = np.concatenate([batches.batch("vae", stream, 8, draw).index.numpy() for draw in range(60)])
    watched = batches.over(held_out)
    looked_at = np.concatenate([watched.batch("vae", stream, 3, draw).index.numpy() for draw in range(20)])
    assert not np.isin(drawn, HELD_OUT).any()
    assert np.isin(looked_at, HELD_OUT).all()
    if stream == "train":
        assert set(drawn) == set(range(48)) - set(HELD_OUT)
        assert set(looked_at) == set(HELD_OUT)


def test_what_is_prepared_adjusted_or_learned_at_the_end_sees_no_held_out_row() -> None:
    config = next(config for config in SMALL if config.conditional)
    source, _ = parts(config)
    batches = batch_source(source)
    seen = torch.from_numpy(source.seen_rows)
    x = torch.from_numpy(source.data.observations).permute(0, 3, 1, 2).float() / 255
    assert torch.equal(torch.cat(list(batches.all_rows(7))), x[seen])
    assert torch.equal(batches.some_observations(1000, "adjust 3"), x[seen])
    assert torch.equal(torch.cat([rows for rows, _ in batches.some_rows_with_y(1000, 7)]), x[seen])
    assert source.spec.size == 38


@pytest.mark.parametrize("config", SMALL, ids=lambda config: config.name)
def test_looking_at_held_out_rows_changes_nothing(config: MethodConfig) -> None:
    source, held_out = parts(config)
    method = build(job(config, source), torch.device("cpu")).train()
    modes, before = [module.training for module in method.modules()], fingerprint(method)
    watched = Watched(batch_source(source), held_out)
    figures = watched.figures(local_fabric(), method, 3)
    assert figures == watched.figures(local_fabric(), method, 3), "the same rows and draws every time"
    assert {key.split("/")[0] for key in figures} == {update.name for update in method.updates()}
    assert all(np.isfinite(list(figures.values())))
    assert fingerprint(method) == before
    assert [module.training for module in method.modules()] == modes
    assert all(parameter.grad is None for parameter in method.parameters())


def test_half_of_the_held_out_rows_lack_labels_where_half_of_the_others_do() -> None:
    config = next(config for config in SMALL if config.name == "ss-ivae")
    source, held_out = parts(config)
    method = build(job(config, source, SEED), torch.device("cpu"))
    update = method.updates()[0]
    batch = Watched(batch_source(source), held_out).batch(update, 0)
    missing = batch.factors.isnan().all(1)
    assert missing.tolist() == [False] * 5 + [True] * 5
