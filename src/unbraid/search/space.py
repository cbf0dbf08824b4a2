"""What a search varies: lists and ranges of options become settings, each the configurations of a run's stages."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unbraid.core import MethodConfig
from unbraid.errors import InputError, unknown
from unbraid.util.option_paths import assign, describe_options, option_names
from unbraid.util.schema import check_bounds, from_json, label, to_json, typed
from unbraid.util.seeds import stream

RANGE = re.compile(r"^(?P<low>[-+0-9.eE]+?)\.\.(?P<high>[-+0-9.eE]+)(?P<log>:log)?$")


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high` to draw from, evenly or, with `log`, evenly in their logarithm."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        """Refuse what has nothing between its ends."""
        if not self.low < self.high or (self.log and self.low <= 0):
            rule = "0 < low < high" if self.log else "low < high"
            raise InputError(f"a range needs {rule}, not {self.low:g}..{self.high:g}.")

    def at(self, share: float) -> float:
        """The number at a share of the way, to four digits: what people read is what was used.

        Example:
            >>> Range(1e-4, 1e-2, log=True).at(0.5)
            0.001
        """
        if self.log:
            value = math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + share * (self.high - self.low)
        return float(f"{value:.4g}")


Values = Sequence[Any] | Range


@dataclass(frozen=True)
class Setting:
    """One point of the space: what was varied, and the stages that follow from it, or why there are none."""

    method: str  # of the first stage
    values: Mapping[str, Any]  # what was varied, by the name that the search gave it
    stages: tuple[MethodConfig, ...] = ()
    error: str = ""

    @property
    def name(self) -> str:
        """As people say it: `beta-tcvae, beta 4`."""
        return ", ".join([self.method, *(f"{typed(name)} {shown(value)}" for name, value in self.values.items())])


def shown(value: Any) -> str:
    """A value as people write it.

    Example:
        >>> shown(4.0), shown(0.001), shown("conv")
        ('4', '0.001', 'conv')
    """
    return f"{value:g}" if isinstance(value, float) else str(value)


def parse_values(text: str) -> Values:
    """What stands behind the `=` of `--vary`: a list with commas, or a range.

    Example:
        >>> parse_values("1,2,4"), parse_values("1e-4..1e-3:log")
        (['1', '2', '4'], Range(low=0.0001, high=0.001, log=True))
    """
    found = RANGE.match(text.strip())
    if found:
        try:
            return Range(float(found["low"]), float(found["high"]), bool(found["log"]))
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{text!r} is no range of numbers: write it as 1e-4..1e-3 or 1e-4..1e-3:log.") from None
    values = [part.strip() for part in text.split(",") if part.strip()]
    if not values:
        raise InputError(f"--vary needs values after the =, as in beta=1,2,4, not {text!r}.")
    return values


def settings(
    chains: Sequence[Sequence[MethodConfig]],
    vary: Mapping[str, Values],
    *,
    random: int | None = None,
    seed: int = 0,
) -> list[Setting]:
    """All settings of a search.

    Args:
        chains: for each method to be compared the stages of its runs, with the options that all settings share.
        vary: values or ranges by option. `beta` goes to every stage that has it, `2.latents` to the second,
            `factor-vae.gamma` to that method; `lr` means `adam.lr`.
        random: how many settings to draw of the space; left out, all of the grid.
        seed: of the draws; the first settings of a longer search are those of a shorter one.

    Returns:
        Settings in order, methods first. One that no method allows holds the sentence that says why.

    Example:
        >>> from unbraid.methods import BetaTCVAE, FactorVAE
        >>> found = settings([[BetaTCVAE()], [FactorVAE()]], {"alpha": [1, 4], "factor-vae.gamma": [10]})
        >>> [one.name for one in found]
        ['beta-tcvae, alpha 1', 'beta-tcvae, alpha 4', 'factor-vae, gamma 10']
    """
    varied = all_takers(chains, vary)
    if random is None:
        lists: dict[str, Sequence[Any]] = {}
        for name, values in vary.items():
            if isinstance(values, Range):
                raise InputError(f"{name} has a range, which is drawn from: say how many settings with --random N.")
            lists[name] = values
        return [
            made(chain, dict(zip(found, point, strict=True)), found)
            for chain, found in zip(chains, varied, strict=True)
            for point in itertools.product(*(lists[name] for name in found))
        ]
    if random < 1:
        raise InputError(f"--random must be at least 1, not {random}.")
    drawn = []
    for number in range(random):
        chain, found = chains[number % len(chains)], varied[number % len(chains)]
        drawn.append(made(chain, {name: draw(vary[name], name, number, seed) for name in found}, found))
    return sorted(drawn, key=lambda setting: [label(type(chain[0])) for chain in chains].index(setting.method))


def draw(values: Values, name: str, number: int, seed: int) -> Any:
    """A value of one option for setting `number`."""
    chance = stream(seed, "search", name, number)
    return values.at(chance.random()) if isinstance(values, Range) else values[int(chance.integers(len(values)))]


Takers = Mapping[str, list[tuple[int, str]]]  # varied name -> the stages that take it (from 0), and its full name


def all_takers(chains: Sequence[Sequence[MethodConfig]], names: Mapping[str, Any]) -> list[Takers]:
    """For each chain which of these names it takes; one that none takes is an error."""
    found = [takers(chain, names) for chain in chains]
    for name in names:
        if not any(name in one for one in found):
            every = {option for chain in chains for stage in chain for option in option_names(type(stage))}
            methods = " or ".join(dict.fromkeys(label(type(stage)) for chain in chains for stage in chain))
            raise unknown(f"option of {methods}", name, map(typed, every))
    return found


def with_options(chains: Sequence[Sequence[MethodConfig]], given: Mapping[str, Any]) -> list[list[MethodConfig]]:
    """Chains with options that all settings share; each goes to every stage that has it.

    Args:
        chains: for each method to be compared the stages of its runs.
        given: values by option, as typed or as they stand in Python.

    Returns:
        The chains with these options.

    Example:
        >>> from unbraid.methods import BetaTCVAE, FactorVAE
        >>> [chain[0].width for chain in with_options([[BetaTCVAE()], [FactorVAE()]], {"width": "0.5"})]
        [0.5, 0.5]
    """
    changed = []
    for chain, found in zip(chains, all_takers(chains, given), strict=True):
        setting = made(chain, {name: value for name, value in given.items() if name in found}, found)
        if setting.error:
            raise InputError(setting.error)
        changed.append(list(setting.stages))
    return changed


def takers(chain: Sequence[MethodConfig], names: Mapping[str, Any]) -> Takers:
    """Which of these names mean an option of which stage of a chain."""
    found: dict[str, list[tuple[int, str]]] = {}
    methods = [label(type(stage)) for stage in chain]
    for name in names:
        path = name.replace("-", "_")
        first, _, rest = path.partition(".")
        places = range(len(chain))
        if first.isdigit():
            places, path = range(int(first) - 1, min(int(first), len(chain))), rest
        else:
            named = first.replace("_", "-")
            if named in methods:
                places, path = range(methods.index(named), methods.index(named) + 1), rest
        there = [(place, full) for place in places if (full := full_name(type(chain[place]), path))]
        if there:
            found[name] = there
    return found


def full_name(cls: type, path: str) -> str:
    """An option by its own name, or by its last part if only one has it or the optimiser's: `lr` is `adam.lr`."""
    names = [name for name, _, _ in describe_options(cls)]
    if path in names:
        return path
    ending = [name for name in names if name.endswith(f".{path}")]
    if f"adam.{path}" in ending:
        return f"adam.{path}"
    return ending[0] if len(ending) == 1 else ""


