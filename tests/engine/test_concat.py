"""Channels of several tensors, one behind the other."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from edged.engine.device import Kind
from edged.engine.variants.channels import CONCAT
from edged.model.graph import Concat
from tests.engine.lab import BLOCKS, Lab, random


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("channels", [(16, 32), (5, 3, 20), (33, 1), (1, 1, 1, 1, 1), (4, 1, 80)])
def test_channels_lie_one_behind_the_other(lab: Lab, channels: tuple[int, ...], block: int) -> None:
    names = tuple(f"x{place}" for place in range(len(channels)))
    inputs = [random(2, count, 5, 7) for count in channels]

    found = lab.compute(CONCAT, Concat("concat", names, "y"), inputs, block=block)

    assert np.array_equal(found, np.concatenate(inputs, axis=1))


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_features_lie_one_behind_the_other(lab: Lab, kind: Kind, block: int) -> None:
    like = copy(lab)
    like.device = replace(lab.device, kind=kind)  # which divide them among work-items each in their way
    inputs = [random(2, 5), random(2, 1800)]

    found = like.compute(CONCAT, Concat("concat", ("x", "z"), "y"), inputs, block=block)

    assert np.array_equal(found, np.concatenate(inputs, axis=1))
