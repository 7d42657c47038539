"""Maximum over a window."""

import numpy as np
import pytest

from edged.engine.variants.pool import MAX_POOL
from edged.model import reference
from edged.model.graph import MaxPool, Pads
from tests.engine.lab import Lab, random


@pytest.mark.parametrize("block", [1, 4, 16])
@pytest.mark.parametrize("pads", [(0, 0, 0, 0), (1, 1, 1, 1), (0, 1, 2, 1)])
def test_padding_never_wins(lab: Lab, pads: Pads, block: int) -> None:
    pool = MaxPool("pool", ("x",), "y", (3, 3), (2, 1), pads)
    below_zero = -abs(random(2, 21, 9, 7))

    found = lab.compute(MAX_POOL, pool, [below_zero], block=block)

    assert np.array_equal(found, reference.compute(pool, below_zero))


def test_a_nan_stays(lab: Lab) -> None:
    pool = MaxPool("pool", ("x",), "y", (2, 2), (2, 2))
    x = random(1, 4, 4, 4)
    x[0, 1, 0, 0] = np.nan

    found = lab.compute(MAX_POOL, pool, [x])

    assert np.isnan(found).sum() == 1
