"""Images of another size."""

from typing import Any

import numpy as np
import pytest

from edged.engine.variants.positions import INTERPOLATE
from edged.model import reference
from edged.model.border import MODES, border
from edged.model.graph import Interpolate
from tests.engine.lab import BLOCKS, RANDOM, Lab, assert_close, random


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("taps", [1, 2, 4])
@pytest.mark.parametrize("size", [(1, 1), (3, 11), (10, 14)])
def test_each_pixel_is_a_sum_of_a_few(lab: Lab, size: tuple[int, int], taps: int, block: int) -> None:
    places = [RANDOM.integers(0, side, (count, taps), np.int32) for side, count in zip((5, 7), size, strict=True)]
    weights = [random(count, taps) for count in size]
    resize = Interpolate("resize", ("x",), "y", places[0], weights[0], places[1], weights[1])
    x = random(2, 21, 5, 7)

    found = lab.compute(INTERPOLATE, resize, [x], block=block)

    assert_close(found, reference.compute(resize, x.astype(np.float64)))


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("mode", MODES)
def test_a_border_is_zeros_or_pixels_of_the_image(lab: Lab, mode: Any, block: int) -> None:
    x = random(2, 21, 5, 7)
    padded = border("pad", "x", (21, 5, 7), (4, 0, 1, 6), mode)

    found = lab.compute(INTERPOLATE, padded, [x], block=block)

    assert np.array_equal(found, np.pad(x, [(0, 0), (0, 0), (4, 1), (0, 6)], mode=mode))
