"""Values in another order."""

import numpy as np
import pytest

from edged.engine.variants.positions import REARRANGE
from edged.model import reference
from edged.model.graph import Rearrange
from tests.engine.lab import BLOCKS, Lab, random

# Of an image of 32 channels, 3 rows, 5 columns.
ORDERS = {
    "rows as columns": Rearrange("turn", ("x",), "y", (32, 5, 3), (32, 5, 3), (15, 1, 5)),
    "pixels as channels": Rearrange("turn", ("x",), "y", (15, 32, 1), (15, 32), (1, 15)),
    "channels in two heads": Rearrange("split", ("x",), "y", (16, 2, 15), (16, 2, 15), (15, 240, 1)),
    "the last half of the channels": Rearrange("cut", ("x",), "y", (16, 3, 5), (240,), (1,), 240),
    "each channel backwards": Rearrange("flip", ("x",), "y", (32, 15, 1), (32, 15), (15, -1), 14),
    "one value over and over": Rearrange("repeat", ("x",), "y", (7, 2, 2), (7, 4), (15, 0), 3),
    "a vector of some": Rearrange("pick", ("x",), "y", (9,), (9,), (50,)),
}


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("order", ORDERS)
def test_values_come_in_the_order_of_the_strides(lab: Lab, order: str, block: int) -> None:
    x = random(2, 32, 3, 5)

    found = lab.compute(REARRANGE, ORDERS[order], [x], block=block)

    assert np.array_equal(found, reference.compute(ORDERS[order], x))


def test_blocks_of_channels_move_as_a_whole_where_they_stay_together(lab: Lab) -> None:
    split, turned = (
        lab.site(ORDERS[order], [random(1, 32, 3, 5)], block=16)
        for order in ("channels in two heads", "pixels as channels")
    )

    whole = [REARRANGE.launches(site, {})[0].defines["WHOLE_BLOCKS"] for site in (split, turned)]

    assert whole == [1, 0]
