"""An image becomes a vector."""

import numpy as np
import pytest

from edged.engine.variants.positions import FLATTEN
from edged.model import reference
from edged.model.graph import Flatten
from tests.engine.lab import Lab, random


@pytest.mark.parametrize("block", [1, 4, 16])
def test_the_order_is_channel_row_column(lab: Lab, block: int) -> None:
    flatten = Flatten("flatten", ("x",), "y")
    x = random(2, 21, 3, 5)

    assert np.array_equal(lab.compute(FLATTEN, flatten, [x], block=block), reference.compute(flatten, x))
