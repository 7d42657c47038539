"""Values divided by what neighbouring channels hold."""

import numpy as np
import pytest

from edged.engine.variants.norms import LOCAL_RESPONSE_NORM
from edged.model import reference
from edged.model.graph import LocalResponseNorm
from tests.engine.lab import BLOCKS, Lab, assert_close, random


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("size", [1, 2, 5, 50])
def test_each_channel_is_divided_by_what_its_neighbours_hold(lab: Lab, size: int, block: int) -> None:
    norm = LocalResponseNorm("norm", ("x",), "y", size, alpha=0.5, beta=0.75, bias=2.0)
    x = random(2, 21, 5, 7)

    found = lab.compute(LOCAL_RESPONSE_NORM, norm, [x], block=block)

    assert_close(found, reference.compute(norm, x.astype(np.float64)))
