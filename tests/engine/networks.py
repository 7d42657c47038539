"""Small networks, random images for them, and the comparison of a runtime with the reference."""

import numpy as np
from numpy.typing import NDArray

from edged.engine.runtime import Runtime
from edged.model import reference
from edged.model.activations import RELU
from edged.model.graph import Activate, Add, AveragePool, Conv, Dense, Flatten, Graph, MaxPool, Operator, Softmax
from edged.model.package import Input
from edged.model.shapes import make_graph
from tests.engine.lab import assert_close, random

RGB = Input(width=31, height=39, color="rgb", scale=1 / 255, mean=(0.5, 0.4, 0.3), std=(0.2, 0.3, 0.4))
NETWORK_CLOSE = 1e-4  # of the range of the scores


def conv(name: str, inputs: tuple[str, ...], channels: tuple[int, int], size: int, **attributes: object) -> Conv:
    """A convolution with random weights of a size that keeps activations near one."""
    weight = random(channels[1], channels[0], size, size) / np.float32(size * channels[0] ** 0.5)
    pad = size // 2
    return Conv(name, inputs, name, weight, random(channels[1]), pads=(pad,) * 4, **attributes)  # type: ignore[arg-type]


def small_network() -> Graph:
    """Every operator once or more: 3×39×31 → 11 classes."""
    operators: tuple[Operator, ...] = (
        conv("stem", ("image",), (3, 20), 7, strides=(2, 2), activation=RELU),
        MaxPool("pool", ("stem",), "pool", (3, 3), (2, 2), (1, 1, 1, 1)),
        conv("up", ("pool",), (20, 33), 3, activation=RELU),
        conv("down", ("up", "pool"), (33, 20), 1, activation=RELU),
        conv("side", ("pool",), (20, 20), 1),
        Add("sum", ("down", "side"), "sum"),
        Activate("relu", ("sum",), "relu", RELU),
        AveragePool("mean", ("relu",), "mean", (2, 2), (2, 2)),
        Flatten("flat", ("mean",), "flat"),
        Dense("dense", ("flat",), "dense", random(11, 20 * 5 * 4) / np.float32(20), random(11)),
        Softmax("softmax", ("dense",), "softmax"),
    )
    return make_graph("small", "image", (3, 39, 31), operators)


def random_images(model_input: Input, frames: int = 1) -> NDArray[np.uint8]:
    """uint8 [frames, height, width, 3]."""
    return np.random.default_rng(1).integers(0, 256, (frames, model_input.height, model_input.width, 3), np.uint8)


def assert_equals_reference(runtime: Runtime, graph: Graph, model_input: Input, frames: int = 1) -> None:
    images = random_images(model_input, frames)
    expected = reference.run(graph, reference.prepare(images, model_input), np.float64)
    assert_close(runtime.submit(images).wait().outputs, expected, NETWORK_CLOSE)
