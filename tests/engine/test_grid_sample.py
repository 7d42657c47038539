"""Images at positions between their pixels."""

import numpy as np
import pytest

from edged.engine.variants.positions import GRID_SAMPLE
from edged.model import reference
from edged.model.graph import GridSample
from tests.engine.lab import BLOCKS, Lab, assert_close, random


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("images", [1, 3])
@pytest.mark.parametrize("align_corners", [False, True])
def test_each_image_is_sampled_at_positions_of_its_own(
    lab: Lab, align_corners: bool, images: int, block: int
) -> None:
    sample = GridSample("sample", ("x", "z"), "y", images, align_corners)
    x, positions = random(2, 21, 5 * images, 7), 0.8 * random(2, 2, 4 * images, 3)  # a fifth of them outside

    found = lab.compute(GRID_SAMPLE, sample, [x, positions], block=block)

    assert_close(found, reference.compute(sample, x.astype(np.float64), positions.astype(np.float64)))


def test_at_no_position_nothing_is_read(lab: Lab) -> None:
    sample = GridSample("sample", ("x", "z"), "y", 1, align_corners=True)
    x, positions = np.full((1, 4, 2, 2), np.inf, np.float32), np.zeros((1, 2, 1, 4), np.float32)
    positions[0, 0, 0] = np.nan, np.inf, -5.0, 1e30

    found = lab.compute(GRID_SAMPLE, sample, [x, positions])

    assert not found.any()
    assert not reference.compute(sample, x, positions).any()
