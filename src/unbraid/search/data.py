"""The data set of a search as its processes share it: loaded or received once by each, not with every trial."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unbraid.data.factor_data import FactorData
from unbraid.data.load import load
from unbraid.util.schema import digest, to_json

MOST = 4  # data sets that a process keeps
_known: OrderedDict[str, FactorData] = OrderedDict()


@dataclass(frozen=True)
class SharedData:
    """A data set that other processes make again by name, or map into memory."""

    data: FactorData

    def __reduce__(self) -> tuple[Any, ...]:
        """By name where `load` made it; else by its arrays, which joblib maps and Ray sends once to each machine."""
        data = self.data
        if data.arguments is not None:
            return shared_by_name, (data.name, dict(data.arguments))
        parts = (data.name, data.observations, data.factors, data.factor_info, data.fingerprint, data.preprocessing)
        return shared_arrays, parts


def shared_by_name(name: str, arguments: dict[str, Any]) -> SharedData:
    """The data set that `load` gives, loaded once in this process."""
    return SharedData(known_data(digest([name, to_json(arguments)]), lambda: load(name, **arguments)))


def shared_arrays(*parts: Any) -> SharedData:
    """The data set of these arrays, the same object every time in this process."""
    name, observations, factors, info, fingerprint, preprocessing = parts
    return SharedData(
        known_data(
            fingerprint,
            lambda: FactorData(name, observations, factors, info, fingerprint, preprocessing=preprocessing),
        )
    )


def known_data(key: str, make: Callable[[], FactorData]) -> FactorData:
    """A data set that this process has, or has now."""
    if key not in _known:
        _known[key] = make()
        while len(_known) > MOST:
            _known.popitem(last=False)
    return _known[key]
