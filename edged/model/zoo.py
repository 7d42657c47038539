"""Well-known networks with random weights, without a file: `edged bench --model mobilenetv2 --size 224`.

Shapes are those of torchvision, batch norm folded. Nobody's weights come with them: they are for timing and tests.
"""

from collections.abc import Callable, Mapping
from functools import partial

from edged.model.activations import LINEAR, RELU, Activation
from edged.model.graph import Graph
from edged.model.network_builder import NetworkBuilder
from edged.model.resnet import BLOCKS, random_resnet

CLASSES = 1000
RELU6 = Activation("clip", 0.0, 6.0)

Build = Callable[[int, int], Graph]  # for inputs of width × height


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


VGG = {  # convolutions of 3×3 in each stage
    11: (1, 1, 2, 2, 2),
    13: (2, 2, 2, 2, 2),
    16: (2, 2, 3, 3, 3),
    19: (2, 2, 4, 4, 4),
}


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


MOBILENET_V2 = (  # expansion, channels, blocks, stride of the first
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def mobilenet_v2(width: int, height: int) -> Graph:
    """Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018, table 2."""
    builder = NetworkBuilder("mobilenetv2", width, height)
    builder.conv("stem", 32, 3, 2, activation=RELU6)
    for stage, (expansion, channels, blocks, first_stride) in enumerate(MOBILENET_V2, start=1):
        for block in range(1, blocks + 1):
            name, stride = f"stage{stage}.block{block}", first_stride if block == 1 else 1
            _inverted_residual(builder, name, expansion, channels, stride)
    builder.conv("last", 1280, 1, activation=RELU6)
    builder.mean()
    builder.dense("logits", CLASSES)
    return builder.graph()


def _inverted_residual(builder: NetworkBuilder, name: str, expansion: int, channels: int, stride: int) -> None:
    start, inputs = builder.tensor, builder.channels
    wide = inputs * expansion
    if expansion > 1:
        builder.conv(f"{name}.expand", wide, 1, activation=RELU6)
    builder.conv(f"{name}.depthwise", wide, 3, stride, groups=wide, activation=RELU6)
    projected = builder.conv(f"{name}.project", channels, 1, activation=LINEAR)
    if stride == 1 and inputs == channels:
        builder.add(name, projected, start)


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
    builder.select(name, tuple(part * half + place for place in range(half) for part in range(2)))


NETWORKS: Mapping[str, Build] = {
    **{f"resnet{depth}": partial(random_resnet, depth) for depth in BLOCKS},
    "alexnet": alexnet,
    **{f"vgg{depth}": partial(vgg, depth) for depth in VGG},
    "squeezenet1_0": partial(squeezenet, "1_0"),
    "squeezenet1_1": partial(squeezenet, "1_1"),
    "mobilenetv2": mobilenet_v2,
    "densenet121": densenet121,
    "shufflenetv2": shufflenet_v2,
}
