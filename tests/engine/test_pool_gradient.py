"""Backward passes of pooling."""

import numpy as np
import pytest

from edged.engine.gradients.without_weights import average_pool_gradient, max_pool_gradient
from edged.model.activations import LINEAR, RELU, SIGMOID, Activation
from edged.model.graph import AveragePool, MaxPool, Pads, Pair
from tests.engine.lab import Lab, random
from tests.engine.training import assert_gradient

MEANS: tuple[tuple[Pair, Pair, Pads, bool, int], ...] = (
    ((9, 7), (1, 1), (0, 0, 0, 0), False, 16),
    ((3, 3), (2, 1), (1, 1, 1, 1), False, 4),
    ((2, 2), (3, 2), (0, 1, 1, 0), True, 4),
)
MAXIMA: tuple[tuple[Pair, Pair, Pads, int], ...] = (
    ((2, 2), (2, 2), (0, 0, 0, 0), 16),
    ((3, 3), (2, 1), (1, 1, 1, 1), 4),
    ((3, 2), (1, 3), (0, 1, 2, 0), 1),
)


@pytest.mark.parametrize(("kernel", "strides", "pads", "with_padding", "block"), MEANS)
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


@pytest.mark.parametrize(("kernel", "strides", "pads", "block"), MAXIMA)
def test_the_largest_of_a_window_takes_all(lab: Lab, kernel: Pair, strides: Pair, pads: Pads, block: int) -> None:
    pool = MaxPool("pool", ("x",), "y", kernel, strides, pads)

    assert_gradient(lab, max_pool_gradient, pool, random(2, 21, 9, 7), block=block, plus=False)


def test_of_equal_ones_the_first_takes_all(lab: Lab) -> None:
    pool = MaxPool("pool", ("x",), "y", (3, 3), (2, 2), (1, 1, 1, 1))
    few_values = np.rint(random(2, 21, 9, 7))

    assert_gradient(lab, max_pool_gradient, pool, few_values, block=4, plus=True, source_activation=RELU)


@pytest.mark.parametrize("ends", [False, True])
def test_windows_that_cover_all_and_nothing_twice_are_looked_at_once(lab: Lab, ends: bool) -> None:
    pool = MaxPool("pool", ("x",), "y", (3, 2), (3, 2))
    few_values = np.rint(random(2, 21, 9, 8))

    assert_gradient(
        lab, max_pool_gradient, pool, few_values, block=16, plus=ends, source_activation=RELU if ends else LINEAR
    )
