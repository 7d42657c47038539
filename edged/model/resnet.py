"""Build ResNets with seeded random weights, without a file, for timing only.

Architecture: He et al., "Deep Residual Learning for Image Recognition", 2015, tables 1 and 6 (v1: stride in a
bottleneck's first 1×1), and the v1.5 of torchvision and NVIDIA (stride in its 3×3), batch norm already folded.
"""

import math
from typing import Literal

import numpy as np

from edged.model.activations import LINEAR, RELU, Activation
from edged.model.graph import AveragePool, Conv, Dense, Flatten, Float32, Graph, MaxPool, Operator, Pads
from edged.model.shapes import make_graph

BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
BOTTLENECK_FROM = 50
STAGE_CHANNELS = (64, 128, 256, 512)
MIN_SIZE = 32

Version = Literal["v1", "v1.5"]


def random_resnet(
    depth: int,
    width: int = 224,
    height: int = 224,
    *,
    version: Version = "v1.5",
    classes: int = 1000,
    seed: int = 0,
) -> Graph:
    """Return a ResNet of `depth` 18, 34, 50, 101 or 152 for inputs 3 × height × width, each at least 32.

    He initialisation; the last convolution of a block is scaled down so that activations stay of the order of one
    through 50 blocks.
    """
    builder = _ResnetBuilder(depth, version, np.random.default_rng(seed))
    builder.stem()
    for stage, blocks in enumerate(BLOCKS[depth]):
        for block in range(blocks):
            builder.block(
                f"stage{stage + 1}.block{block + 1}", STAGE_CHANNELS[stage], 2 if stage and not block else 1
            )
    body = make_graph(f"resnet{depth}", "input", (3, height, width), builder.operators)
    builder.head(body.shapes[body.output], classes)
    return make_graph(f"resnet{depth}", "input", (3, height, width), builder.operators)


class _ResnetBuilder:
    """The operators so far, and the tensor that the next one reads (`tensor`, with `channels`)."""

    def __init__(self, depth: int, version: Version, random: np.random.Generator) -> None:
        self.operators: list[Operator] = []
        self.tensor = "input"
        self.channels = 3
        self._bottleneck = depth >= BOTTLENECK_FROM
        self._version = version
        self._random = random
        self._branch_scale = 1 / math.sqrt(sum(BLOCKS[depth]))

    def stem(self) -> None:
        self._conv("stem.conv", 64, kernel=7, stride=2)
        self._push(MaxPool("stem.pool", (self.tensor,), "stem.pool", (3, 3), (2, 2), (1, 1, 1, 1)))

    def block(self, name: str, channels: int, stride: int) -> None:
        """Add a residual block; the shortcut is a 1×1 convolution if the shape changes."""
        start, start_channels = self.tensor, self.channels
        out = channels * 4 if self._bottleneck else channels
        shortcut = start
        if stride > 1 or start_channels != out:
            self._conv(f"{name}.shortcut", out, kernel=1, stride=stride, activation=LINEAR, gain=1.0)
            shortcut = self.tensor
        self.tensor, self.channels = start, start_channels
        if self._bottleneck:
            first, second = (stride, 1) if self._version == "v1" else (1, stride)
            self._conv(f"{name}.conv1", channels, kernel=1, stride=first)
            self._conv(f"{name}.conv2", channels, kernel=3, stride=second)
            self._conv(f"{name}.conv3", out, kernel=1, residual=shortcut, gain=2 * self._branch_scale**2)
        else:
            self._conv(f"{name}.conv1", channels, kernel=3, stride=stride)
            self._conv(f"{name}.conv2", out, kernel=3, residual=shortcut, gain=2 * self._branch_scale**2)

    def head(self, shape: tuple[int, ...], classes: int) -> None:
        self._push(AveragePool("pool", (self.tensor,), "pool", (shape[1], shape[2])))
        self._push(Flatten("flatten", (self.tensor,), "flatten"))
        weight = self._normal((classes, self.channels), 1 / self.channels)
        self._push(Dense("dense", (self.tensor,), "logits", weight, self._normal((classes,), 0.0025)))

    def _conv(
        self,
        name: str,
        out: int,
        kernel: int,
        stride: int = 1,
        *,
        residual: str | None = None,
        activation: Activation = RELU,
        gain: float = 2.0,
    ) -> None:
        inputs = (self.tensor,) if residual is None else (self.tensor, residual)
        weight = self._normal((out, self.channels, kernel, kernel), gain / (self.channels * kernel * kernel))
        bias = self._normal((out,), 0.0025)
        pads: Pads = (kernel // 2,) * 4
        self._push(Conv(name, inputs, name, weight, bias, (stride, stride), pads, activation=activation))
        self.channels = out

    def _push(self, operator: Operator) -> None:
        self.operators.append(operator)
        self.tensor = operator.output

    def _normal(self, shape: tuple[int, ...], variance: float) -> Float32:
        values = self._random.standard_normal(shape, np.float32)
        values *= np.float32(math.sqrt(variance))
        return values
