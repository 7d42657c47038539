"""One number for each pixel, of its channels."""

import numpy as np
import pytest

from edged.engine.variants.channels import REDUCE_CHANNELS
from edged.model import reference
from edged.model.graph import ReduceChannels
from tests.engine.lab import BLOCKS, Lab, assert_close, random


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("kind", reference.REDUCTIONS)
@pytest.mark.parametrize("sign", [-1, 1])
def test_channels_beyond_the_last_do_not_count(lab: Lab, kind: str, sign: int, block: int) -> None:
    reduction = ReduceChannels("reduce", ("x",), "y", kind)
    x = sign * (np.abs(random(2, 21, 5, 7)) + 1)

    found = lab.compute(REDUCE_CHANNELS, reduction, [x], block=block)

    assert_close(found, reference.compute(reduction, x.astype(np.float64)))


@pytest.mark.parametrize("kind", reference.REDUCTIONS)
def test_a_nan_stays_one(lab: Lab, kind: str) -> None:
    x = random(1, 21, 2, 2)
    x[0, 5, 1, 1] = np.nan

    found = lab.compute(REDUCE_CHANNELS, ReduceChannels("reduce", ("x",), "y", kind), [x])

    assert np.isnan(found[0, 0]).tolist() == [[False, False], [False, True]]
