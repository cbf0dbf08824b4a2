"""Factors that are not uniform or not independent: weights on the grid of factors, and the β-TCVAE paper's four.

>>> joint = configuration("D", 4, 4)          # correlated: the likeliest cell weighs 4 times the least likely
>>> round(float(joint.max() / joint.min()), 6)
4.0
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.data.factor_data import FactorData
from unbraid.errors import InputError, unknown

Configuration = Literal["A", "B", "C", "D"]
RATIO = 4.0  # the most likely sample is 4 times as likely as the least likely one (Chen et al. 2018, fig. 5)
Weights = Mapping[str | tuple[str, ...], ArrayLike]


def configuration(name: Configuration, first: int, second: int, ratio: float = RATIO) -> NDArray[np.float64]:
    """Weights of two factors with `first` and `second` values, [first, second] (Chen et al. 2018, §6.2.1).

    A: uniform and independent. B: not uniform, yet independent. C: dependent, yet uncorrelated. D: correlated. The
    paper shows the four as pictures; these are made to its description.
    """
    u, v = np.linspace(-1, 1, first)[:, None], np.linspace(-1, 1, second)[None, :]
    match name:
        case "A":
            exponent = np.zeros((first, second))
        case "B":
            exponent = (2 + u + v) / 4  # a sum in the exponent is a product of two marginals
        case "C":
            exponent = np.abs(u * v)  # even in both factors, so their covariance vanishes
        case "D":
            exponent = (1 + u * v) / 2
        case _:
            raise unknown("configuration", str(name), get_args(Configuration))
    return np.asarray(ratio**exponent)


def row_weights(data: FactorData, weights: Weights) -> NDArray[np.float64]:
    """A probability for every observation, from tables of weights for factors or groups of them, multiplied.

    `{"shape": [3, 1, 1], ("x", "y"): configuration("D", 32, 32)}` makes squares three times as likely as the other
    shapes and correlates the position; factors that are not named stay as they are.
    """
    product = np.ones(len(data))
    for names, table in weights.items():
        group = (names,) if isinstance(names, str) else names
        values = np.asarray(table, dtype=np.float64)
        sizes = tuple(_size(data, name) for name in group)
        if values.shape != sizes:
            raise InputError(
                f"weights of {' × '.join(group)} need the shape {list(sizes)}, one weight for each combination, "
                f"not {list(values.shape)}."
            )
        if not np.isfinite(values).all() or (values < 0).any():
            raise InputError(f"weights of {' × '.join(group)} must be numbers of at least 0.")
        columns = [data.column(name) for name in group]
        if np.isnan(columns).any():
            raise InputError(f"{data.name} lacks some labels of {' × '.join(group)}, so its rows cannot be weighed.")
        product *= values[tuple(column.astype(np.int64) for column in columns)]
    if product.sum() == 0:
        raise InputError(f"these weights leave no observation of {data.name} with a chance.")
    return np.asarray(product / product.sum())


def sample(data: FactorData, weights: Weights, *, size: int | None = None, seed: int = 0) -> FactorData:
    """Observations drawn with replacement, each as often as its factors weigh.

    Training on the sample is training under that joint distribution. Score on `data` itself: there the factors stay
    independent, as metrics assume.

    Args:
        data: the data set, with all labels of the factors that are named.
        weights: for each factor, or group of factors, an array with a weight for each (combination of) value.
        size: of the sample; as many as there are by default.
        seed: of the draw.

    Returns:
        The sample, in memory.
    """
    chances = row_weights(data, weights)
    rows = np.random.default_rng(seed).choice(len(data), size or len(data), p=chances)
    return data.take(np.sort(rows), name=f"{data.name}, weighted by {_names(weights)}")


def _size(data: FactorData, name: str) -> int:
    if name not in data.factor_names:
        raise unknown("factor", name, data.factor_names)
    size = data.factor_info[data.factor_names.index(name)].size
    if not size:
        raise InputError(f"factor {name!r} is continuous; weights need factors with countable values.")
    return size


def _names(weights: Weights) -> str:
    return ", ".join(names if isinstance(names, str) else "×".join(names) for names in weights)
