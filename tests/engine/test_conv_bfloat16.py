"""The convolution of bfloat16 by a processor's dot products, and in plain OpenCL C."""

from typing import Any

import numpy as np
import pytest

from edged.engine.device import Device
from edged.engine.instructions import AVX512_BF16
from edged.engine.layout import Element
from edged.engine.variants.conv_bfloat16 import CONV_BFLOAT16
from edged.model import reference
from tests.engine.lab import PLAIN, Lab, assert_close, lab_with
from tests.engine.shapes import Case, case

ROUNDED = 1e-2  # of the range: inputs and weights have 8 bits
CASES = {
    "3x3": case((20, 21), (9, 11), block=16, pads=(1, 1, 1, 1), frames=2, residual=True),
    "1x1": case((33, 24), (8, 5), (1, 1), block=8),
    "strides": case((16, 8), (12, 13), (5, 3), block=4, strides=(2, 3), pads=(2, 0, 1, 1)),
    "image": case((3, 24), (9, 8), (5, 3), block=16, input_block=4, strides=(2, 2), pads=(2, 1, 0, 3)),
    "groups": case((16, 16), (7, 7), block=4, groups=4, pads=(1, 1, 1, 1)),
    "one pixel": case((70, 10), (1, 1), (1, 1), block=16, frames=3),
}


@pytest.fixture(scope="module", params=[PLAIN, AVX512_BF16])
def lab(request: pytest.FixtureRequest, device: Device) -> Lab:
    """A device that multiplies in one way alone."""
    return lab_with(device, request.param)


@pytest.mark.parametrize("name", CASES)
def test_a_convolution_is_close_to_the_reference(lab: Lab, name: str) -> None:
    one: Case = CASES[name]
    layout: dict[str, Any] = {"block": one.block, "input_block": one.input_block, "element": Element.BFLOAT16}
    assert CONV_BFLOAT16.can_compute(lab.site(one.conv, one.inputs, **layout))

    found = lab.compute(CONV_BFLOAT16, one.conv, one.inputs, **layout)

    assert_close(found, reference.compute(one.conv, *(x.astype(np.float64) for x in one.inputs)), ROUNDED)


def test_it_multiplies_bfloat16_alone(lab: Lab) -> None:
    one = CASES["3x3"]
    assert not CONV_BFLOAT16.can_compute(lab.site(one.conv, one.inputs, block=16))
    assert not CONV_BFLOAT16.can_compute(lab.site(one.conv, one.inputs, block=1, element=Element.BFLOAT16))
