"""Images one below the other, or side by side."""

import numpy as np
import pytest

from edged.engine.variants.positions import JOIN
from edged.model import reference
from edged.model.graph import Join
from tests.engine.lab import BLOCKS, Lab, random


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("axis", [1, 2])
def test_images_are_joined_along_rows_or_columns(lab: Lab, axis: int, block: int) -> None:
    sides = [(3, 5), (1, 5), (4, 5)] if axis == 1 else [(5, 3), (5, 1), (5, 4)]
    inputs = [random(2, 18, *side) for side in sides]

    found = lab.compute(JOIN, Join("join", ("a", "b", "c"), "y", axis), inputs, block=block)

    assert np.array_equal(found, np.concatenate(inputs, axis=axis + 1))


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("place", [0, 1])
def test_a_constant_is_joined_with_each_frame(lab: Lab, place: int, block: int) -> None:
    join = Join("join", ("x",), "y", 2, random(18, 1, 2), place)
    x = random(3, 18, 1, 7)

    found = lab.compute(JOIN, join, [x], block=block)

    assert np.array_equal(found, reference.compute(join, x))
