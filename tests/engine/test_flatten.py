"""An image becomes a vector."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from edged.engine.device import Kind
from edged.engine.variants.positions import FLATTEN
from edged.model import reference
from edged.model.graph import Flatten
from tests.engine.lab import Lab, random


@pytest.mark.parametrize("block", [1, 4, 16])
@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_the_order_is_channel_row_column(lab: Lab, block: int, kind: Kind) -> None:
    like = copy(lab)
    like.device = replace(lab.device, kind=kind)  # each has a kernel of its own
    flatten = Flatten("flatten", ("x",), "y")
    x = random(2, 21, 3, 5)

    assert np.array_equal(like.compute(FLATTEN, flatten, [x], block=block), reference.compute(flatten, x))
