"""Channels in another order."""

import numpy as np
import pytest

from edged.engine.variants.channels import SELECT_CHANNELS
from edged.model.graph import SelectChannels
from tests.engine.lab import BLOCKS, Lab, random


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("order", [(0,), (20, 3, 3, 0, 19), tuple(range(21))[::-1], tuple(range(5, 18))])
def test_channels_come_in_the_order_that_is_given(lab: Lab, order: tuple[int, ...], block: int) -> None:
    x = random(2, 21, 5, 7)

    found = lab.compute(SELECT_CHANNELS, SelectChannels("select", ("x",), "y", order), [x], block=block)

    assert np.array_equal(found, x[:, list(order)])
