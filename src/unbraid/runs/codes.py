"""Codes of observations beside their factors: encoded once, read by every metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from unbraid.data.factor_data import Factor
from unbraid.data.optional import need
from unbraid.metrics import Table, stage_prefix
from unbraid.runs.chain import Chain, bounds, columns, flat, means
from unbraid.util.names import named_columns
from unbraid.util.seeds import stream

HELD_OUT = "held_out"  # the column that says so


@dataclass(frozen=True)
class CodeTable:
    """What codes.npz holds: the codes of every stage beside the factors. `table` gives one stage's as metrics read it.

    Example:
        >>> found = CodeTable({"codes": np.zeros((4, 2)), "columns": np.array(["z1", "z2"]), "rows": np.arange(4)})
        >>> found.columns, found.table().names
        (('z1', 'z2'), ())
    """

    arrays: Mapping[str, NDArray[Any]]
    given_names: Mapping[str, str] = field(default_factory=dict)  # what people have called codes

    @property
    def codes(self) -> NDArray[np.float32]:
        """[n, code]: mean codes of the first stage."""
        return self.arrays["codes"]

    @property
    def factors(self) -> NDArray[np.float64]:
        """[n, factor], NaN where unknown."""
        return self.arrays["factors"]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the first stage's codes."""
        return tuple(map(str, self.arrays["columns"]))

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Names of the factors."""
        return tuple(map(str, self.arrays["factor_names"]))

    @property
    def rows(self) -> NDArray[np.int64]:
        """Their place in the data set."""
        return self.arrays["rows"]

    @property
    def held_out(self) -> NDArray[np.bool_] | None:
        """Which rows were held out of training; None where none were."""
        return self.arrays.get("held_out")

    def of(self, part: str) -> CodeTable:
        """The rows of one part of the data: "all", "training" or "held-out"."""
        if part == "all" or self.held_out is None:
            return self
        chosen, count = self.held_out == (part == "held-out"), len(self.rows)
        rowwise = ("codes", "log_var", "factors", "rows", "held_out", "names")
        ours = {name: a for name, a in self.arrays.items() if name.rpartition("/")[2] in rowwise and len(a) == count}
        return replace(self, arrays={**self.arrays, **{name: array[chosen] for name, array in ours.items()}})

    def table(self, stage: int = 1) -> Table:
        """The codes of one stage and the factors, as every metric and page reads them."""
        return Table.from_arrays(self.arrays, stage)

    @property
    def names(self) -> tuple[str, ...]:
        """What the rows are called: file names, where they came from files; else their places in the data."""
        return tuple(map(str, self.arrays.get("names", self.rows)))

    def code_columns(self, *, all_stages: bool = False) -> dict[str, NDArray[Any]]:
        """Every code by the name it was given, else z1, z2, …; codes of later stages as stage-2/z1, …."""
        found: dict[str, NDArray[Any]] = {}
        stage = 1
        while f"{stage_prefix(stage)}codes" in self.arrays and (stage == 1 or all_stages):
            prefix = stage_prefix(stage)
            columns = [str(column) for column in self.arrays[f"{prefix}columns"]]
            shown = distinct(columns, named_columns(columns, dict(self.given_names), stage))
            found |= {
                f"{prefix}{name}": values for name, values in zip(shown, self.arrays[f"{prefix}codes"].T, strict=True)
            }
            stage += 1
        return found

    def known_columns(self) -> dict[str, NDArray[Any]]:
        """What is known beside the codes: whether a row was held out of training, if any was, and the factors."""
        held_out = {} if self.held_out is None else {HELD_OUT: self.held_out}
        return held_out | dict(zip(self.factor_names, self.factors.T, strict=True))

    def to_pandas(self, *, all_stages: bool = False) -> Any:
        """A DataFrame of codes and factors, indexed by file name or by the observation's place in the data.

        Args:
            all_stages: the codes of later stages too.
        """
        pandas = need("pandas")
        values = self.code_columns(all_stages=all_stages)
        values |= self.known_columns()
        named = "names" in self.arrays
        index = pandas.Index(self.names if named else self.rows, name="name" if named else "row")
        return pandas.DataFrame(values, index=index)

    def to_anndata(self) -> Any:
        """An AnnData: codes of all stages as X, a variable for each; the factors beside the observations."""
        anndata, pandas = need("anndata"), need("pandas")
        codes = self.code_columns(all_stages=True)
        factors = self.known_columns()
        return anndata.AnnData(
            np.stack(list(codes.values()), axis=1),
            obs=pandas.DataFrame(factors, index=list(self.names)),
            var=pandas.DataFrame(index=[name.replace("/", "-") for name in codes]),
        )


def distinct(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names as people gave them; where two codes share one, with the column's own name behind it.

    Example:
        >>> distinct(["z1", "z2", "z3"], ["hue", "hue", "z3"])
        ['hue (z1)', 'hue (z2)', 'z3']
    """
    shared = {name for name in names if names.count(name) > 1}
    return [f"{name} ({column})" if name in shared else name for column, name in zip(columns, names, strict=True)]


def encode_batches(chain: Chain, batches: Iterable[tuple[Tensor, Tensor]]) -> dict[str, NDArray[Any]]:
    """The codes of all stages for batches of (observations, labels), as they stand in codes.npz."""
    parts: dict[str, list[NDArray[Any]]] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for x, labels in batches:
        for number, q in enumerate(chain.encode(x, labels), 1):
            prefix = stage_prefix(number)
            arrays[f"{prefix}columns"] = np.array(columns(q))
            arrays[f"{prefix}bounds"] = np.array(bounds(q))
            found = {"codes": flat(means(q)), "kl": flat({key: p.kl_per_latent() for key, p in q.items()})}
            if all(hasattr(p, "log_var") for p in q.values()):
                found["log_var"] = flat({key: p.log_var for key, p in q.items()})  # type: ignore[attr-defined]
            for name, value in found.items():
                parts.setdefault(f"{prefix}{name}", []).append(value.float().cpu().numpy())
    for name, values in parts.items():
        joined = np.concatenate(values)
        if name.endswith("kl"):
            # A variable that is given has no finite KL: there is nothing to report of what the model found out.
            if np.isfinite(joined).all():
                arrays[f"{name.removesuffix('kl')}information"] = joined.mean(axis=0)
        else:
            arrays[name] = joined
    return arrays


def factor_columns(factors: NDArray[np.float64], info: tuple[Factor, ...]) -> dict[str, NDArray[Any]]:
    """The factors' side of codes.npz."""
    return {
        "factors": factors,
        "factor_names": np.array([factor.name for factor in info], dtype=str),
        "factor_sizes": np.array([factor.size for factor in info], dtype=np.int64),
        "factor_kinds": np.array([factor.kind for factor in info], dtype=str),
    }


def choose_rows(n: int, most: int | None, seed: int) -> NDArray[np.int64]:
    """All rows, or as many of them as asked for, chosen at random and in order."""
    if most is None or most >= n:
        return np.arange(n)
    return np.sort(stream(seed, "rows").choice(n, most, replace=False))
