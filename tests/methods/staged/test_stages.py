"""Stages: what flows between them, and what must not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from unbraid import methods
from unbraid.api import Run, fit
from unbraid.core import Batch, DataSpec, LaterStage, MethodConfig
from unbraid.data.factor_data import Factor, FactorData
from unbraid.errors import InputError
from unbraid.methods.staged.jacobian import JacobianSupervisionModel, cross_covariance
from unbraid.nets.adain import AdainMaps, adain
from unbraid.runs.chain import Chain
from unbraid.runs.conditioning import stage_inputs
from unbraid.training.batches import BatchSource
from unbraid.training.contract import check_method

SPEC = DataSpec((3, 16, 16), 48)
SMALL: dict[str, Any] = {"width": 0.1}
TRACES = DataSpec((20,), 40)


def traces() -> FactorData:
    """Sine waves of given length, damping and mass, and two simpler ones on the way."""
    random = np.random.default_rng(0)
    factors = random.uniform(0.5, 1.5, size=(40, 3))
    time = np.linspace(0, 3, 20)

    def wave(damping: np.ndarray) -> np.ndarray:
        return (np.cos(time / factors[:, :1]) * np.exp(-damping * time)).astype(np.float32)

    info = tuple(Factor(name, 0, "continuous") for name in ("length", "damping", "mass"))
    targets = {"y0": lambda: wave(np.zeros((40, 1))), "y1": lambda: wave(factors[:, 1:2])}
    return FactorData("waves", wave(factors[:, 1:2] / factors[:, 2:]), factors, info, targets=targets)


def three_stages() -> list[MethodConfig]:
    common: dict[str, Any] = {"likelihood": "gaussian", "scale": 0.1, "width": 0.1}
    return [
        methods.Controls(factors=("length",), target="y0", **common),
        methods.MSControls(factors=("damping",), target="y1", **common),
        methods.MSVAE(latents=1, **common),
    ]


def test_a_chain_of_three_encodes_decodes_traverses_and_reports(tmp_path) -> None:
    data = traces()
    run = fit(data, three_stages(), steps=3, out=tmp_path / "run", show=False)
    table = run.encode(show=False)
    assert table.columns == ("length",)
    np.testing.assert_allclose(table.codes[:, 0], data.column("length"), rtol=1e-6)
    np.testing.assert_allclose(table.arrays["stage-2/codes"][:, 0], data.column("damping"), rtol=1e-6)
    assert table.arrays["stage-3/codes"].shape == (40, 1)
    x, labels = data.observations, data.factors
    made = run.reconstruct(x, labels=labels)
    assert [output.shape for output in made] == [(40, 20)] * 3
    assert len(np.unique(made[0], axis=0)) == len(np.unique(data.column("length"))), "a length of its own for each"
    moved = run.traverse(x, stage=1, steps=4, labels=labels)
    assert [array.shape for array in moved] == [(1, 4, 20)] * 3
    assert [len(run.traverse(x, stage=stage, labels=labels)) for stage in (2, 3)] == [2, 1]
    np.testing.assert_allclose(run.encode(x, labels=labels).codes, table.codes, rtol=1e-6)
    assert run.report().is_file()
    again = Run.open(tmp_path / "run", data)
    np.testing.assert_array_equal(again.reconstruct(x, labels=labels)[2], made[2])
    with pytest.raises(InputError, match="controls takes its codes from labels: pass labels of length without gaps"):
        run.reconstruct(x)
    with pytest.raises(InputError, match=r"labels must be \[40, 3\] \(length, damping, mass\), not \[40, 1\]"):
        run.encode(x, labels=labels[:, :1])


def test_a_stage_after_given_controls_trains_on_the_rows_that_have_them(tmp_path) -> None:
    data = traces()
    gaps = data.factors.copy()
    gaps[::4, 1], gaps[1, 2] = np.nan, np.nan  # damping of every fourth; mass is given to no stage
    data = replace(data, factors=gaps)
    run = fit(data, three_stages(), steps=1, out=tmp_path / "run", show=False)
    rows = run.training_data(3).rows
    assert rows is not None
    assert set(rows) == set(range(40)) - set(range(0, 40, 4))
    assert run.training_data(2).rows is None, "every length is known"
    source = BatchSource(run.training_data(3), seed=0, device=torch.device("cpu"))
    seen = {int(row) for draw in range(20) for row in source.batch("vae", "train", 10, draw).index}
    assert seen == set(rows)


def test_given_controls_are_moved_over_their_own_range(tmp_path) -> None:
    data = traces()
    run = fit(data, three_stages()[:1], steps=2, out=tmp_path / "run", show=False)
    run.report()
    with np.load(tmp_path / "run" / "pictures.npz") as pictures:
        values = pictures["traversal/1/values"][0]
    length = data.column("length")
    assert length.min() - 1e-6 <= values.min() < values.max() <= length.max() + 1e-6


def test_a_stage_is_trained_on_the_target_that_it_names(tmp_path) -> None:
    data = traces()
    stage = methods.Controls(factors=("length",), target="y0", likelihood="gaussian")
    run = fit(data, stage, steps=300, out=tmp_path / "run", show=False)
    made = run.chain.reconstruct(torch.from_numpy(data.observations), run.labels(np.arange(40)))[0].numpy()
    assert np.square(made - data.targets["y0"]()).mean() < np.square(made - data.observations).mean() / 2
    with pytest.raises(InputError, match="y9"):
        fit(data, methods.Controls(target="y9", likelihood="gaussian"), steps=1, out=tmp_path / "bad", show=False)


@pytest.mark.parametrize(
    "later",
    [
        methods.MSVAE(**SMALL),
        methods.MSGAN(**SMALL),
        methods.MSFlow(width=0.02, transforms=2),
        methods.JacobianSupervision(**SMALL),
        methods.MSVAE(content="codes+z", **SMALL),
    ],
    ids=lambda config: f"{config.name}-{getattr(config, 'content', '')}",
)
@pytest.mark.parametrize(
    "first",
    [methods.EndToEnd(**SMALL), methods.GaussianMixture(components=3), methods.Controls(**SMALL)],
    ids=lambda config: config.name,
)
def test_any_first_stage_takes_any_second(first, later, squares, tmp_path) -> None:
    alone = fit(squares, first, steps=2, out=tmp_path / "alone", show=False)
    before = {name: tensor.clone() for name, tensor in alone.stage(1).state_dict().items()}
    run = fit(squares, [first, later], steps=2, out=tmp_path / "both", show=False)
    assert (tmp_path / "both" / "stage-1" / "stage.json").read_text().count('"reused_from": "alone"') == 1
    after = run.stage(1).state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before), "later stages leave the first one alone"
    x = squares.observations[:3]
    labels = squares.factors[:3] if first.uses_labels else None
    assert [output.shape for output in run.reconstruct(x, labels=labels)] == [x.shape] * 2
    assert run.encode(show=False).arrays["stage-2/codes"].shape[0] == len(squares)
    codes, outputs = run.chain.sample(2) if hasattr(run.stage(2), "prior") else ([], [])
    assert all(output.shape == (2, 3, 16, 16) for output in outputs)
    assert len(codes) == len(outputs)


def test_y_is_drawn_as_often_as_asked_and_codes_go_with_it(squares, tmp_path) -> None:
    stages = [methods.VAE(latents=2, **SMALL), methods.MSVAE(content="codes", draws=3, **SMALL)]
    run = fit(squares, stages, steps=2, out=tmp_path / "run", show=False)
    y, codes = stage_inputs(run, 2, show=False)
    assert y.shape == (3 * 48, 16, 16, 3)
    assert codes is not None
    assert codes.shape == (3 * 48, 2)
    assert not np.array_equal(codes[:48], codes[48:96])
    first: Any = run.stage(1)
    made = first.decode({"z": torch.from_numpy(codes[:5])})
    np.testing.assert_allclose(made.mul(255).round().permute(0, 2, 3, 1).numpy(), y[:5], atol=1)


def test_observations_themselves_can_be_drawn(squares, tmp_path) -> None:
    stages = [methods.VAE(latents=2, **SMALL), methods.MSVAE(condition="observation", **SMALL)]
    y, _ = stage_inputs(fit(squares, stages, steps=1, out=tmp_path / "run", show=False), 2, show=False)
    assert set(np.unique(y)) == {0, 255}, "a Bernoulli draw is black or white"


def test_every_later_stage_shares_how_y_is_made() -> None:
    later = [config for config in methods.METHODS if config.conditional]
    assert all(issubclass(config, LaterStage) for config in later)
    assert len(later) >= 5


def test_z_has_no_way_but_adain() -> None:
    torch.manual_seed(0)
    net: Any = AdainMaps((3, 16, 16), 4, 0.1)
    y, z = torch.rand(2, 3, 16, 16), torch.randn(2, 4)
    assert not torch.equal(net(y, z), net(y, -z))
    nn.init.zeros_(net.styles.styles.weight)
    assert torch.equal(net(y, z), net(y, -z))


def test_styles_of_places_tell_places_apart() -> None:
    torch.manual_seed(0)
    net: Any = AdainMaps((3, 16, 16), 4, 0.1, placed=True)
    y, z = torch.rand(2, 3, 16, 16), torch.randn(2, 4)
    scale, shift = net.styles(z)[0]
    assert scale.shape == (2, 6, 8, 8)
    assert torch.equal(adain(torch.ones_like(scale), scale, shift), shift), "all else was the same all over"
    assert shift.flatten(2).std(2).min() > 0
    assert not torch.equal(net(y, z), net(y, -z))
    for layer in net.styles.layers:
        nn.init.zeros_(layer.weight)
    assert torch.equal(net(y, z), net(y, -z)), "z has no other way"


def test_styles_of_places_are_refused_where_no_y_is_redrawn() -> None:
    with pytest.raises(InputError, match="--styles places is for a decoder that starts from y, not --content codes"):
        methods.MSVAE(styles="places", content="codes")


@pytest.mark.parametrize("shape", [(3, 16, 16), (1, 28, 28), (20,)])
def test_generator_of_ms_gan_never_looks_at_the_batch(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    model = methods.MSGAN(width=0.1).build(DataSpec(shape, 40)).train()
    assert not any(isinstance(m, nn.modules.batchnorm._BatchNorm) for m in model.generator.modules())
    y, z = torch.rand(3, *shape), torch.randn(3, 10)
    torch.testing.assert_close(model.make(y, z)[:1], model.make(y[:1], z[:1]), atol=1e-5, rtol=1e-4)
    baseline = methods.CGAN(width=0.1).build(DataSpec(shape, 40, (Factor("f", 3, "categorical"),), ((0.0, 2.0),)))
    assert any(isinstance(m, nn.modules.batchnorm._BatchNorm) for m in baseline.generator.modules())


def student() -> JacobianSupervisionModel:
    return methods.JacobianSupervision(latents=1, width=0.1).build(DataSpec((6,), 40, codes=2))


def test_no_penalty_where_student_and_teacher_have_the_same_jacobian() -> None:
    model: Any = student()
    teacher = nn.Linear(2, 6)
    # D(c, z) = A·c + B·z + b: adding z changes nothing about how c moves the output.
    extra = nn.Linear(1, 6)
    model.make = lambda c, z: teacher(c) + extra(z)
    model.encoder = nn.Linear(6, 3)
    x = torch.randn(8, 6)
    codes = model.encoder(x)[:, :2].detach()
    terms = model.loss(Batch(x, torch.arange(8), torch.empty(8, 0), teacher(codes).detach(), codes), 0)
    assert terms.values()["difference"] == pytest.approx(0, abs=1e-10)
    assert terms.values()["code"] == 0
    model.make = lambda c, z: 2 * teacher(c) + extra(z)
    terms = model.loss(Batch(x, torch.arange(8), torch.empty(8, 0), teacher(codes).detach(), codes), 0)
    assert terms.values()["difference"] > 1e-4


def test_cross_covariance_of_independent_columns_is_zero() -> None:
    c = torch.tensor([[1.0], [-1.0], [1.0], [-1.0]])
    z = torch.tensor([[1.0], [1.0], [-1.0], [-1.0]])
    assert cross_covariance(c, z).item() == 0
    assert cross_covariance(c, c).item() == pytest.approx(0.5)


def test_controls_interpolate_between_categories_and_around_circles() -> None:
    from unbraid.methods.staged.control_inputs import ControlInputs

    info = (Factor("kind", 3, "categorical"), Factor("angle", 4, "cyclic"), Factor("size", 5, "ordinal"))
    inputs = ControlInputs(DataSpec((4,), 10, info, ((0, 2), (0, 3), (0, 4))), ())
    made = inputs(torch.tensor([[1.0, 0.0, 4.0], [1.5, 4.0, 2.0]]))
    expected = torch.tensor([[0, 1, 0, 0, 1, 1.0], [0, 0.5, 0.5, 0, 1, 0]])
    torch.testing.assert_close(made, expected, atol=1e-6, rtol=0)
    drawn = inputs.prior(200).rsample()
    assert torch.equal(drawn, drawn.round())
    assert drawn.amax(0).tolist() == [2, 3, 4]


@pytest.mark.parametrize("shape", [(3, 16, 16), (6,)])
def test_z_of_ms_gan_is_heard_from_the_start(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    generator = methods.MSGAN().build(DataSpec(shape, 40)).generator
    pairs = generator.styles(torch.randn(4_000, 10))
    scales, shifts = (torch.cat(parts, dim=1) for parts in zip(*pairs, strict=True))
    # Over z and weights together; biases add a little.
    for values in (scales, shifts):
        assert values.square().mean().sub(values.mean().square()).item() == pytest.approx(1, abs=0.15)


def test_critic_of_ms_gan_may_have_its_own_width() -> None:
    spec = DataSpec((1, 16, 16), 40)
    narrow, wide = (methods.MSGAN(width=0.1, critic_width=width).build(spec) for width in (0.0, 0.3))
    count = [sum(p.numel() for p in model.critic.parameters()) for model in (narrow, wide)]
    assert count[1] > 5 * count[0]
    assert [p.shape for p in narrow.generator.parameters()] == [p.shape for p in wide.generator.parameters()]


@pytest.mark.parametrize("config", [*three_stages()[1:], methods.MSGAN(width=0.1), methods.MSFlow(width=0.1)])
def test_later_stages_keep_the_contract_on_vectors(config: MethodConfig) -> None:
    check_method(config, traces(), processes=1)


def test_chain_without_prior_says_so(squares) -> None:
    with pytest.raises(InputError, match="no prior"):
        Chain([methods.JacobianSupervision(**SMALL).build(DataSpec((3, 16, 16), 48, codes=2))]).sample(1)


def test_the_page_of_a_gan_calls_its_pictures_draws(squares, tmp_path) -> None:
    stages = [methods.BetaVAE(width=0.1, latents=2), methods.MSGAN(width=0.1, latents=2)]
    run = fit(squares, stages, steps=1, out=tmp_path / "run", show=False)
    page = run.report().read_text(encoding="utf-8")
    assert page.count("a draw") == 1
    assert page.count("MSE ") == 1  # of stage 1
    assert page.count("most informative first") == 1  # of z nothing is known but its prior


def test_details_of_the_authors_code_are_where_they_say() -> None:
    torch.manual_seed(0)
    spec, x, y = DataSpec((3, 16, 16), 40), torch.rand(2, 3, 16, 16), torch.rand(2, 3, 16, 16)

    def built(*details: str) -> Any:
        return methods.MSVAE(width=0.1, details=details).build(spec)

    plain, sites, leaky = built(), built("sites"), built("leaky")
    assert sum(plain.decoder.styles.sites) < sum(sites.decoder.styles.sites), "the dense layer has more channels"
    assert len(plain.decoder.styles.sites) == len(sites.decoder.styles.sites)
    seen: list[torch.Tensor] = []
    sites.decoder.down[1].register_forward_hook(lambda module, inputs, output: seen.append(inputs[0]))
    for z in (torch.zeros(2, 5), torch.ones(2, 5)):
        sites.decoder(y, z)
    assert torch.equal(*seen), "z has no say before the second convolution"
    leaky.decoder.down[-1].register_forward_hook(lambda module, inputs, output: seen.append(inputs[0]))
    leaky.decoder(y, torch.zeros(2, 5))
    assert (seen[-1] < 0).any()
    assert not any(isinstance(part, nn.InstanceNorm2d) for part in plain.encoder.modules())
    assert sum(isinstance(part, nn.InstanceNorm2d) for part in built("norm").encoder.modules()) == 2
    logits = built("logits")
    grey = 0.1 + 0.8 * y
    torch.testing.assert_close(logits.seen(grey), grey.logit())
    assert torch.isfinite(logits.posterior(x, torch.zeros_like(y)).mean).all(), "black has logits too"
    with pytest.raises(InputError, match="leaf"):
        methods.MSVAE(details=("leaf",))
    with pytest.raises(InputError, match="--details leaky is for --network paper"):
        methods.MSVAE.fast(details=("leaky",))


def test_a_student_may_have_batch_norm() -> None:
    spec = DataSpec((3, 16, 16), 40, codes=2)
    plain, normed = (methods.JacobianSupervision(width=0.1, batch_norm=on).build(spec) for on in (False, True))
    counts = [sum(isinstance(part, nn.BatchNorm2d) for part in model.modules()) for model in (plain, normed)]
    assert counts == [0, 5], "two maps down, the lowest map and two on the way up"
    assert normed.make(torch.randn(2, 2), torch.randn(2, 5)).shape == (2, 3, 16, 16)
