"""Stochastic gradient descent on the device."""

import pytest

from edged.train.optimizer import Sgd
from tests.engine.lab import Lab
from tests.engine.training import assert_steps


@pytest.mark.parametrize(
    "how",
    [Sgd(weight_decay=0.1), Sgd(momentum=0.9), Sgd(momentum=0.9, nesterov=True, weight_decay=0.1)],
    ids=["plain", "momentum", "nesterov"],
)
def test_weights_follow_the_reference(lab: Lab, how: Sgd) -> None:
    assert_steps(lab, how)
