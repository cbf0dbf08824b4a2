"""When the loss of held-out data turned."""

import json
from pathlib import Path

import numpy as np

from unbraid.evaluation.held_out_course import turning_point
from unbraid.evaluation.verdict import logged_loss

STEPS = np.arange(200.0, 10_001.0, 200.0)


def test_a_loss_that_falls_and_then_rises_turned_where_it_was_lowest() -> None:
    noise = np.random.default_rng(0).normal(0, 0.3, len(STEPS))
    loss = 150 + 8 * np.exp(-STEPS / 300) + STEPS / 500 + noise
    found = turning_point(STEPS, loss)
    assert found is not None
    assert 600 <= found <= 2000


def test_noise_and_a_loss_at_rest_have_no_turning_point() -> None:
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(0, 0.3, len(STEPS))
        assert turning_point(STEPS, 150 + 8 * np.exp(-STEPS / 300) + noise) is None
    assert turning_point(STEPS[:10], STEPS[:10]) is None


def test_the_log_tells_training_from_held_out_loss(tmp_path: Path) -> None:
    entries = [{"step": 10, "model/total": 5.0, "model/total/kl": 1.0, "model/held_out/total": 7.0}, {"step": 20}]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, entries)))
    assert [part.tolist() for part in logged_loss(tmp_path / "log.jsonl")] == [[10], [5]]
    assert [part.tolist() for part in logged_loss(tmp_path / "log.jsonl", "held_out/total")] == [[10], [7]]
