"""Two small networks with random weights, to compare every variant of their convolutions with the reference."""

from edged.model.activations import RELU, RELU6
from edged.model.graph import Graph
from edged.model.network_builder import NetworkBuilder

SIDE = 32  # of their pictures


def plain_network() -> Graph:
    """Build convolutions of 5×5, 3×3 and 1×1 with a sum, a pool and a dense layer."""
    builder = NetworkBuilder("plain", SIDE, SIDE)
    builder.conv("stem", 16, 5, 2, activation=RELU)
    builder.max_pool("pool", 2, 2)
    block = builder.conv("in", 32, 1, activation=RELU)
    wide = builder.conv("wide", 32, 3, activation=RELU)
    builder.add("sum", wide, block)
    builder.mean("mean")
    builder.dense("scores", 10)
    return builder.graph()


def mobile_network() -> Graph:
    """Build convolutions by channel and in groups between those of 1×1."""
    builder = NetworkBuilder("mobile", SIDE, SIDE)
    builder.conv("stem", 8, 3, 2, activation=RELU6)
    builder.conv("expand", 24, 1, activation=RELU6)
    builder.conv("depthwise", 24, 3, groups=24, activation=RELU6)
    builder.conv("project", 8, 1)
    builder.conv("grouped", 16, 3, groups=2, activation=RELU)
    builder.mean("mean")
    builder.dense("scores", 10)
    return builder.graph()
