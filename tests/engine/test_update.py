"""The launches that change every weight: steps of SGD and Adam."""

import pytest

from edged.train.optimizer import Adam, Sgd
from tests.engine.lab import Lab
from tests.engine.training import assert_steps


@pytest.mark.parametrize(
    "how",
    [Sgd(weight_decay=0.1), Sgd(momentum=0.9), Sgd(momentum=0.9, nesterov=True, weight_decay=0.1)],
    ids=["plain", "momentum", "nesterov"],
)
def test_weights_of_sgd_follow_the_reference(lab: Lab, how: Sgd) -> None:
    assert_steps(lab, how)


@pytest.mark.parametrize(
    "how",
    [Adam(), Adam(weight_decay=0.1), Adam(beta1=0.8, beta2=0.99, weight_decay=0.1, decoupled=False)],
    ids=["plain", "decoupled", "coupled"],
)
def test_weights_of_adam_follow_the_reference(lab: Lab, how: Adam) -> None:
    assert_steps(lab, how)
