"""Build ResNets with seeded random weights, without a file, for timing only.

Architecture: He et al., "Deep Residual Learning for Image Recognition", 2015, tables 1 and 6 (v1: stride in a
bottleneck's first 1×1), and the v1.5 of torchvision and NVIDIA (stride in its 3×3), batch norm already folded.
"""

from typing import Literal

from edged.model.activations import LINEAR
from edged.model.graph import Graph
from edged.model.network_builder import NetworkBuilder

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
    builder = NetworkBuilder(f"resnet{depth}", width, height, seed)
    builder.conv("stem.conv", 64, 7, 2)
    builder.max_pool("stem.pool", 3, 2, 1)
    last_gain = 2 / sum(BLOCKS[depth])
    for stage, (blocks, channels) in enumerate(zip(BLOCKS[depth], STAGE_CHANNELS, strict=True), start=1):
        for block in range(1, blocks + 1):
            name, stride = f"stage{stage}.block{block}", 2 if stage > 1 and block == 1 else 1
            if depth >= BOTTLENECK_FROM:
                _bottleneck(builder, name, channels, stride, last_gain, version)
            else:
                _basic(builder, name, channels, stride, last_gain)
    builder.mean()
    builder.dense("dense", classes)
    return builder.graph()


def _basic(builder: NetworkBuilder, name: str, channels: int, stride: int, last_gain: float) -> None:
    start, shortcut = builder.tensor, _shortcut(builder, name, channels, stride)
    builder.conv(f"{name}.conv1", channels, 3, stride, reads=start)
    builder.conv(f"{name}.conv2", channels, 3, residual=shortcut, gain=last_gain)


def _bottleneck(
    builder: NetworkBuilder, name: str, channels: int, stride: int, last_gain: float, version: Version
) -> None:
    start, shortcut = builder.tensor, _shortcut(builder, name, channels * 4, stride)
    first, second = (stride, 1) if version == "v1" else (1, stride)
    builder.conv(f"{name}.conv1", channels, 1, first, reads=start)
    builder.conv(f"{name}.conv2", channels, 3, second)
    builder.conv(f"{name}.conv3", channels * 4, 1, residual=shortcut, gain=last_gain)


def _shortcut(builder: NetworkBuilder, name: str, out: int, stride: int) -> str:
    """Return the tensor that the block adds at its end: its input, by a 1×1 convolution if the shape changes."""
    if stride == 1 and builder.channels == out:
        return builder.tensor
    return builder.conv(f"{name}.shortcut", out, 1, stride, activation=LINEAR, gain=1.0)
