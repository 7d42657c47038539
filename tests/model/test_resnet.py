"""The named networks with random weights."""

from typing import Any

import numpy as np
import pytest

from edged.model import reference
from edged.model.cost import macs, weights_sha256
from edged.model.graph import Conv, Dense
from edged.model.passes import simplify
from edged.model.resnet import BLOCKS, random_resnet


@pytest.mark.parametrize(
    ("depth", "size", "version", "giga_macs"),
    [
        (18, 224, "v1.5", 1.8141),
        (50, 224, "v1.5", 4.0892),
        (50, 120, "v1.5", 1.2609),
        (50, 120, "v1", 1.1925),
    ],
)
def test_cost(depth: int, size: int, version: Any, giga_macs: float) -> None:
    graph = random_resnet(depth, size, size, version=version)

    assert macs(graph) / 1e9 == pytest.approx(giga_macs, abs=5e-5)


def test_resnet50_has_53_convolutions_and_one_dense_layer() -> None:
    kinds = [type(operator) for operator in random_resnet(50, 120, 120).operators]

    assert kinds.count(Conv) == 53
    assert kinds.count(Dense) == 1


@pytest.mark.deep
@pytest.mark.parametrize("depth", BLOCKS)
def test_scores_are_of_the_order_of_one_at_every_depth(depth: int) -> None:
    graph = random_resnet(depth, 48, 32)
    x = np.random.default_rng(0).standard_normal((1, 3, 32, 48)).astype(np.float32)

    scores = reference.run(graph, x)

    assert scores.shape == (1, 1000)
    assert 0.3 < scores.std() < 3
    np.testing.assert_array_equal(reference.run(simplify(graph), x), scores)


def test_weights_follow_from_the_seed() -> None:
    first = weights_sha256(random_resnet(18, 32, 32))

    assert weights_sha256(random_resnet(18, 64, 48)) == first
    assert weights_sha256(random_resnet(18, 32, 32, seed=1)) != first
