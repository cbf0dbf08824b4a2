"""When the loss of held-out data turned."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from unbraid.evaluation.generalisation import is_overfitted, lagging, overfitting
from unbraid.evaluation.held_out_course import has_lost, turned, turning_point
from unbraid.evaluation.loss_course import logged_loss
from unbraid.evaluation.verdict import still_falling

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


def test_a_small_rise_is_rest_and_a_large_one_harm() -> None:
    falling = 150 + 8 * np.exp(-STEPS / 300)
    assert not has_lost(falling + STEPS / 20_000)
    assert has_lost(falling + STEPS / 500)
    assert turned("The loss", 600, 9000, harmed=False).level == "good"
    assert turned("The loss", 600, 9000, harmed=True).level == "bad"


def test_one_wild_row_does_not_hide_that_the_training_data_are_known_by_heart() -> None:
    training, held_out = np.tile([0.1, 0.2], 200), np.tile([0.25, 0.5], 40)
    held_out[0] = 400.0  # the mean's noise would now be larger than its difference
    assert is_overfitted(held_out, training)
    (said,) = overfitting({1: (held_out, training)})
    assert "the model has 2.7 times the error on held-out data" in said.text
    (unclear,) = overfitting({1: (np.array([0.01, 0.02, 1.0, 3.0, 0.1]), np.tile([0.02, 1.0, 0.01], 50))})
    assert unclear.level == "note"
    assert unclear.text.endswith("which 5 observations may be by chance.")
    (good,) = overfitting({1: (np.tile([0.1, 0.2], 20), training)})
    assert good.level == "good"


def test_a_stage_that_lags_behind_on_held_out_data_is_not_told_to_train_longer() -> None:
    run = SimpleNamespace(plan=SimpleNamespace(stages=[(None, 500)]), stage_folder=lambda number: Path("not-there"))
    (plain,) = still_falling(run, {1: 4000}, set())  # type: ignore[arg-type]
    (behind,) = still_falling(run, {1: 4000}, lagging({1: (np.full(9, 2.0), np.full(9, 1.0))}))  # type: ignore[arg-type]
    assert plain.text == "The loss was still falling: about 4,000 more steps would do."
    assert behind.text == "The loss was still falling, of training data; more steps may not help others."
