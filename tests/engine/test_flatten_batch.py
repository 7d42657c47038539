"""Images become vectors of features that are the pixels of one image, and back."""

from typing import Any

import numpy as np
import pytest

from edged.engine.gradients.slope import Slope
from edged.engine.gradients.without_weights import flatten_batch, flatten_batch_gradient
from edged.engine.layout import Halo, Tensor
from edged.engine.variants.variant import Site
from edged.model.graph import Flatten
from tests.engine.bench import Bench
from tests.engine.lab import Lab, random

FLATTEN = Flatten("flatten", ("x",), "y")


@pytest.mark.parametrize("halo", [Halo(), Halo(1, 0, 2, 1)])
def test_planar_images_give_features_in_their_usual_order(lab: Lab, halo: Halo) -> None:
    x = random(5, 3, 4, 7)
    source = Tensor("x", 5, 3, 4, 7, 1, halo)
    target = Tensor("y", 1, 84, 1, 5, 16, Halo(0, 1))
    bench = Bench(lab, flatten_batch(Site(FLATTEN, (source,), target, lab.device)), {source: x})

    bench.run()

    np.testing.assert_array_equal(bench.image(target)[0, :, 0].T, x.reshape(5, 84))


@pytest.mark.parametrize("block", [4, 16])
def test_blocks_move_whole_and_their_gradient_comes_back(lab: Lab, block: int) -> None:
    x = random(3, 6, 2, 5)
    blocks = -(-6 // block)
    source = Tensor("x", 3, 6, 2, 5, block, Halo(0, 1, 1))
    features = Tensor("y", 1, blocks * block * 10, 1, 3, block)
    back = Tensor("back", 3, 6, 2, 5, block, Halo(1))
    slope: Slope[Any] = Slope(FLATTEN, source, features, features, back, lab.device)
    forth = flatten_batch(Site(FLATTEN, (source,), features, lab.device))
    bench = Bench(lab, (*forth, *flatten_batch_gradient(slope)), {source: x})

    bench.run()

    padded = np.zeros((3, blocks * block, 10), np.float32)
    padded[:, :6] = x.reshape(3, 6, 10)
    in_order = padded.reshape(3, blocks, block, 10).transpose(0, 1, 3, 2).reshape(3, -1)
    np.testing.assert_array_equal(bench.image(features)[0, :, 0].T, in_order)
    np.testing.assert_array_equal(bench.image(back), x)
