"""Adam on the device."""

import pytest

from edged.train.optimizer import Adam
from tests.engine.lab import Lab
from tests.engine.training import assert_steps


@pytest.mark.parametrize(
    "how",
    [Adam(), Adam(weight_decay=0.1), Adam(beta1=0.8, beta2=0.99, weight_decay=0.1, decoupled=False)],
    ids=["plain", "decoupled", "coupled"],
)
def test_weights_follow_the_reference(lab: Lab, how: Adam) -> None:
    assert_steps(lab, how)
