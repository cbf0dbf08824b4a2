"""Studies of the β-TCVAE and DIP-VAE papers: what their own functions make of figures that are known."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from unbraid.data import load
from unbraid.methods import VAE, BetaTCVAE, BetaVAE
from unbraid.papers import STUDIES
from unbraid.papers.settings import part_of_values
from unbraid.papers.studies import (
    beta_tcvae_ablations,
    beta_tcvae_correlated,
    beta_tcvae_strength,
    dip_vae_faces,
    dip_vae_shapes,
)
from unbraid.papers.study import Finished, Trial


def finished(group: str, seed: int = 0, **figures: float) -> Finished:
    names = {name.replace("_", "-"): value for name, value in figures.items()}
    return Finished(Trial(group, "sprites", (VAE(),), (1,), seed), Path("nowhere"), names, 1.0)


def test_the_correlation_of_fig_4_is_of_means_over_seeds_and_vae_belongs_to_both() -> None:
    """β-TCVAE at β = 1, 4, 6: TC 3, 2, 1 and MIG 0.1, 0.2, 0.3 on a falling line; β-VAE's rises at the end."""
    runs = [finished("VAE", tc=3.0, mig_chen=0.1), finished("InfoGAN", tc=float("nan"), mig_chen=0.9)]
    for seed, noise in enumerate((-0.05, 0.05)):
        runs += [
            finished("β-TCVAE, β = 4", seed, tc=2.0 + noise, mig_chen=0.2 - noise),
            finished("β-TCVAE, β = 6", seed, tc=1.0, mig_chen=0.3 + noise),
            finished("β-VAE, β = 4", seed, tc=2.0, mig_chen=0.2),
            finished("β-VAE, β = 6", seed, tc=1.0, mig_chen=0.1),
        ]
    assert beta_tcvae_strength.correlation(runs, "β-TCVAE") == pytest.approx(-1.0)
    assert beta_tcvae_strength.correlation(runs, "β-VAE") == pytest.approx(0.0, abs=1e-9)


def test_what_is_left_between_methods_at_equal_tc() -> None:
    """MIG = level of β − 0.2 log TC, and 0.1 more for β-TCVAE, which has the lower TC: by means it leads by more."""
    rng, runs = np.random.default_rng(0), []
    for beta, level, tc in (("4", 0.5, 2.0), ("20", 0.8, 0.2)):
        for method, step, part in (("β-VAE", 0.0, 1.0), ("β-TCVAE", 0.1, 0.5)):
            for seed in range(6):
                at = tc * part * rng.uniform(0.5, 2.0)
                mig = level - 0.2 * math.log(at) + step
                runs.append(finished(f"{method}, β = {beta}", seed, tc=at, mig_chen=mig))
    assert beta_tcvae_strength.ahead_at_equal_tc(runs) == pytest.approx((0.1, 0.1, 0.1))
    noisy = [
        finished(one.trial.group, tc=one.figures["tc"], mig_chen=one.figures["mig-chen"] + rng.normal(0, 0.05))
        for one in runs
    ]
    ahead, low, high = beta_tcvae_strength.ahead_at_equal_tc([finished("VAE", tc=9.0, mig_chen=0.0), *noisy])
    assert low < 0.1 < high
    assert 0.05 < high - low < 0.2
    assert ahead == pytest.approx((low + high) / 2)


def test_medians_and_pairs_of_two_methods() -> None:
    scores = {"β-VAE": (0.1, 0.2, 0.3, 0.05, 0.15, 0.12), "β-TCVAE": (0.25, 0.4, 0.5, 0.45, 0.6, 0.42)}
    runs = [finished(f"C, {method}", i, mig_chen=v) for method, found in scores.items() for i, v in enumerate(found)]
    line = beta_tcvae_correlated.medians(runs).splitlines()[-1]
    assert "| C | 6 |" in line
    assert "0.135 [0.050, 0.300]" in line, "six values hold the median between their extremes"
    assert "0.435 [0.250, 0.600]" in line
    assert "0.97" in line, "35 of 36 pairs"


@pytest.mark.parametrize(
    ("name", "weights"),
    [("beta-tcvae/strength", {"β-TCVAE, β = 4": 4.0}), ("beta-tcvae/ablations", {"MWS, batch 256": 20.0})],
)
def test_weights_are_scaled_with_the_values_and_batches_are_whole(name: str, weights: dict[str, float]) -> None:
    """A batch of all images has the exact total correlation, which small batches take for a KL."""
    found = {trial.group: trial for trial in STUDIES[name].trials("desk")}
    for group, beta in weights.items():
        config, arguments = found[group].stages[0], dict(found[group].arguments)
        assert isinstance(config, BetaTCVAE)
        assert (config.alpha, config.beta, config.gamma) == (0.25, beta * 0.25, 0.25)
        data = load(found[group].data, **arguments)
        assert data.train_rows is None
        assert config.batch_size == len(data)
    assert beta_tcvae_ablations.SETTINGS["desk"].whole, "and its page says so"


