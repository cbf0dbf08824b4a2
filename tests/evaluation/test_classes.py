"""A trained PartedVAE in use."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import unbraid as ub
from unbraid import methods
from unbraid.core import Adam
from unbraid.data.factor_data import FactorData
from unbraid.evaluation import class_priors
from unbraid.evaluation import classes as parted
from unbraid.evaluation.pictures import write_pictures
from unbraid.papers.measures.class_priors import draw_class_prior, draw_class_priors
from unbraid.training.contract import small_images

DATA = small_images()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ub.Run:
    config = methods.PartedVAE(width=0.1, class_latents=2, attention_steps=3)
    return ub.fit(DATA, config, steps=5, out=tmp_path_factory.mktemp("parted") / "run", show=False)


def test_it_classifies_in_every_variable(run: ub.Run) -> None:
    place, shade = parted.classify(run, DATA.observations[:20])
    assert place.shape == (20, 4)
    assert shade.shape == (20, 3)
    np.testing.assert_allclose(place.sum(1), 1, rtol=1e-5)


def test_transfer_makes_every_pair(run: ub.Run) -> None:
    table = parted.transfer(run, DATA.observations[:3], DATA.observations[3:8])
    assert table.shape == (3, 5, 16, 16, 3)
    np.testing.assert_array_equal(
        parted.transfer(run, DATA.observations[:1], DATA.observations[:1])[0], run.reconstruct(DATA.observations[:1])[0]
    )


def test_nothing_to_transfer_is_said(run: ub.Run) -> None:
    with pytest.raises(ub.InputError, match="there are no observations"):
        parted.transfer(run, DATA.observations[:0], DATA.observations[:2])


def test_densities_of_a_prior_are_those_of_a_mixture(run: ub.Run) -> None:
    prior = class_priors.class_prior(run, variable=1, code=1, marks=5)
    assert prior.name == "shade"
    assert prior.observations.shape == (5, 16, 16, 3)
    total = np.trapezoid(prior.densities.sum(0), prior.values)
    assert total == pytest.approx(1, abs=0.01)
    np.testing.assert_allclose(np.diag(prior.overlaps), 1, rtol=1e-5)
    np.testing.assert_allclose(prior.overlaps, prior.overlaps.T, rtol=1e-5)


def test_the_picture_is_a_png(run: ub.Run, tmp_path: Path) -> None:
    path = draw_class_prior(class_priors.class_prior(run), tmp_path / "prior.png")
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_the_typical_z_is_that_of_an_observation(run: ub.Run) -> None:
    with torch.inference_mode():
        method: Any = run.stage(1)
        z = torch.cat([method.encode(x)["z"].mean for x, _ in run.new_batches(DATA.observations)])
        found = class_priors.typical_z(run)
    distances = (z - z.mean(0)).norm(dim=1)
    torch.testing.assert_close(found, z[distances.argmin()])


def test_priors_of_several_models_stand_below_one_another(run: ub.Run, tmp_path: Path) -> None:
    one, other = (class_priors.class_prior(run, variable) for variable in (0, 1))
    single = Image.open(draw_class_prior(one, tmp_path / "one.png")).size
    both = Image.open(draw_class_priors({"a": one, "b": other}, tmp_path / "two.png")).size
    assert both == (single[0], 2 * single[1])


def test_other_methods_have_no_classes(tmp_path: Path) -> None:
    run = ub.fit(DATA, methods.VAE(width=0.1), steps=2, out=tmp_path / "run", show=False)
    with pytest.raises(ub.InputError, match="vae has no classes"):
        parted.classify(run, DATA.observations)


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> ub.Run:
    # Quick at learning labels, so that it finds all classes.
    config = methods.PartedVAE(width=0.1, class_latents=2, attention_steps=2, label_adam=Adam(lr=0.01))
    run = ub.fit(DATA, config, steps=20, out=tmp_path_factory.mktemp("reported") / "run", show=False)
    run.report()
    return run


def pictures(run: ub.Run) -> dict[str, np.ndarray]:
    with np.load(run.folder / "pictures.npz", allow_pickle=False) as file:
        return {name: file[name] for name in file.files if name.startswith(("classes/", "transfer/"))}


def test_the_report_shows_what_classes_have_become(reported: ub.Run) -> None:
    found = pictures(reported)
    for k, (title, code, size) in enumerate([("place", "u1", 4), ("shade", "u3", 3)], 1):
        prior = class_priors.class_prior(reported, k - 1)
        assert str(found[f"classes/{k}/title"]) == title
        assert str(found[f"classes/{k}/code"]) == code
        assert found[f"classes/{k}/names"].tolist() == [str(value) for value in range(size)]
        assert found[f"classes/{k}/densities"].shape == (size, len(found[f"classes/{k}/values"]))
        np.testing.assert_array_equal(found[f"classes/{k}/densities"], prior.densities)
        np.testing.assert_array_equal(found[f"classes/{k}/marks"], prior.marks)
        assert found[f"classes/{k}/observations"].shape == (len(prior.marks), 16, 16, 3)
    assert "classes/3/values" not in found
    html = (reported.folder / "report.html").read_text(encoding="utf-8")
    assert html.count('<section id="classes">') == 1
    assert "<h3>place</h3>" in html
    assert "<h3>shade</h3>" in html


def test_contents_of_transfers_are_of_different_classes(reported: ub.Run) -> None:
    found = pictures(reported)
    content, style, made = (found[f"transfer/{part}"] for part in ("content", "style", "made"))
    place, shade = (q.argmax(1) for q in parted.classify(reported, content))
    assert sorted(place) == [0, 1, 2, 3]
    assert found["transfer/names"].tolist() == [
        f"place\u00a0=\u00a0{p}, shade\u00a0=\u00a0{s}" for p, s in zip(place, shade, strict=True)
    ]
    assert style.shape == (6, 16, 16, 3)
    assert not any((one == other).all() for one in content for other in style)
    np.testing.assert_array_equal(made, parted.transfer(reported, content, style))


def test_pictures_from_before_classes_were_shown_are_made_anew(run: ub.Run) -> None:
    path = write_pictures(run)
    with np.load(path) as file:
        whole = dict(file)
    np.savez(path, **{name: array for name, array in whole.items() if not name.startswith(("classes/", "transfer/"))})
    write_pictures(run)
    with np.load(path) as file:
        again = dict(file)
    assert again.keys() == whole.keys()
    for name, array in whole.items():
        np.testing.assert_array_equal(again[name], array)
    complete = path.stat().st_mtime_ns
    write_pictures(run)
    assert path.stat().st_mtime_ns == complete, "what is complete is kept"


def test_vectors_have_priors_and_no_transfers(tmp_path: Path) -> None:
    values = np.random.default_rng(0).random((48, 6)).astype(np.float32)
    data = FactorData("vectors", values, DATA.factors, DATA.factor_info)
    run = ub.fit(data, methods.PartedVAE(width=0.1, likelihood="gaussian"), steps=2, out=tmp_path / "run", show=False)
    html = run.report().read_text(encoding="utf-8")
    found = pictures(run)
    assert found["classes/1/observations"].shape == (9, 6)
    assert not any(name.startswith("transfer/") for name in found)
    assert '<section id="classes">' in html


def test_reports_of_other_methods_have_no_classes(tmp_path: Path) -> None:
    run = ub.fit(DATA, methods.VAE(width=0.1), steps=2, out=tmp_path / "run", show=False)
    html = run.report().read_text(encoding="utf-8")
    assert pictures(run) == {}
    assert 'id="classes"' not in html
    assert 'href="#classes"' not in html
