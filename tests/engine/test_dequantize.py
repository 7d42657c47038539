"""Values of steps."""

import numpy as np
import pytest

from edged.engine.layout import Element
from edged.engine.variants.steps import DEQUANTIZE
from edged.model import reference
from edged.model.graph import Dequantize
from tests.engine.lab import Lab
from tests.engine.steps import BLOCKS, steps


@pytest.mark.parametrize("block", BLOCKS)
def test_steps_become_values(lab: Lab, block: int) -> None:
    x = steps(2, 21, 5, 7)
    dequantize = Dequantize("dequantize", ("x",), "y", 0.0173)
    found = lab.compute(DEQUANTIZE, dequantize, [x], block=block, element=Element.SHORT)
    assert np.array_equal(found, reference.compute(dequantize, x))