def made(chain: Sequence[MethodConfig], values: Mapping[str, Any], found: Takers) -> Setting:
    """The setting with these values; what a method does not allow becomes its error."""
    method = label(type(chain[0]))
    jsons = [to_json(stage) for stage in chain]
    plain: dict[str, Any] = {}
    error = ""
    stages: tuple[MethodConfig, ...] = ()
    try:
        for name, value in values.items():
            for place, path in found[name]:
                given = whole(type(chain[place]), path, value)
                plain[name.removeprefix(f"{method}.")] = number(given)
                assign(type(chain[place]), jsons[place], path.split("."), given)
        stages = tuple(from_json(type(stage), json) for stage, json in zip(chain, jsons, strict=True))
        for stage in stages:
            check_bounds(stage)
    except InputError as refused:
        error = str(refused)
    return Setting(method, plain, () if error else stages, error)


def whole(cls: type, path: str, value: Any) -> Any:
    """A number that was drawn from a range, rounded where the option wants a whole one."""
    default = next(default for name, default, _ in describe_options(cls) if name == path)
    wants_whole = isinstance(default, int) and not isinstance(default, bool)
    return round(value) if wants_whole and isinstance(value, float) else value


def number(value: Any) -> Any:
    """Text that is a number as that number, for tables; all else as it is."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value
