"""What is recommended, in words."""

import math
from pathlib import Path

from unbraid.search.agreement import Agreement, early_agreement
from unbraid.search.choice import recommendation
from unbraid.search.effects import effects
from unbraid.search.ranking import Ranked, Row, best_rows, ordered, plain, summarise
from unbraid.search.space import Setting


def ranked(beta: float, udr: tuple[float, ...], interval: tuple[float, float] | None, l2: float = 0.1) -> Ranked:
    setting = Setting("vae", {"beta": beta})
    rows = [Row(f"{beta:g}-{seed}", setting, seed, "finished", {"l2": l2 + seed / 100}) for seed in range(len(udr))]
    return summarise(setting, rows, {"udr": Agreement(sum(udr) / len(udr), interval, udr)})


def test_the_choice_names_rival_seeds_and_interval() -> None:
    one = ranked(1, (0.1, 0.1, 0.1, 0.1, 0.5), (0.1, 0.3))
    two = ranked(2, (0.3, 0.4, 0.4, 0.4, 0.4), (0.35, 0.41))
    four = ranked(4, (0.5, 0.4, 0.5, 0.5, 0.3), (0.40, 0.47))
    said = recommendation([one, two, four], "udr")
    assert said[0] == "vae, beta 4: UDR 0.44 [0.4, 0.47], ahead of vae, beta 2 in 3 of 5 seeds."
    assert said[1] == "Its interval overlaps with 1 of 2 others (vae, beta 2): these are open."
    assert "look at the traversals" in said[2]
    assert recommendation([one, four], "udr")[1] == "Its interval touches that of no other setting."


def test_one_lucky_seed_is_the_best_trial_but_not_the_best_setting() -> None:
    lucky, steady = ranked(1, (0.9, 0.1, 0.1), None), ranked(2, (0.5, 0.6, 0.4), None)
    assert ordered([lucky, steady], "udr") == [steady, lucky]
    assert [row.name for row in best_rows([lucky, steady], "udr")][:2] == ["1-0", "2-1"]


def test_less_error_is_better() -> None:
    blurred, sharp = ranked(1, (0.9, 0.9), None, l2=0.5), ranked(2, (0.1, 0.1), None, l2=0.2)
    assert ordered([blurred, sharp], "l2") == [sharp, blurred]
    assert [row.name for row in best_rows([blurred, sharp], "l2")] == ["2-0", "2-1", "1-0", "1-1"]
    assert recommendation([blurred, sharp], "l2")[0].startswith("vae, beta 2: L2 0.205")


def test_a_setting_that_failed_is_last_and_never_chosen() -> None:
    failed = summarise(Setting("vae", {"beta": -1}, error="no"), [], {})
    good = ranked(2, (0.1, 0.2), None)
    assert ordered([failed, good], "udr") == [good, failed]
    assert "no other setting" in recommendation([failed, good], "udr")[0]
    assert "two finished seeds" in recommendation([failed], "udr")[0]


def test_a_model_that_says_next_to_nothing_is_not_praised() -> None:
    setting = Setting("vae", {"beta": 9})
    rows = [Row("a", setting, seed, "finished", {"codes_used": float(seed)}) for seed in range(2)]
    silent = summarise(setting, rows, {"udr": Agreement(0.9, None, (0.9, 0.9))})
    said = recommendation([silent, ranked(2, (0.1, 0.2), None)], "udr")
    assert "It uses 0.5 codes on average: what says so little agrees, or fits, for no good reason." in said


def test_variance_goes_to_the_option_that_makes_it() -> None:
    def rows(beta: float, width: float) -> Ranked:
        setting = Setting("vae", {"beta": beta, "width": width})
        values = [beta + width / 10 + seed / 100 for seed in range(2)]
        made = [Row("", setting, seed, "finished", {"x": value}) for seed, value in enumerate(values)]
        return summarise(setting, made, {})

    found = effects([rows(beta, width) for beta in (1.0, 2.0) for width in (1.0, 2.0)], "x")
    # Sums of squares by hand: 8 · 0.5² = 2, 8 · 0.05² = 0.02, 8 · 0.005² = 0.0002.
    assert [one.option for one in found] == ["beta", "width", "seed"]
    total = 2 + 0.02 + 0.0002
    for one, share in zip(found, (2 / total, 0.02 / total, 0.0002 / total), strict=True):
        assert abs(one.share - share) < 1e-12
    assert found[0].p < 1e-4 < found[1].p


def test_a_trial_that_did_not_finish_says_nothing_of_its_setting() -> None:
    setting = Setting("vae", {"beta": 1})
    rows = [
        Row("a", setting, 0, "finished", {"l2": 0.1}), Row("b", setting, 1, "failed", {"l2": 9.0}),
        Row("c", setting, 2, "finished", {"l2": 0.3}),
    ]  # fmt: skip
    found = summarise(setting, rows, {"udr": Agreement(0.5, (0.4, 0.6), (0.4, 0.6))})
    assert found.figures["l2"].seeds == {0: 0.1, 2: 0.3}
    assert found.figures["udr"].seeds == {0: 0.4, 2: 0.6}


def test_figures_on_disk_are_numbers_or_null() -> None:
    several, alone = ranked(1, (0.25, math.nan), (0.1, 0.3)), ranked(2, (0.5,), None)
    kept = [one["figures"]["udr"] for one in plain([several, alone])]
    assert kept == [
        {"mean": None, "interval": [0.1, 0.3], "seeds": {"0": 0.25, "1": None}},
        {"mean": 0.5, "interval": None, "seeds": {"0": 0.5}},
    ]


def test_seeds_without_a_figure_take_no_part_in_effects() -> None:
    """0.1 and 0.3 of one setting, 0.6 of the other."""
    found = effects([ranked(1, (0.1, 0.3), None), ranked(2, (0.6, math.nan), None)], "udr")
    by = {one.option: one for one in found}
    values, means = (0.1, 0.3, 0.6), (0.2, 0.2, 0.6)
    middle = sum(values) / 3
    between, total = (sum((v - middle) ** 2 for v in part) for part in (means, values))
    assert abs(by["beta"].share - between / total) < 1e-12


def test_too_few_runs_to_agree_are_behind_all_others(tmp_path: Path) -> None:
    assert early_agreement([tmp_path / "none"], 5, "udr") == -math.inf
