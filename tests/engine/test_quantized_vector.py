"""The convolution of steps for CPUs with wide vectors."""

import pytest

from edged.engine.layout import Element
from edged.engine.variants.quantized_vector import QUANTIZED_VECTOR
from tests.engine.lab import Lab
from tests.engine.steps import BLOCKS, CONVOLUTIONS, EACH_CONVOLUTION, assert_exact, steps

NO_PREFETCH = {"PREFETCH": 0, "AHEAD": 0, "SHARE": 0, "NEXT_PIXELS": 0}
MUCH_PREFETCH = {"PREFETCH": 2, "AHEAD": 8, "SHARE": 1, "NEXT_PIXELS": 1}


@pytest.mark.parametrize("name", EACH_CONVOLUTION)
@pytest.mark.parametrize("block", BLOCKS)
def test_a_convolution_is_exact(lab: Lab, block: int, name: str) -> None:
    assert_exact(lab, QUANTIZED_VECTOR, name, block=block, element=Element.SHORT)


@pytest.mark.parametrize(
    ("tile", "prefetch"), [((1, 1, 1, 5), NO_PREFETCH), ((2, 2, 3, 2), MUCH_PREFETCH), ((2, 1, 7, 1), NO_PREFETCH)]
)
def test_every_tile_gives_the_same(lab: Lab, tile: tuple[int, int, int, int], prefetch: dict[str, int]) -> None:
    parameters = dict(zip(("OUTS", "TILE_H", "TILE_W", "TILE_RUN"), tile, strict=True)) | prefetch
    assert_exact(lab, QUANTIZED_VECTOR, "3x3", block=8, parameters=parameters, element=Element.SHORT)


def test_it_takes_steps_alone(lab: Lab) -> None:
    operator, shape = CONVOLUTIONS["3x3"]
    assert QUANTIZED_VECTOR.can_compute(lab.site(operator, [steps(*shape)], element=Element.SHORT))
    assert not QUANTIZED_VECTOR.can_compute(lab.site(operator, [steps(*shape)]))
