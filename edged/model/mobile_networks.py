"""Networks of depthwise convolutions, for phones and boards, with random weights: MobileNets, EfficientNet-Lite.

V2, V3 and EfficientNet-Lite are rows of inverted residuals: a 1×1 convolution widens, a depthwise one follows, a
1×1 convolution without activation narrows, and the block's input is added where it has the same shape.
"""

from collections.abc import Iterator

from edged.model.activations import HARD_SIGMOID, HARD_SWISH, LINEAR, RELU, RELU6, Activation
from edged.model.graph import Graph
from edged.model.network_builder import NetworkBuilder

CLASSES = 1000

V2 = (  # expansion, window, channels, blocks, stride of the first
    (1, 3, 16, 1, 1),
    (6, 3, 24, 2, 2),
    (6, 3, 32, 3, 2),
    (6, 3, 64, 4, 2),
    (6, 3, 96, 3, 1),
    (6, 3, 160, 3, 2),
    (6, 3, 320, 1, 1),
)
LITE0 = (
    (1, 3, 16, 1, 1),
    (6, 3, 24, 2, 2),
    (6, 5, 40, 2, 2),
    (6, 3, 80, 3, 2),
    (6, 5, 112, 3, 1),
    (6, 5, 192, 4, 2),
    (6, 3, 320, 1, 1),
)
V3_LARGE = (  # window, channels within, channels, squeeze-and-excite, activation, stride
    (3, 16, 16, False, RELU, 1),
    (3, 64, 24, False, RELU, 2),
    (3, 72, 24, False, RELU, 1),
    (5, 72, 40, True, RELU, 2),
    (5, 120, 40, True, RELU, 1),
    (5, 120, 40, True, RELU, 1),
    (3, 240, 80, False, HARD_SWISH, 2),
    (3, 200, 80, False, HARD_SWISH, 1),
    (3, 184, 80, False, HARD_SWISH, 1),
    (3, 184, 80, False, HARD_SWISH, 1),
    (3, 480, 112, True, HARD_SWISH, 1),
    (3, 672, 112, True, HARD_SWISH, 1),
    (5, 672, 160, True, HARD_SWISH, 2),
    (5, 960, 160, True, HARD_SWISH, 1),
    (5, 960, 160, True, HARD_SWISH, 1),
)
V3_SMALL = (
    (3, 16, 16, True, RELU, 2),
    (3, 72, 24, False, RELU, 2),
    (3, 88, 24, False, RELU, 1),
    (5, 96, 40, True, HARD_SWISH, 2),
    (5, 240, 40, True, HARD_SWISH, 1),
    (5, 240, 40, True, HARD_SWISH, 1),
    (5, 120, 48, True, HARD_SWISH, 1),
    (5, 144, 48, True, HARD_SWISH, 1),
    (5, 288, 96, True, HARD_SWISH, 2),
    (5, 576, 96, True, HARD_SWISH, 1),
    (5, 576, 96, True, HARD_SWISH, 1),
)


def mobilenet_v1(width: int, height: int) -> Graph:
    """Howard et al., "MobileNets: Efficient Convolutional Neural Networks", 2017, table 1."""
    builder = NetworkBuilder("mobilenetv1", width, height)
    builder.conv("stem", 32, 3, 2)
    stages = ((64, 1, 1), (128, 2, 2), (256, 2, 2), (512, 6, 2), (1024, 2, 2))
    for stage, (channels, blocks, first_stride) in enumerate(stages, start=1):
        for name, stride in _blocks(stage, blocks, first_stride):
            wide = builder.channels
            builder.conv(f"{name}.depthwise", wide, 3, stride, groups=wide)
            builder.conv(f"{name}.pointwise", channels, 1)
    return _with_classes(builder)


def _blocks(stage: int, blocks: int, first_stride: int) -> Iterator[tuple[str, int]]:
    """Yield the name and the stride of each block of a stage: the first one may halve the picture."""
    for block in range(1, blocks + 1):
        yield f"stage{stage}.block{block}", first_stride if block == 1 else 1


def mobilenet_v2(width: int, height: int) -> Graph:
    """Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018, table 2."""
    return _of_stages("mobilenetv2", V2, width, height)


def efficientnet_lite0(width: int, height: int) -> Graph:
    """EfficientNet-B0 (Tan and Le, 2019) with ReLU6 and without squeeze-and-excite, as TensorFlow has it."""
    return _of_stages("efficientnet_lite0", LITE0, width, height)


def _of_stages(name: str, stages: tuple[tuple[int, int, int, int, int], ...], width: int, height: int) -> Graph:
    builder = NetworkBuilder(name, width, height)
    builder.conv("stem", 32, 3, 2, activation=RELU6)
    for stage, (expansion, window, channels, blocks, first_stride) in enumerate(stages, start=1):
        for block, stride in _blocks(stage, blocks, first_stride):
            wide = builder.channels * expansion
            _inverted_residual(builder, block, window, wide, channels, stride, RELU6)
    builder.conv("last", 1280, 1, activation=RELU6)
    return _with_classes(builder)


def mobilenet_v3(size: str, width: int, height: int) -> Graph:
    """Howard et al., "Searching for MobileNetV3", 2019, tables 1 and 2; `size`: large or small."""
    blocks, last, hidden = (V3_LARGE, 960, 1280) if size == "large" else (V3_SMALL, 576, 1024)
    builder = NetworkBuilder(f"mobilenetv3_{size}", width, height)
    builder.conv("stem", 16, 3, 2, activation=HARD_SWISH)
    for number, (window, wide, channels, is_squeezed, activation, stride) in enumerate(blocks, start=1):
        squeezed = _to_eighths(wide // 4) if is_squeezed else 0
        _inverted_residual(builder, f"block{number}", window, wide, channels, stride, activation, squeezed)
    builder.conv("last", last, 1, activation=HARD_SWISH)
    builder.mean()
    builder.dense("hidden", hidden, HARD_SWISH)
    builder.dense("logits", CLASSES)
    return builder.graph()


def _to_eighths(channels: int) -> int:
    """Return the nearest multiple of 8 that is no more than a tenth smaller, as the authors round."""
    nearest = max(8, (channels + 4) // 8 * 8)
    return nearest + 8 if nearest < 0.9 * channels else nearest


def _inverted_residual(
    builder: NetworkBuilder,
    name: str,
    window: int,
    wide: int,
    channels: int,
    stride: int,
    activation: Activation,
    squeezed: int = 0,
) -> None:
    """Add a block with `wide` channels within; `squeezed`: those of its squeeze-and-excite, 0 for none."""
    start, inputs = builder.tensor, builder.channels
    if wide > inputs:
        builder.conv(f"{name}.expand", wide, 1, activation=activation)
    builder.conv(f"{name}.depthwise", wide, window, stride, groups=wide, activation=activation)
    if squeezed:
        builder.squeeze_and_excite(f"{name}.squeeze", squeezed, HARD_SIGMOID)
    projected = builder.conv(f"{name}.project", channels, 1, activation=LINEAR)
    if stride == 1 and inputs == channels:
        builder.add(name, projected, start)


def _with_classes(builder: NetworkBuilder) -> Graph:
    builder.mean()
    builder.dense("logits", CLASSES)
    return builder.graph()
