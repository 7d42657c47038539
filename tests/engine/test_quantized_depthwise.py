"""The convolution of steps of each channel by itself."""

from dataclasses import replace

import numpy as np
import pytest

from edged.engine.layout import Element
from edged.engine.variants.quantized_depthwise import QUANTIZED_DEPTHWISE
from tests.engine.lab import Lab
from tests.engine.steps import BLOCKS, CONVOLUTIONS, assert_exact, conv, steps


@pytest.mark.parametrize("element", [Element.BYTE, Element.SHORT])
@pytest.mark.parametrize("name", ["depthwise", "depthwise sum"])
@pytest.mark.parametrize("block", BLOCKS)
def test_a_convolution_is_exact(lab: Lab, block: int, name: str, element: Element) -> None:
    assert_exact(lab, QUANTIZED_DEPTHWISE, name, block=block, element=element)


@pytest.mark.parametrize("parameters", [{"TILE": 1, "BAND": 1}, {"TILE": 3, "BAND": 4}, {"TILE": 7, "BAND": 7}])
def test_every_tile_gives_the_same(lab: Lab, parameters: dict[str, int]) -> None:
    assert_exact(lab, QUANTIZED_DEPTHWISE, "depthwise", block=8, parameters=parameters, element=Element.SHORT)


def test_it_takes_windows_and_biases_whose_sums_floats_hold(lab: Lab) -> None:
    x = [steps(1, 4, 20, 20)]
    small, large = (conv((4, 4), (side, side), groups=4, bounds=(0, 255)) for side in (15, 17))
    far = replace(small, bias=np.array([0, 0, -(2**31), 0], np.int32))
    assert QUANTIZED_DEPTHWISE.can_compute(lab.site(small, x, element=Element.SHORT))
    assert not QUANTIZED_DEPTHWISE.can_compute(lab.site(large, x, element=Element.SHORT))
    assert not QUANTIZED_DEPTHWISE.can_compute(lab.site(far, x, element=Element.SHORT))
    operator, shape = CONVOLUTIONS["3x3"]
    assert not QUANTIZED_DEPTHWISE.can_compute(lab.site(operator, [steps(*shape)], element=Element.SHORT))
