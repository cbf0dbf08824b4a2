"""Verdicts, against what is known of simulated data."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA

import unbraid as ub
from unbraid.data.own.arrays import from_arrays
from unbraid.evaluation.loss_course import steps_to_rest
from unbraid.evaluation.verdict import latents_used, pca_error, rounded, write_verdict
from unbraid.methods import BetaVAE
from unbraid.metrics import Table
from unbraid.report import write_report
from unbraid.util.files import read_json


def table_of(information: list[float]) -> Table:
    codes = np.random.default_rng(0).normal(size=(50, len(information)))
    return Table.from_arrays({"codes": codes, "information": np.array(information)})


@pytest.mark.parametrize(
    ("information", "level", "text"),
    [
        ([0.0, 0.01], "bad", "None of 2 latents is used, so the codes say nothing: lower β or train longer."),
        ([1.0, 0.01, 0.0], "bad", "1 of 3 latents is used: lower β or train longer."),
        ([1.0, 2.0, 0.0], "good", "2 of 3 latents are used."),
        ([1.0, 2.0], "note", "All 2 latents are used: more of them may find more."),
    ],
)
def test_used_latents_are_counted(information: list[float], level: str, text: str) -> None:
    found = latents_used(table_of(information), "lower β or train longer")
    assert (found.level, found.text) == (level, text)


def test_pca_error_is_scikit_learns() -> None:
    draws = np.random.default_rng(0)
    for shape in ((60, 8), (20, 40)):  # more rows than values, and fewer
        x = draws.normal(size=shape) * np.linspace(3, 0.1, shape[1])
        model = PCA(3).fit(x)
        expected = ((x - model.inverse_transform(model.transform(x))) ** 2).mean()
        assert pca_error(x, 3) == pytest.approx(expected)


@pytest.mark.parametrize("decay", [1500.0, 3000.0])
def test_an_exponential_fall_says_how_long_it_goes_on(decay: float) -> None:
    steps = np.arange(10, 4001, 10.0)
    noise = np.random.default_rng(0).normal(scale=0.05, size=len(steps))
    more = steps_to_rest(steps, 20 + 100 * np.exp(-steps / decay) + noise)
    # After t steps a window of 1000 brings 100·e^(−t/τ)·(e^(1000/τ) − 1) on average over the window; when is it 1 %?
    average = decay / 1000 * (1 - np.exp(-1000 / decay))
    last = 100 * np.exp(-3000 / decay) * average
    whole = 100 * np.exp(-45 / decay) - last
    until = decay * np.log(100 * average * (np.exp(1000 / decay) - 1) / (0.01 * whole))
    assert more == pytest.approx(until - 3000, rel=0.1)


def test_a_loss_at_rest_and_one_that_cannot_be_judged() -> None:
    steps = np.arange(10, 4001, 10.0)
    noise = np.random.default_rng(0).normal(size=len(steps))
    assert steps_to_rest(steps, 20 + 100 * np.exp(-steps / 200) + noise) == 0
    assert steps_to_rest(steps, 500 - 0.1 * steps + noise) == -1  # a straight line does not slow down
    assert steps_to_rest(steps, 20 + 0.1 * steps + noise) is None  # rises, as with weights that grow
    assert steps_to_rest(steps[:10], noise[:10]) is None
    assert rounded(4321) == 4000


def simulated(tmp_path: Path, name: str, *, beta: float, steps: int) -> list[str]:
    """Ten measurements of two independent causes, and a verdict on a run with four latents."""
    draws = np.random.default_rng(0)
    causes = draws.integers(0, 5, (600, 2)).astype(float)
    values = causes @ draws.normal(size=(2, 10)) + draws.normal(scale=0.05, size=(600, 10))
    labels = causes if beta < 100 else draws.permutation(causes)  # of another order, which no code can know
    data = from_arrays(values, labels, names=["a", "b"], standardize=True)
    method = BetaVAE(latents=4, beta=beta, likelihood="gaussian", width=0.25)
    run = ub.fit(data, method, steps=steps, out=tmp_path / name, show=False)
    run.evaluate(["mig"], show=False)
    found = write_verdict(run)
    assert read_json(run.folder / "verdict.json")[0] == {"level": found[0].level, "text": found[0].text}
    assert found[0].text in write_report(run.folder).read_text(encoding="utf-8")
    return [sentence.text for sentence in found]


def test_two_causes_are_two_used_latents(tmp_path: Path) -> None:
    said = simulated(tmp_path, "good", beta=1.0, steps=1500)
    assert said[0] == "2 of 4 latents are used."
    assert said[-1].startswith("These scores are of training data")


def test_a_model_that_ignores_the_data_is_told_so(tmp_path: Path) -> None:
    said = simulated(tmp_path, "bad", beta=1000.0, steps=300)
    assert said[0].startswith("None of 4 latents is used")
    assert any("no better than the mean" in text for text in said)
    assert any("no better than chance" in text for text in said)
