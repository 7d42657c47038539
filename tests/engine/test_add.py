"""Element-wise sum."""

import numpy as np
import pytest

from edged.engine.variants.elementwise import ADD
from edged.model import reference
from edged.model.activations import LINEAR, RELU
from edged.model.graph import Add
from tests.engine.lab import Lab, random


@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("block", [1, 4, 16])
def test_two_images(lab: Lab, block: int, relu: bool) -> None:
    add = Add("add", ("x", "z"), "y", RELU if relu else LINEAR)
    inputs = [random(2, 21, 5, 7), random(2, 21, 5, 7)]

    assert np.array_equal(lab.compute(ADD, add, inputs, block=block), reference.compute(add, *inputs))
