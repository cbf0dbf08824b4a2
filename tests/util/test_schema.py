"""Configurations: JSON and back, checked against their annotations."""

import dataclasses
import json
import shlex

import pytest

from unbraid import methods
from unbraid.api import fit
from unbraid.cli.options import configure, data_arguments
from unbraid.core import Adam, MethodConfig
from unbraid.data.label_budget import LabelBudget, LabelPlan
from unbraid.errors import InputError
from unbraid.methods import recipes
from unbraid.runs.command_line import command_line
from unbraid.runs.plan import Plan, unfinished_schedules
from unbraid.util.schema import check_bounds, digest, from_json, to_json


@pytest.mark.parametrize("cls", methods.METHODS, ids=lambda cls: cls.name)
def test_every_method_survives_json(cls: type) -> None:
    config = dataclasses.replace(cls(), batch_size=7)
    assert from_json(cls, json.loads(json.dumps(to_json(config)))) == config
    assert methods.restore(json.loads(json.dumps(methods.describe(config)))) == config


def test_what_is_not_named_keeps_its_default() -> None:
    assert from_json(methods.BetaVAE, {"beta": 2, "adam": {"lr": 0.5}}) == methods.BetaVAE(beta=2.0, adam=Adam(lr=0.5))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"bta": 1}, "there is no option of beta-vae 'bta'; did you mean 'beta'"),
        ({"beta": "x"}, "beta-vae.beta must be a number, not 'x'"),
        ({"latents": 2.5}, "beta-vae.latents must be a whole number, not 2.5"),
        ({"latents": True}, "beta-vae.latents must be a whole number, not True"),
        ({"adam": 3}, "beta-vae.adam must be an object of options"),
        ({"likelihood": "gauss"}, "did you mean 'gaussian'"),
    ],
)
def test_wrong_values_are_named(values: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        from_json(methods.BetaVAE, values)


def test_equal_content_has_an_equal_digest_and_a_change_another() -> None:
    assert digest(methods.BetaVAE()) == digest(methods.BetaVAE())
    assert digest(methods.BetaVAE()) != digest(methods.BetaVAE(beta=4.1))


@pytest.mark.parametrize("second", [methods.MSVAE(latents=3), methods.MSVAE.fast(latents=7)])
def test_the_written_command_makes_the_same_run(second: methods.MSVAE) -> None:
    stages = [(methods.BetaTCVAE(beta=2.0, adam=Adam(lr=1e-3)), 10), (second, 20)]
    words = command_line({"name": "toys", "arguments": {"objects": 5}}, stages, seed=3).split()
    assert words[:5] == ["unbraid", "fit", "toys", "--data.objects", "5"]
    options = words[words.index("--seed") + 2 :]
    given = [(name.removeprefix("--"), value) for name, value in zip(options[::2], options[1::2], strict=True)]
    assert given.pop(0) == ("recipe", "paper")
    written = configure([type(config) for config, _ in stages], given, recipe="paper")
    assert written == [config for config, _ in stages]


def test_a_recipe_is_where_options_start() -> None:
    stages: list[type[MethodConfig]] = [methods.BetaTCVAE, methods.MSVAE]
    assert configure(stages, []) == [methods.BetaTCVAE(), methods.MSVAE()]
    fast = configure(stages, [("2.adam.lr", "0.5"), ("2.latents", "7")], recipe="fast")
    assert fast[0] == recipes.start(methods.BetaTCVAE, "fast")
    recipe = methods.MSVAE.fast()
    assert fast[1] == dataclasses.replace(recipe, latents=7, adam=dataclasses.replace(recipe.adam, lr=0.5))


def test_the_written_command_gives_data_and_labels_back() -> None:
    arguments = {"border": False, "split": "train", "objects": "20", "resize": [32, 48], "kinds": {"x y": "ordinal"}}
    plan = LabelPlan(60, ("hair colour", "beard"), first=True)
    words = shlex.split(
        command_line({"name": "my data/a.npz", "arguments": arguments}, [(methods.PartedVAE(), 10)], 0, plan)
    )
    assert words[:3] == ["unbraid", "fit", "my data/a.npz"]
    given = words[3 : words.index("--method")]
    pairs = [(name.removeprefix("--data."), value) for name, value in zip(given[::2], given[1::2], strict=True)]
    assert data_arguments(pairs) == arguments
    at = words.index("--labels")
    assert words[at : at + 5] == ["--labels", "first 60", "--label-factors", "hair colour", "beard"]
    bare = command_line({"name": "toys", "arguments": {}}, [(methods.PartedVAE(), 10)], 0, LabelPlan(0, ()))
    assert "--label-factors" not in bare


def test_true_and_false_are_read_however_they_are_written() -> None:
    assert data_arguments([("border", "False"), ("other", "true")]) == {"border": False, "other": True}


def test_an_option_that_came_later_changes_no_key_until_it_is_used() -> None:
    assert to_json(Adam()) == {"lr": 1e-4, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
    falling = methods.BetaVAE(adam=Adam(end=0.5))
    assert digest(falling) != digest(methods.BetaVAE())
    assert from_json(methods.BetaVAE, to_json(falling)) == falling
    (config,) = configure([methods.BetaVAE], [("adam.end", "0.5")])
    assert config == falling
    plan = {"name": "sprites", "arguments": {}}
    assert "--adam.end 0.5" in command_line(plan, [(falling, 10)], 0, None)


def test_a_falling_rate_is_a_straight_line() -> None:
    assert [Adam(lr=2.0, end=0.1).rate(progress) for progress in (0, 0.5, 1)] == pytest.approx([2.0, 1.1, 0.2])
    assert Adam(lr=2.0).rate(0.7) == 2.0
    with pytest.raises(InputError, match=r"--adam\.end of vae must be at least 0 and at most 1, not -0\.5"):
        check_bounds(methods.VAE(adam=Adam(end=-0.5)))


def test_lists_are_written_with_commas_and_come_back_from_the_recorded_command() -> None:
    given = [("factors", "azimuth,elevation")]
    (controls,) = configure([methods.Controls], given)
    assert controls.factors == ("azimuth", "elevation")  # type: ignore[attr-defined]
    assert configure([methods.PartedVAE], [("classes", "3")])[0].classes == (3,)  # type: ignore[attr-defined]
    assert configure([methods.PartedVAE], [("classes", "[3,2]")])[0].classes == (3, 2)  # type: ignore[attr-defined]
    words = command_line({"name": "toys", "arguments": {}}, [(controls, 5)], seed=0).split()
    assert words[words.index("--factors") + 1] == "azimuth,elevation"
    with pytest.raises(InputError, match=r"--classes must be a whole number, not 'three'"):
        configure([methods.PartedVAE], [("classes", "three")])


@pytest.mark.parametrize(
    ("stages", "sentence"),
    [
        ([methods.VAE(latents=0)], "--latents of vae must be at least 1, not 0"),
        ([methods.PartedVAE(label_batch_size=0)], "--label-batch-size of parted-vae must be at least 1, not 0"),
        ([methods.PartedVAE(temperature=0.0)], "--temperature of parted-vae must be greater than 0, not 0"),
        ([methods.IDVAE(label_scale=-1.0)], "--label-scale of idvae must be greater than 0, not -1"),
        ([methods.VAE(), methods.MSVAE(draws=0)], "--draws of ms-vae must be at least 1, not 0"),
        ([methods.PartedVAE(), methods.MSVAE(condition="observation")], "parted-vae draws no observations: choose"),
        ([methods.Controls(target="y0")], "squares has no targets, so --target y0 names nothing: leave it out"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_trained(stages, sentence, squares, tmp_path) -> None:
    with pytest.raises(InputError, match=sentence):
        fit(squares, stages, steps=1, out=tmp_path / "run", show=False)
    assert not (tmp_path / "run").exists()


def test_a_schedule_longer_than_the_run_is_named(squares) -> None:
    stages = [methods.PartedVAE(capacity_steps=400, attention_steps=50)]
    plan = Plan.check(squares, stages, [100], 0, LabelBudget("all", squares.factor_names[:1]))
    assert unfinished_schedules(plan) == [
        "parted-vae has 100 steps, and --capacity-steps is 400: what rises over these will come 25% of its way."
    ]
