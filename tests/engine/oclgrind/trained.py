"""`oclgrind … python -m tests.engine.oclgrind.trained`: kernels of training while Oclgrind watches.

Prints a line for each run, so that whoever started it sees that there was something to watch.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from edged.engine.device import find_device
from edged.engine.gradients.without_weights import average_pool_gradient, max_pool_gradient
from edged.model.activations import RELU
from edged.model.graph import AveragePool, MaxPool
from edged.train.optimizer import Adam, Sgd
from tests.engine import (
    test_conv_gradient,
    test_cross_entropy,
    test_flatten_batch,
    test_gather,
    test_norm,
    test_winograd_weights,
)
from tests.engine.lab import Lab, random
from tests.engine.oclgrind.watched import WatchedLab, use_buffers_of_their_own
from tests.engine.training import assert_gradient, assert_steps

MAXIMUM = MaxPool("pool", ("x",), "y", (3, 2), (2, 1), (0, 1, 2, 0))
APART = MaxPool("pool", ("x",), "y", (3, 2), (3, 2))
MEAN = AveragePool("pool", ("x",), "y", (3, 2), (2, 1), (0, 1, 2, 0))
SMALL = (2, 5, 7, 6)


def max_pool(lab: Lab) -> None:
    assert_gradient(lab, max_pool_gradient, MAXIMUM, random(*SMALL), block=4, plus=True, source_activation=RELU)


def max_pool_apart(lab: Lab) -> None:
    assert_gradient(lab, max_pool_gradient, APART, random(2, 5, 6, 4), block=4, plus=True, source_activation=RELU)


def average_pool(lab: Lab) -> None:
    assert_gradient(lab, average_pool_gradient, MEAN, random(*SMALL), block=4, plus=False)


def conv_gradient(lab: Lab) -> None:
    test_conv_gradient.test_the_gradients_are_those_of_the_reference(lab, "3x3 by two", 4)


def depthwise_gradient(lab: Lab) -> None:
    test_conv_gradient.test_a_convolution_of_each_channel_by_itself(lab, "5x5 by two", 4)


def flatten_batch(lab: Lab) -> None:
    test_flatten_batch.test_blocks_move_whole_and_their_gradient_comes_back(lab, 4)


def norm(lab: Lab) -> None:
    test_norm.test_a_batch_is_normalised_by_its_own_statistics_and_the_running_ones_follow(lab, (3, 5, 4, 7), 4)


def norm_gradient(lab: Lab) -> None:
    test_norm.test_gradients_are_those_of_the_reference(lab, (1, 18, 1, 21), 16, True)


def cross_entropy(lab: Lab) -> None:
    test_cross_entropy.test_loss_right_answers_and_gradient_are_those_of_the_reference(lab, 4, 0.1)


def gather(lab: Lab) -> None:
    test_gather.test_images_are_normalised_and_moved_as_the_reference_says(lab, 4, True, 2)


def gather_features(lab: Lab) -> None:
    test_gather.test_vectors_become_the_pixels_of_one_row(lab, 4)


def gather_vectors(lab: Lab) -> None:
    test_gather.test_images_are_normalised_moved_and_flattened(lab, 4, True, 2)


def winograd_weights(lab: Lab) -> None:
    test_winograd_weights.test_the_output_is_that_of_the_convolution(lab, 2, 3, 4, (1, 1, 1, 1))
    test_winograd_weights.test_the_gradient_of_the_input_is_another_such_convolution(lab, 2, 3, 4, (1, 1, 1, 1))


def sgd(lab: Lab) -> None:
    assert_steps(lab, Sgd(momentum=0.9, nesterov=True), count=301)


def adam(lab: Lab) -> None:
    assert_steps(lab, Adam(weight_decay=0.1), count=301)


KERNELS: tuple[Callable[[Lab], None], ...] = (
    *(
        conv_gradient,
        depthwise_gradient,
        flatten_batch,
        max_pool,
        max_pool_apart,
        average_pool,
        norm,
        norm_gradient,
    ),
    *(cross_entropy, gather, gather_features, gather_vectors, winograd_weights, sgd, adam),
)


def main() -> None:
    """Run each kernel as a GPU and as a CPU would."""
    use_buffers_of_their_own()
    oclgrind = find_device("oclgrind")
    with TemporaryDirectory() as programs:
        for device in (oclgrind, replace(oclgrind, kind="cpu", vector_width=16)):
            for kernel in KERNELS:
                kernel(WatchedLab(device, Path(programs)))
                print(kernel.__name__, device.kind, flush=True)


if __name__ == "__main__":
    main()
