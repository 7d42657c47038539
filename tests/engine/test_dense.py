"""Fully connected layer."""

import numpy as np
import pytest

from edged.engine.variants.dense import DENSE
from edged.model import reference
from edged.model.activations import LINEAR, RELU
from edged.model.graph import Dense
from tests.engine.lab import Lab, assert_close, random


@pytest.mark.parametrize("block", [1, 4, 16])
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (37, 11), (512, 100)])
def test_any_size(lab: Lab, inputs: int, outputs: int, block: int) -> None:
    dense = Dense(
        "dense",
        ("x",),
        "y",
        random(outputs, inputs),
        random(outputs),
        activation=RELU if outputs == 11 else LINEAR,
    )
    x = random(3, inputs)

    found = lab.compute(DENSE, dense, [x], block=block)

    assert_close(found, reference.compute(dense, x.astype(np.float64)))
