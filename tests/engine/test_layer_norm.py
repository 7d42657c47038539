"""The norm of the channels of each pixel."""

import numpy as np
import pytest

from edged.engine.variants.norms import LAYER_NORM
from edged.model import reference
from edged.model.graph import LayerNorm
from tests.engine.lab import BLOCKS, Lab, assert_close, random


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("shape", [(2, 21, 5, 7), (2, 96, 1, 50), (3, 33), (2, 1, 2, 2)])
def test_each_pixel_is_normalised(lab: Lab, shape: tuple[int, ...], block: int) -> None:
    norm = LayerNorm("norm", ("x",), "y", random(shape[1]), random(shape[1]), 1e-6)
    x = random(*shape) * 3 + 50  # far from zero: squares of the values themselves would lose all digits

    found = lab.compute(LAYER_NORM, norm, [x], block=block)

    assert_close(found, reference.compute(norm, x.astype(np.float64)), 1e-4)
