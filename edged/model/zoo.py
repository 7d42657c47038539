"""Well-known networks with random weights, without a file: `edged bench --model mobilenetv2 --size 224`.

Shapes are those of torchvision where it has the network, batch norm folded. They are for timing and tests.
"""

from collections.abc import Callable, Mapping
from functools import partial

from edged.model.activations import LINEAR, RELU, SIGMOID
from edged.model.graph import Graph
from edged.model.mobile_networks import efficientnet_lite0, mobilenet_v1, mobilenet_v2, mobilenet_v3
from edged.model.network_builder import NetworkBuilder
from edged.model.resnet import BLOCKS, random_resnet

CLASSES = 1000

Build = Callable[[int, int], Graph]  # for inputs of width × height

VGG = {  # convolutions of 3×3 in each stage
    11: (1, 1, 2, 2, 2),
    13: (2, 2, 2, 2, 2),
    16: (2, 2, 3, 3, 3),
    19: (2, 2, 4, 4, 4),
}
INCEPTIONS = {  # channels: 1×1; 1×1 then 3×3; 1×1 then 3×3; 1×1 behind a pool
    "3a": (64, 96, 128, 16, 32, 32),
    "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128),
}


def alexnet(width: int, height: int) -> Graph:
    """Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014."""
    builder = NetworkBuilder("alexnet", width, height)
    builder.conv("conv1", 64, 11, 4, pad=2)
    builder.max_pool("pool1", 3, 2)
    builder.conv("conv2", 192, 5)
    builder.max_pool("pool2", 3, 2)
    for number, channels in enumerate((384, 256, 256), start=3):
        builder.conv(f"conv{number}", channels, 3)
    builder.max_pool("pool5", 3, 2)
    return _with_dense_end(builder)


def vgg(depth: int, width: int, height: int) -> Graph:
    """Simonyan and Zisserman, "Very Deep Convolutional Networks", 2014, configurations A, B, D and E."""
    builder = NetworkBuilder(f"vgg{depth}", width, height)
    for stage, (count, channels) in enumerate(zip(VGG[depth], (64, 128, 256, 512, 512), strict=True), start=1):
        for number in range(1, count + 1):
            builder.conv(f"conv{stage}_{number}", channels, 3)
        builder.max_pool(f"pool{stage}", 2, 2)
    return _with_dense_end(builder)


def _with_dense_end(builder: NetworkBuilder) -> Graph:
    builder.flatten()
    builder.dense("dense1", 4096, RELU)
    builder.dense("dense2", 4096, RELU)
    builder.dense("logits", CLASSES)
    return builder.graph()


def squeezenet(version: str, width: int, height: int) -> Graph:
    """Iandola et al., "SqueezeNet", 2016; version 1.1 of its authors has 2.4 times fewer multiplications."""
    builder = NetworkBuilder(f"squeezenet{version}", width, height)
    first, pools = ((96, 7), (1, 4, 8)) if version == "1_0" else ((64, 3), (1, 3, 5))
    builder.conv("conv1", *first, 2, pad=0)
    for number, (squeeze, expand) in enumerate(
        ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)), start=2
    ):
        if number - 1 in pools:
            builder.max_pool(f"pool{number - 1}", 3, 2, ceil=True)
        name = f"fire{number}"
        squeezed = builder.conv(f"{name}.squeeze", squeeze, 1)
        one = builder.conv(f"{name}.expand1", expand, 1, reads=squeezed)
        three = builder.conv(f"{name}.expand3", expand, 3, reads=squeezed)
        builder.concat(name, one, three)
    builder.conv("conv10", CLASSES, 1)
    builder.mean()
    return builder.graph()


def googlenet(width: int, height: int) -> Graph:
    """Szegedy et al., "Going Deeper with Convolutions", 2014, table 1, with 3×3 windows for its 5×5.

    torchvision has them so, and no scores beside the last ones.
    """
    builder = NetworkBuilder("googlenet", width, height)
    builder.conv("conv1", 64, 7, 2)
    builder.max_pool("pool1", 3, 2, ceil=True)
    builder.conv("conv2", 64, 1)
    builder.conv("conv3", 192, 3)
    builder.max_pool("pool2", 3, 2, ceil=True)
    for name, channels in INCEPTIONS.items():
        if name == "4a":
            builder.max_pool("pool3", 3, 2, ceil=True)
        elif name == "5a":
            builder.max_pool("pool4", 2, 2, ceil=True)
        _inception(builder, f"inception{name}", *channels)
    builder.mean()
    builder.dense("logits", CLASSES)
    return builder.graph()


def _inception(
    builder: NetworkBuilder, name: str, one: int, narrow: int, three: int, narrower: int, five: int, pooled: int
) -> None:
    start = builder.tensor
    first = builder.conv(f"{name}.branch1", one, 1)
    builder.conv(f"{name}.branch2.narrow", narrow, 1, reads=start)
    second = builder.conv(f"{name}.branch2", three, 3)
    builder.conv(f"{name}.branch3.narrow", narrower, 1, reads=start)
    third = builder.conv(f"{name}.branch3", five, 3)
    builder.max_pool(f"{name}.branch4.pool", 3, 1, 1, reads=start)
    fourth = builder.conv(f"{name}.branch4", pooled, 1)
    builder.concat(name, first, second, third, fourth)


