"""One table from the file that encoding writes to the page that shows it."""

from __future__ import annotations

import numpy as np
import pytest

from unbraid import metrics as m
from unbraid.errors import InputError

ARRAYS = {
    "codes": np.array([[0.0, 2.0], [1.0, 0.0]], dtype=np.float32),
    "columns": np.array(["z1", "u1"]),
    "log_var": np.log(np.array([[1.0, 0.5], [1.0, 0.5]])),
    "factors": np.array([[0.0, np.nan], [1.0, 3.0]]),
    "factor_names": np.array(["colour", "turn"]),
    "factor_kinds": np.array(["categorical", "cyclic"]),
    "factor_sizes": np.array([2, 8]),
    "stage-2/codes": np.zeros((2, 3)),
    "stage-2/information": np.zeros(3),
}


def test_a_table_holds_what_the_file_holds() -> None:
    table = m.Table.from_arrays(ARRAYS)
    assert (table.columns, table.names, table.kinds) == (("z1", "u1"), ("colour", "turn"), ("categorical", "cyclic"))
    assert table.periods == (0.0, 8.0)
    # KL = ½(μ² + σ² − log σ² − 1): ½·(0 + 1)/2 for the first latent, of means 0 and 1.
    first, second = 0.25, 0.5 * ((4 + 0) / 2 + 0.5 - np.log(0.5) - 1)
    assert table.information == pytest.approx([first, second])
    later = m.Table.from_arrays(ARRAYS, stage=2)
    assert later.columns == ("z1", "z2", "z3")
    assert later.information is None, "codes drawn from their prior have no information"
    assert later.names == table.names


def test_a_table_as_it_is_can_be_shown_but_not_scored() -> None:
    broken = ARRAYS | {"codes": np.array([[np.nan, 2.0], [1.0, 0.0]])}
    table = m.Table.from_arrays(broken)
    with pytest.raises(InputError, match=r"codes hold NaN \(first at \(0, 0\)\)"):
        m.mcc(table)
    with pytest.raises(InputError, match="3 columns for 2 latents"):
        m.mcc(m.Table.from_arrays(ARRAYS | {"columns": np.array(["a", "b", "c"])}))
    with pytest.raises(InputError, match="1 names for 2 factors"):
        m.mcc(m.Table.from_arrays(ARRAYS | {"factor_names": np.array(["a"])}))
