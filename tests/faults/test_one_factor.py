"""With one factor, scores that tell factors apart say nothing: they are left out, and it is said why."""

from pathlib import Path

import numpy as np
import pytest

import unbraid as ub
from unbraid import metrics
from unbraid.errors import InputError
from unbraid.methods import BetaVAE

APART = ("factor_score", "dci", "modularity", "beta_score", "z_diff")


@pytest.mark.parametrize("name", APART)
def test_a_table_with_one_factor_has_no_such_score(name: str) -> None:
    random = np.random.default_rng(0)
    codes, factor = random.normal(size=(300, 3)), random.integers(4, size=300)
    with pytest.raises(InputError, match="has only one, so leave"):
        metrics.METRICS[name].function(codes, factor, replicates=0)
    score = metrics.suite(codes, factor, metrics=[name, "mig"])
    assert "has only one" in score[name].details["error"]
    assert 0 <= score["mig"].value < 0.1  # codes that know nothing of the factor


def test_a_run_with_one_factor_reports_the_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    random = np.random.default_rng(0)
    side = np.arange(64) % 4
    data = ub.data.from_arrays(random.normal(size=(64, 6)) + side[:, None], {"side": side})
    run = ub.fit(data, BetaVAE(likelihood="gaussian"), steps=3, out=tmp_path / "run", show=False)
    with caplog.at_level("INFO", "unbraid"):
        scores = run.evaluate(show=False)
    assert "factor_score" not in scores
    assert "mig" in scores
    assert "factor_score tells factors apart, and arrays has only one" in caplog.text
    with pytest.raises(InputError, match="dci tells factors apart"):
        run.evaluate(["dci"], show=False)
