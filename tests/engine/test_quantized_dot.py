"""The convolution of bytes by a processor's dot products, and in plain OpenCL C."""

import pytest

from edged.engine.device import Device
from edged.engine.instructions import LANES, OF_BYTES
from edged.engine.layout import Element
from edged.engine.variants.quantized_dot import QUANTIZED_DOT
from tests.engine.lab import PLAIN, Lab, lab_with
from tests.engine.steps import BLOCKS, CONVOLUTIONS, EACH_CONVOLUTION, assert_exact, in_bytes, steps

NO_PREFETCH = {"PREFETCH": 0, "AHEAD": 0, "SHARE": 0, "NEXT_PIXELS": 0}
MUCH_PREFETCH = {"PREFETCH": 2, "AHEAD": 8, "SHARE": 1, "NEXT_PIXELS": 1}


@pytest.fixture(scope="module", params=[PLAIN, *OF_BYTES])
def lab(request: pytest.FixtureRequest, device: Device) -> Lab:
    """A device that multiplies in one way alone."""
    return lab_with(device, request.param)


@pytest.mark.parametrize("name", EACH_CONVOLUTION)
@pytest.mark.parametrize("block", BLOCKS)
def test_a_convolution_is_exact(lab: Lab, block: int, name: str) -> None:
    assert_exact(lab, QUANTIZED_DOT, name, block=block, element=Element.BYTE)


@pytest.mark.parametrize(
    ("tile", "prefetch"), [((1, 1, 1, 5), NO_PREFETCH), ((2, 2, 3, 2), MUCH_PREFETCH), ((2, 1, 7, 1), NO_PREFETCH)]
)
def test_every_tile_gives_the_same(lab: Lab, tile: tuple[int, int, int, int], prefetch: dict[str, int]) -> None:
    parameters = dict(zip(("OUTS", "TILE_H", "TILE_W", "TILE_RUN"), tile, strict=True)) | prefetch
    block = min([8, *(LANES[name] for name in lab.device.instructions)])
    assert_exact(lab, QUANTIZED_DOT, "3x3", block=block, parameters=parameters, element=Element.BYTE)


def test_it_multiplies_bytes_alone(lab: Lab) -> None:
    operator, shape = CONVOLUTIONS["3x3"]
    x = [steps(*shape, largest=100)]
    assert QUANTIZED_DOT.can_compute(lab.site(in_bytes(operator), x, element=Element.BYTE))
    assert not QUANTIZED_DOT.can_compute(lab.site(operator, x, element=Element.BYTE))
    assert not QUANTIZED_DOT.can_compute(lab.site(in_bytes(operator), x, element=Element.SHORT))
