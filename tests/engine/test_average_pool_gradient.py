"""Gradient of a mean over a window."""

import pytest

from edged.engine.gradients.average_pool_gradient import average_pool_gradient
from edged.model.activations import LINEAR, RELU, SIGMOID, Activation
from edged.model.graph import AveragePool, Pads, Pair
from tests.engine.lab import Lab, random
from tests.engine.training import assert_gradient

CASES: tuple[tuple[Pair, Pair, Pads, bool, int], ...] = (
    ((9, 7), (1, 1), (0, 0, 0, 0), False, 16),
    ((3, 3), (2, 1), (1, 1, 1, 1), False, 4),
    ((2, 2), (3, 2), (0, 1, 1, 0), True, 4),
)


@pytest.mark.parametrize(("kernel", "strides", "pads", "with_padding", "block"), CASES)
def test_each_pixel_of_a_window_takes_its_share(
    lab: Lab, kernel: Pair, strides: Pair, pads: Pads, with_padding: bool, block: int
) -> None:
    pool = AveragePool("pool", ("x",), "y", kernel, strides, pads, with_padding)
    more, x = with_padding, random(2, 21, 9, 7)

    assert_gradient(
        lab, average_pool_gradient, pool, x, block=block, plus=more, source_activation=RELU if more else LINEAR
    )


@pytest.mark.parametrize("activation", [Activation("clip", -0.5, 0.75), SIGMOID], ids=str)
def test_it_goes_back_through_the_activation_that_wrote_the_image(lab: Lab, activation: Activation) -> None:
    pool = AveragePool("pool", ("x",), "y", (2, 2), (2, 2))

    assert_gradient(
        lab, average_pool_gradient, pool, random(2, 5, 6, 4), block=4, plus=True, source_activation=activation
    )