def test_fig_3_shows_medians_with_intervals_by_ranks() -> None:
    runs = [finished("VAE", seed, mig_chen=value) for seed, value in enumerate((0.6, 0.1, 0.2, 0.3, 0.5, 0.4))]
    runs += [finished("InfoGAN", mig_chen=0.25)]
    lines = beta_tcvae_strength.medians(runs, ("VAE", "β-VAE, β = 20", "InfoGAN")).splitlines()
    assert lines[2:] == [
        "| VAE | 6 | 0.350 [0.100, 0.600] | 0.100 | 0.600 |",
        "| InfoGAN | 1 | 0.250 | 0.250 | 0.250 |",
    ]


def test_a_batch_of_rows_drawn_under_a_distribution_is_a_part_of_them_and_the_page_says_what_that_costs() -> None:
    setting = beta_tcvae_correlated.SETTINGS["desk"]
    (kl, slope), (less, more) = (beta_tcvae_correlated.slope_at_grid(setting, "A", spread) for spread in (0.04, 0.1))
    assert kl == pytest.approx(2 * -math.log(0.04), abs=1e-6)
    assert less == pytest.approx(2 * -math.log(0.1), abs=1e-6)
    assert 0.0 < slope < more < 0.3
    assert f"{slope:.2f} at {kl:.1f} nats" in beta_tcvae_correlated.batch_described(setting)


def test_mss_is_compared_with_mws_of_the_same_batch_and_of_as_many_nats() -> None:
    rows, pairs = beta_tcvae_ablations.compared("desk"), beta_tcvae_ablations.against("desk")
    mss, other = "MSS, batch 64 (S1)", "MWS, batch 64, β = 16 (S1)"
    assert [base for name, base in pairs if name == mss] == ["MWS, batch 64 (S15)", other]
    assert {base for name, base in pairs if name != mss} == {"MWS, batch 256"}
    one, lower, steps = rows[mss][0], rows[other][0], {rows[name][1] for name in (mss, other)}
    assert isinstance(one, BetaTCVAE)
    assert isinstance(lower, BetaTCVAE)
    assert (one.estimator, one.beta, lower.estimator, lower.beta) == ("mss", 5.0, "mws", 4.0)
    assert (one.batch_size, lower.batch_size, steps) == (64, 64, {16_000})


def test_every_weight_of_dip_vae_is_a_quarter_at_half_the_side() -> None:
    for name, module in (("dip-vae/shapes", dip_vae_shapes), ("dip-vae/faces", dip_vae_faces)):
        desk, paper = ({t.group: t.stages[0] for t in STUDIES[name].trials(scale)} for scale in ("desk", "paper"))
        assert part_of_values(module.SETTINGS["desk"].size) == 0.25
        for group, config in desk.items():
            for weight in ("beta", "off_diagonal", "diagonal", "third_moments"):
                if hasattr(config, weight):
                    assert getattr(config, weight) == pytest.approx(0.25 * getattr(paper[group], weight))
        assert isinstance(desk["VAE"], BetaVAE)
    assert {trial.held_out for trial in STUDIES["dip-vae/shapes"].trials("desk")} == {0.1}


def test_what_is_held_out_is_part_of_a_trials_folder() -> None:
    one, other = (Trial("VAE", "sprites", (VAE(),), (1,), 0, held_out=part) for part in (0.0, 0.1))
    assert one.folder != other.folder


def test_an_attribute_is_read_off_held_out_rows_by_what_the_others_say() -> None:
    """The codes of training rows part at 3; of the four held-out rows one lies on the wrong side."""
    parts: dict[str, Any] = {
        "training": SimpleNamespace(
            codes=np.array([[1.0], [2.0], [4.0], [5.0]]), factors=np.array([[0], [0], [1], [1]])
        ),
        "held-out": SimpleNamespace(
            codes=np.array([[0.0], [2.5], [3.5], [6.0]]), factors=np.array([[0], [1], [1], [1]])
        ),
    }
    run: Any = SimpleNamespace(
        encode=lambda show: SimpleNamespace(of=parts.__getitem__), data=SimpleNamespace(factor_names=("Male",))
    )
    assert dip_vae_faces.accuracy(run, "Male") == 0.75
    assert np.isnan(dip_vae_faces.accuracy(run, "Bangs"))
