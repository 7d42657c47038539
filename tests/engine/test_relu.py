"""max(x, 0)."""

import numpy as np
import pytest

from edged.engine.variants.relu import RELU
from edged.model.graph import Relu
from tests.engine.lab import Lab, random


@pytest.mark.parametrize("block", [1, 4, 16])
def test_what_is_below_zero_goes_and_a_nan_stays(lab: Lab, block: int) -> None:
    x = random(2, 21, 5, 7)
    x[1, 2, 3, 4] = np.nan

    found = lab.compute(RELU, Relu("relu", ("x",), "y"), [x], block=block)

    assert np.array_equal(found, np.maximum(x, 0), equal_nan=True)
