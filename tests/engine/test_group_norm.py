"""The norm of groups of channels of an image."""

import numpy as np
import pytest

from edged.engine.variants.norms import GROUP_NORM
from edged.model import reference
from edged.model.graph import GroupNorm
from tests.engine.lab import BLOCKS, Lab, assert_close, random


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("groups", [1, 3, 21])
def test_each_group_is_normalised_over_the_image(lab: Lab, groups: int, block: int) -> None:
    norm = GroupNorm("norm", ("x",), "y", groups, random(21), random(21), 1e-3)
    x = random(2, 21, 5, 7) + np.arange(21, dtype=np.float32)[:, np.newaxis, np.newaxis] * 10

    found = lab.compute(GROUP_NORM, norm, [x], block=block)

    assert_close(found, reference.compute(norm, x.astype(np.float64)))
