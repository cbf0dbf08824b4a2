"""Options of all methods: bounds on every number, one meaning for what methods share, titles of their own."""

import dataclasses
from collections.abc import Iterator
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

import pytest

from unbraid.core import Adam, MethodConfig
from unbraid.errors import InputError
from unbraid.methods import METHODS, InfoGAN, by_name, describe
from unbraid.methods.labelled.probe import FactorProbe
from unbraid.util.schema import Bounds, check_bounds, digest, to_json

ALL: tuple[type[MethodConfig], ...] = (*METHODS, FactorProbe)
SHARED = ("likelihood", "scale", "width", "batch_size")
# Digests of the default configurations of the first runs. A new option is a `later_option`, and they stay.
FIRST = {
    "vae": "7e5f31c1",
    "beta-vae": "5d9c3e8f",
    "annealed-vae": "5c4a1e76",
    "beta-tcvae": "616a9599",
    "factor-vae": "a363357f",
    "dip-vae-i": "d68e87cc",
    "dip-vae-ii": "8a201cec",
    "joint-vae": "7e7b3e84",
    "hfvae": "ee8d59b9",
    "guided-vae": "f8066b5e",
    "guided-beta-tcvae": "7d2b2fdc",
    "infogan": "e1f87b68",
    "beta-tcvae-flow": "2117512b",
    "guided-vae-supervised": "5094f92e",
    "full-vae": "321006eb",
    "ivae": "e34d741f",
    "idvae": "e707b4ba",
    "ss-ivae": "f3bae6aa",
    "ss-idvae": "a4a45954",
    "parted-vae": "a10d93c4",
    "ms-vae": "a559f020",
    "controls": "873ea307",
    "ms-controls": "f413f458",
    "gaussian-mixture": "d8e9c8c0",
    "ms-flow": "d2943e70",
    "ms-gan": "155a9294",
    "cgan": "f69be475",
    "end-to-end": "42b06ff6",
    "jacobian": "c83802f7",
}


def numbers(cls: type, prefix: str = "") -> Iterator[tuple[str, dataclasses.Field[Any], Any]]:
    """Every numeric option with its field and annotation, those of parts as `adam.lr`."""
    hints = get_type_hints(cls)
    for field in dataclasses.fields(cls):
        hint = hints[field.name]
        if dataclasses.is_dataclass(hint):
            yield from numbers(hint, f"{field.name}.")  # type: ignore[arg-type]
        elif (get_args(hint)[0] if get_origin(hint) is tuple else hint) in (int, float):
            yield prefix + field.name, field, hint


CASES = [(cls, name) for cls in ALL for name, _, _ in numbers(cls)]


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.name)
def test_every_number_has_bounds_that_its_default_keeps(cls: type[MethodConfig]) -> None:
    free = [name for name, field, _ in numbers(cls) if not isinstance(field.metadata.get("bounds"), Bounds)]
    assert not free
    check_bounds(cls())


@pytest.mark.parametrize(("cls", "name"), CASES, ids=[f"{cls.name}-{name}" for cls, name in CASES])
def test_a_number_below_its_bound_is_refused_by_name(cls: type[MethodConfig], name: str) -> None:
    field, hint = next((field, hint) for other, field, hint in numbers(cls) if other == name)
    bounds = field.metadata["bounds"]
    low = bounds.above if bounds.least is None else bounds.least - 1
    value = (2, int(low)) if get_origin(hint) is tuple else hint(low)
    part, _, inner = name.rpartition(".")
    changed = {part: dataclasses.replace(getattr(cls(), part), **{inner: value})} if part else {name: value}
    typed = name.replace("_", "-")
    with pytest.raises(InputError, match=rf"^--{typed} of {cls.name} must be (at least|greater than) .*, not "):
        check_bounds(cls(**changed))


def test_the_options_that_once_escaped_are_refused() -> None:
    for options in ({"codes": -3}, {"information": -1.0}, {"critic_adam": Adam(lr=-1.0)}, {"adam": Adam(beta2=1.0)}):
        with pytest.raises(InputError):
            check_bounds(InfoGAN(**options))
    with pytest.raises(InputError, match=r"--critic-adam.end of infogan must be at least 0 and at most 1, not 1.5\."):
        check_bounds(InfoGAN(critic_adam=Adam(end=1.5)))


def test_what_methods_share_has_one_help_text() -> None:
    for name in SHARED:
        helps = {f.metadata["help"] for cls in ALL for f in dataclasses.fields(cls) if f.name == name}
        assert len(helps) == 1, name


def test_bounds_stand_in_no_file() -> None:
    assert to_json(InfoGAN())["codes"] == 5
    assert "least" not in str(describe(InfoGAN()))


def test_every_method_has_a_title_of_its_own() -> None:
    titles = [cls.title for cls in METHODS]
    assert all(titles)
    assert len(set(titles)) == len(METHODS)
    assert [by_name(name).title for name in ("beta-tcvae", "dip-vae-i")] == ["β-TCVAE", "DIP-VAE-I"]


def test_a_method_without_a_title_goes_by_its_name() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Mine(InfoGAN):
        name: ClassVar[str] = "mine"

    assert (Mine.title, InfoGAN.title) == ("mine", "InfoGAN")


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.name)
def test_an_inherited_option_has_the_default_that_the_class_shows(cls: type[MethodConfig]) -> None:
    # Of two bases with one option, dataclasses and attribute look-up could each take another.
    for field in dataclasses.fields(cls):
        assert getattr(cls, field.name) == field.default, field.name


def test_default_configurations_keep_the_digests_of_the_first_runs() -> None:
    assert {cls.name: digest(describe(cls()))[:8] for cls in METHODS if cls.name in FIRST} == FIRST