def densenet121(width: int, height: int) -> Graph:
    """Huang et al., "Densely Connected Convolutional Networks", 2016, with ReLU behind each convolution.

    The published order, norm and ReLU before each convolution, costs the same multiplications.
    """
    builder = NetworkBuilder("densenet121", width, height)
    builder.conv("stem", 64, 7, 2)
    builder.max_pool("stem.pool", 3, 2, 1)
    for stage, layers in enumerate((6, 12, 24, 16), start=1):
        for layer in range(1, layers + 1):
            name, before = f"stage{stage}.layer{layer}", builder.tensor
            builder.conv(f"{name}.narrow", 128, 1)
            grown = builder.conv(f"{name}.grow", 32, 3)
            builder.concat(name, before, grown)
        if stage < 4:
            builder.conv(f"transition{stage}", builder.channels // 2, 1)
            builder.average_pool(f"transition{stage}.pool", 2, 2)
    builder.mean()
    builder.dense("logits", CLASSES)
    return builder.graph()


def shufflenet_v2(width: int, height: int) -> Graph:
    """Ma et al., "ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design", 2018, at 1.0×."""
    builder = NetworkBuilder("shufflenetv2", width, height)
    builder.conv("stem", 24, 3, 2)
    builder.max_pool("stem.pool", 3, 2, 1)
    for stage, (channels, blocks) in enumerate(((116, 4), (232, 8), (464, 4)), start=2):
        for block in range(1, blocks + 1):
            _shuffle_block(builder, f"stage{stage}.block{block}", channels, is_first=block == 1)
    builder.conv("last", 1024, 1)
    builder.mean()
    builder.dense("logits", CLASSES)
    return builder.graph()


def _shuffle_block(builder: NetworkBuilder, name: str, channels: int, *, is_first: bool) -> None:
    """Half of the channels go through three convolutions, the others by; a first block halves the image."""
    half, source = channels // 2, builder.tensor
    if is_first:
        count = builder.channels
        builder.conv(f"{name}.side.depthwise", count, 3, 2, groups=count, activation=LINEAR)
        left, right = builder.conv(f"{name}.side", half, 1), source
    else:
        left = builder.select(f"{name}.left", tuple(range(half)), source)
        right = builder.select(f"{name}.right", tuple(range(half, channels)), source)
    builder.conv(f"{name}.conv1", half, 1, reads=right)
    builder.conv(f"{name}.depthwise", half, 3, 2 if is_first else 1, groups=half, activation=LINEAR)
    done = builder.conv(f"{name}.conv2", half, 1)
    builder.concat(f"{name}.joined", left, done)
    builder.select(name, tuple(part * half + index for index in range(half) for part in range(2)))


def regnet_y_400mf(width: int, height: int) -> Graph:
    """Radosavovic et al., "Designing Network Design Spaces", 2020: groups of 8 channels, squeeze-and-excite."""
    builder = NetworkBuilder("regnet_y_400mf", width, height)
    builder.conv("stem", 32, 3, 2)
    for stage, (blocks, channels) in enumerate(((1, 48), (3, 104), (6, 208), (6, 440)), start=1):
        for block in range(1, blocks + 1):
            _regnet_block(builder, f"stage{stage}.block{block}", channels, 2 if block == 1 else 1)
    builder.mean()
    builder.dense("logits", CLASSES)
    return builder.graph()


def _regnet_block(builder: NetworkBuilder, name: str, channels: int, stride: int) -> None:
    start, squeezed = builder.tensor, round(builder.channels / 4)
    beside = builder.conv(f"{name}.shortcut", channels, 1, 2, activation=LINEAR, gain=1.0) if stride > 1 else start
    builder.conv(f"{name}.conv1", channels, 1, reads=start)
    builder.conv(f"{name}.conv2", channels, 3, stride, groups=channels // 8)
    builder.squeeze_and_excite(f"{name}.squeeze", squeezed, SIGMOID)
    builder.conv(f"{name}.conv3", channels, 1, residual=beside)


NETWORKS: Mapping[str, Build] = {
    **{f"resnet{depth}": partial(random_resnet, depth) for depth in BLOCKS},
    "alexnet": alexnet,
    **{f"vgg{depth}": partial(vgg, depth) for depth in VGG},
    "squeezenet1_0": partial(squeezenet, "1_0"),
    "squeezenet1_1": partial(squeezenet, "1_1"),
    "googlenet": googlenet,
    "densenet121": densenet121,
    "mobilenetv1": mobilenet_v1,
    "mobilenetv2": mobilenet_v2,
    **{f"mobilenetv3_{size}": partial(mobilenet_v3, size) for size in ("large", "small")},
    "efficientnet_lite0": efficientnet_lite0,
    "shufflenetv2": shufflenet_v2,
    "regnet_y_400mf": regnet_y_400mf,
}
