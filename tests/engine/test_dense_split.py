"""Fully connected layer whose inputs are shared among the work-items of a group."""

import numpy as np
import pytest

from edged.engine.variants.dense import DENSE_SPLIT
from edged.model import reference
from edged.model.activations import LINEAR, RELU
from edged.model.graph import Dense
from tests.engine.lab import Lab, assert_close, random


@pytest.mark.deep
@pytest.mark.parametrize("block", [1, 4, 16])
@pytest.mark.parametrize(("inputs", "outputs", "group"), [(1, 1, 1), (37, 11, 7), (512, 100, 64), (90, 9, 13)])
def test_any_size_by_a_group_of_any_size(lab: Lab, inputs: int, outputs: int, group: int, block: int) -> None:
    dense = Dense(
        "dense",
        ("x",),
        "y",
        random(outputs, inputs),
        random(outputs),
        activation=RELU if outputs == 11 else LINEAR,
    )
    x = random(3, inputs)

    found = lab.compute(DENSE_SPLIT, dense, [x], block=block, parameters={"GROUP": group})

    assert_close(found, reference.compute(dense, x.astype(np.float64)))
