"""Every method through one contract."""

import pytest

from small_methods import SMALL
from unbraid import methods
from unbraid.core import MethodConfig
from unbraid.training.contract import check_method, check_processes


@pytest.mark.parametrize("config", SMALL, ids=lambda config: config.name)
def test_method_keeps_the_contract(config: MethodConfig) -> None:
    check_method(config, processes=1)


def test_every_method_is_checked_here() -> None:
    assert {type(config) for config in SMALL} == set(methods.METHODS)


def test_two_processes_that_train_together_hold_the_same_weights() -> None:
    check_processes(SMALL)
