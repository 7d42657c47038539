"""A batch of vectors from those on the device."""

import numpy as np
import pytest

from edged.engine.gradients.gather_features import gather_features
from edged.engine.launch import Resident
from edged.engine.layout import Halo, Tensor
from tests.engine.bench import Bench
from tests.engine.lab import Lab, random

ORDER = np.array([8, 3, 3, 0, 7, 1], np.int32)


@pytest.mark.parametrize("block", [4, 16])
def test_vectors_become_the_pixels_of_one_row(lab: Lab, block: int) -> None:
    vectors, target = random(9, 21), Tensor("batch", 1, 21, 1, 4, block, Halo(0, 1, 0, 1))
    features, order = Resident("features", vectors.nbytes), Resident("order", ORDER.nbytes)
    bench = Bench(lab, gather_features(features, order, target, lab.device), {features: vectors, order: ORDER})

    bench.run(first=np.int32(2))

    assert np.array_equal(bench.image(target)[0, :, 0].T, vectors[ORDER[2:]])
