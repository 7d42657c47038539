"""The plain convolution of steps, which works on any layout."""

import pytest

from edged.engine.layout import Element
from edged.engine.variants.quantized_naive import QUANTIZED_NAIVE
from tests.engine.lab import Lab
from tests.engine.steps import BLOCKS, EACH_CONVOLUTION, assert_exact


@pytest.mark.parametrize("name", EACH_CONVOLUTION)
@pytest.mark.parametrize("block", BLOCKS)
def test_a_convolution_is_exact(lab: Lab, block: int, name: str) -> None:
    assert_exact(lab, QUANTIZED_NAIVE, name, block=block, element=Element.SHORT)


@pytest.mark.parametrize("element", [Element.BYTE, Element.FLOAT32])
def test_steps_that_came_otherwise_are_convolved_as_well(lab: Lab, element: Element) -> None:
    assert_exact(lab, QUANTIZED_NAIVE, "3x3", element=element)
