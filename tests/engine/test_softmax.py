"""Softmax over the channels."""

import numpy as np
import pytest

from edged.engine.variants.channels import SOFTMAX
from edged.model import reference
from edged.model.graph import Softmax
from tests.engine.lab import Lab, assert_close, random


@pytest.mark.parametrize("is_log", [False, True])
@pytest.mark.parametrize("block", [1, pytest.param(4, marks=pytest.mark.deep), 16])
@pytest.mark.parametrize("shape", [(2, 11), (2, 1000), (1, 5, 3, 2), (1, 33, 3, 50)])
def test_large_values_do_not_overflow(lab: Lab, shape: tuple[int, ...], block: int, is_log: bool) -> None:
    softmax = Softmax("softmax", ("x",), "y", is_log)
    x = random(*shape) * 200

    found = lab.compute(SOFTMAX, softmax, [x], block=block)

    assert_close(found, reference.compute(softmax, x.astype(np.float64)))
