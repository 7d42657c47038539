"""Steps of values."""

import numpy as np
import pytest

from edged.engine.variants.steps import QUANTIZE
from edged.model import reference
from edged.model.graph import Quantize
from tests.engine.lab import Lab, random
from tests.engine.steps import BLOCKS


@pytest.mark.parametrize("block", BLOCKS)
def test_values_become_steps_within_the_bounds(lab: Lab, block: int) -> None:
    values = 2 * random(2, 21, 5, 7)  # a quarter of them outside the bounds
    quantize = Quantize("quantize", ("x",), "y", 0.0173, (-100, 155))
    found = lab.compute(QUANTIZE, quantize, [values], block=block)
    assert np.array_equal(found, reference.compute(quantize, values))
    assert (found.min(), found.max()) == (-100, 155)
