"""The log and the line beside the bar show a loss as the sum that it is."""

import json
from pathlib import Path

import pytest

from unbraid import methods
from unbraid.api import fit
from unbraid.core import MethodConfig
from unbraid.training.contract import small_images
from unbraid.training.figures import progress_note


@pytest.mark.parametrize(
    "config",
    [
        methods.BetaTCVAE(width=0.1, alpha=2.0, beta=3.0, gamma=5.0),
        methods.PartedVAE(width=0.1, gamma_h=2.0, gamma_c=3.0, gamma_bc=5.0, classes=(4, 3)),
        methods.InfoGAN(width=0.1, information=0.3),
    ],
    ids=lambda config: config.name,
)
def test_the_terms_in_the_log_add_up_to_its_totals(config: MethodConfig, tmp_path: Path) -> None:
    fit(small_images(), config, steps=2, out=tmp_path / "run", show=False)
    for text in (tmp_path / "run" / "stage-1" / "log.jsonl").read_text().splitlines():
        line = json.loads(text)
        for update in {key.partition("/")[0] for key in line if key.endswith("/total")}:
            terms = [value for key, value in line.items() if key.startswith(f"{update}/total/")]
            if terms:  # a loss of one term is a total and nothing else
                assert sum(terms) == pytest.approx(line[f"{update}/total"], rel=1e-4), update
            assert terms or update in ("labelled",)


def test_a_line_of_several_updates_names_them_and_their_weights() -> None:
    figures = {"vae/total": 10.0, "vae/total/error": 12.0, "vae/total/information": -2.0, "vae/error": 12.0}
    figures |= {"vae/information": 4.0, "critic/total": 0.5, "critic/accuracy": 0.75}
    assert progress_note(figures) == "vae 10 = error 12 + -0.5·information -2  critic 0.5  accuracy 0.75"


def test_a_term_that_is_zero_has_no_weight_to_show() -> None:
    figures = {"vae/total": 2.0, "vae/total/error": 2.0, "vae/total/kl": 0.0, "vae/error": 2.0, "vae/kl": 0.0}
    assert progress_note(figures) == "loss 2 = error 2 + kl 0"
