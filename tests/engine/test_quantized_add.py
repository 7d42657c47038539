"""Steps of a sum."""

import numpy as np
import pytest

from edged.engine.layout import Element
from edged.engine.variants.steps import QUANTIZED_ADD
from edged.model import reference
from edged.model.graph import QuantizedAdd
from tests.engine.lab import Lab
from tests.engine.steps import BLOCKS, steps


@pytest.mark.parametrize("block", BLOCKS)
def test_a_sum_is_exact(lab: Lab, block: int) -> None:
    add = QuantizedAdd("add", ("x", "z"), "y", (0.731, 1.37), (0, 255))
    inputs = [steps(2, 21, 25, 27), steps(2, 21, 25, 27)]
    found = lab.compute(QUANTIZED_ADD, add, inputs, block=block, element=Element.SHORT)
    assert np.array_equal(found, reference.compute(add, *inputs))
