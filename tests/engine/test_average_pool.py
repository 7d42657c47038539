"""Mean over a window."""

import pytest

from edged.engine.variants.pool import AVERAGE_POOL
from edged.model import reference
from edged.model.graph import AveragePool
from tests.engine.lab import Lab, assert_close, random


@pytest.mark.parametrize("count_padding", [True, False])
@pytest.mark.parametrize("block", [1, 4, 16])
def test_a_window_over_the_edge(lab: Lab, block: int, count_padding: bool) -> None:
    pool = AveragePool("pool", ("x",), "y", (3, 2), (2, 2), (1, 0, 1, 1), count_padding)
    x = random(2, 21, 9, 8)

    assert_close(lab.compute(AVERAGE_POOL, pool, [x], block=block), reference.compute(pool, x))


def test_the_whole_image(lab: Lab) -> None:
    pool = AveragePool("pool", ("x",), "y", (7, 5))
    x = random(3, 40, 7, 5)

    assert_close(lab.compute(AVERAGE_POOL, pool, [x], block=16), reference.compute(pool, x))
