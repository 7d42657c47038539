"""ConvNeXt, vision transformers, MobileViT and heads of segmentation, small, as exporters write them."""

from collections.abc import Callable

import numpy as np

from tests.model.onnx_files import Network


def integers(network: Network, *values: int) -> str:
    return network.weight(np.array(values, np.int64))


def number(network: Network, value: float) -> str:
    return network.weight(np.array(value, np.float32))


def linear(network: Network, source: str, features: int, out: int) -> str:
    """A fully connected layer of the last axis."""
    product = network.add("MatMul", network.normal(features, out, std=features**-0.5), reads=source)
    return network.add("Add", product, reads=network.normal(out, std=0.1))


def layer_norm(network: Network, source: str, features: int) -> str:
    factor = network.weight(network.random.uniform(0.5, 1.5, features).astype(np.float32))
    return network.add("LayerNormalization", factor, network.normal(features, std=0.1), reads=source, epsilon=1e-6)


def gelu(network: Network, source: str) -> str:
    """As exporters write it up to operator set 19."""
    scaled = network.add("Div", number(network, 2**0.5), reads=source)
    gate = network.add("Add", number(network, 1.0), reads=network.add("Erf", reads=scaled))
    return network.add("Mul", number(network, 0.5), reads=network.add("Mul", gate, reads=source))


def gelu_by_tanh(network: Network, source: str, *, power: bool = False) -> str:
    """As PyTorch writes it up to operator set 19, or with `power` as transformers write it."""
    if power:
        cube = network.add("Pow", number(network, 3.0), reads=source)
    else:
        cube = network.add("Mul", network.add("Mul", source, reads=source), reads=source)
    total = network.add("Add", network.add("Mul", number(network, 0.044715), reads=cube), reads=source)
    scaled = network.add("Mul", number(network, (2 / np.pi) ** 0.5), reads=total)
    gate = network.add("Add", number(network, 1.0), reads=network.add("Tanh", reads=scaled))
    return network.add("Mul", number(network, 0.5), reads=network.add("Mul", gate, reads=source))


def convnext(side: int = 32, widths: tuple[int, ...] = (24, 40), blocks: int = 1) -> Network:
    """Liu et al., 2022: depthwise 7×7, then a norm and two layers with the channels last."""
    network = Network([1, 3, side, side])
    network.add("Conv", network.normal(widths[0], 3, 4, 4, std=0.2), network.normal(widths[0]), strides=[4, 4])
    before = widths[0]
    for place, width in enumerate(widths):
        if place:
            network.add("Conv", network.normal(width, before, 2, 2, std=before**-0.5 / 2), strides=[2, 2])
        for _ in range(blocks):
            _convnext_block(network, width)
        before = width
    network.add("GlobalAveragePool")
    network.add("Flatten")
    layer_norm(network, network.tensor, before)
    network.add("Gemm", network.normal(10, before), network.normal(10), transB=1)
    return network


def _convnext_block(network: Network, width: int) -> None:
    start = network.tensor
    weight = network.normal(width, 1, 7, 7, std=0.15)
    network.add("Conv", weight, network.normal(width, std=0.1), group=width, pads=[3] * 4)
    last = network.add("Transpose", perm=[0, 2, 3, 1])
    middle = linear(network, layer_norm(network, last, width), width, 4 * width)
    out = linear(network, gelu(network, middle), 4 * width, width)
    scaled = network.add("Mul", network.normal(width, std=0.3), reads=out)
    network.add("Transpose", reads=scaled, perm=[0, 3, 1, 2])
    network.add("Add", network.tensor, reads=start)


def vit(side: int = 32, width: int = 24, heads: int = 3, blocks: int = 1, patch: int = 8) -> Network:
    """Dosovitskiy et al., 2021: patches as tokens behind one for the class, attention of several heads."""
    network = Network([1, 3, side, side])
    tokens = (side // patch) ** 2
    network.add(
        "Conv", network.normal(width, 3, patch, patch, std=0.1), network.normal(width), strides=[patch] * 2
    )
    network.add("Reshape", integers(network, 1, width, -1))
    network.add("Transpose", perm=[0, 2, 1])
    network.add("Concat", network.tensor, reads=network.normal(1, 1, width), axis=1)
    x = network.add("Add", network.normal(1, tokens + 1, width, std=0.5))
    for _ in range(blocks):
        attended = attention(network, layer_norm(network, x, width), tokens + 1, width, heads)
        x = network.add("Add", attended, reads=x)
        middle = linear(network, layer_norm(network, x, width), width, 4 * width)
        x = network.add("Add", linear(network, gelu(network, middle), 4 * width, width), reads=x)
    network.add("Gather", network.weight(np.array(0)), reads=layer_norm(network, x, width), axis=1)
    network.add("Gemm", network.normal(10, width), network.normal(10), transB=1)
    return network


def attention(network: Network, source: str, tokens: int, width: int, heads: int) -> str:
    """Vaswani et al., 2017, with queries, keys and values by one layer."""
    each = width // heads
    all_three = linear(network, source, width, 3 * width)
    parts = network.add("Reshape", integers(network, 1, tokens, 3, heads, each), reads=all_three)
    parts = network.add("Transpose", reads=parts, perm=[2, 0, 3, 1, 4])
    query, key, value = (
        network.add("Gather", network.weight(np.array(place)), reads=parts, axis=0) for place in range(3)
    )
    turned = network.add("Transpose", reads=key, perm=[0, 1, 3, 2])
    scaled = network.add("Mul", number(network, each**-0.5), reads=query)
    weights = network.add("Softmax", reads=network.add("MatMul", turned, reads=scaled), axis=-1)
    mixed = network.add("Transpose", reads=network.add("MatMul", value, reads=weights), perm=[0, 2, 1, 3])
    return linear(network, network.add("Reshape", integers(network, 1, tokens, width), reads=mixed), width, width)


def mobile_vit(side: int = 16, width: int = 12, heads: int = 2) -> Network:
    """Mehta and Rastegari, 2022: attention of pixels that have one place in blocks of 2 × 2."""
    network = Network([1, 3, side, side])
    network.add("Conv", network.normal(width, 3, 3, 3, std=0.2), network.normal(width), pads=[1] * 4)
    across, tokens = side // 2, (side // 2) ** 2
    network.add("Reshape", integers(network, width * across, 2, across, 2))
    network.add("Transpose", perm=[0, 2, 1, 3])
    network.add("Reshape", integers(network, 1, width, tokens, 4))
    network.add("Transpose", perm=[0, 3, 2, 1])
    x = network.add("Reshape", integers(network, 4, tokens, width))
    scores = network.add("MatMul", network.add("Transpose", perm=[0, 2, 1]), reads=layer_norm(network, x, width))
    network.add("MatMul", x, reads=network.add("Softmax", reads=scores, axis=-1))
    x = network.add("Add", linear(network, network.tensor, width, width), reads=x)
    network.add("Reshape", integers(network, 1, 4, tokens, width))
    network.add("Transpose", perm=[0, 3, 2, 1])
    network.add("Reshape", integers(network, width * across, across, 2, 2))
    network.add("Transpose", perm=[0, 2, 1, 3])
    network.add("Reshape", integers(network, 1, width, side, side))
    network.add("Conv", network.normal(8, width, 3, 3, std=0.2), network.normal(8))
    network.add("GlobalAveragePool")
    network.add("Flatten")
    return network


def segmentation(side: int = 24) -> Network:
    """A U-Net's way up (Ronneberger et al., 2015), a head that resizes; the share of each class at the end."""
    network = Network([1, 3, side, side])
    fine = network.add("Conv", network.normal(8, 3, 3, 3, std=0.3), network.normal(8), pads=[1] * 4)
    network.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    network.add("Conv", network.normal(16, 8, 3, 3, std=0.2), network.normal(16), pads=[1] * 4)
    up = network.add("ConvTranspose", network.normal(16, 8, 2, 2, std=0.3), network.normal(8), strides=[2, 2])
    network.add("Concat", up, reads=fine, axis=1)
    network.add("Conv", network.normal(8, 16, 3, 3, std=0.2), network.normal(8), strides=[2, 2], pads=[1] * 4)
    network.add("PRelu", network.normal(8, 1, 1))
    network.add("InstanceNormalization", network.normal(8), network.normal(8))
    scales = network.weight(np.array([1, 1, 2, 2], np.float32))
    network.add("Resize", "", scales, mode="linear", coordinate_transformation_mode="half_pixel")
    network.add("Conv", network.normal(5, 8, 1, 1), network.normal(5))
    network.add("Softmax", axis=1)
    network.add("ReduceMean", axes=[2, 3], keepdims=0)
    return network


def channels_last(side: int = 16) -> Network:
    """As tf2onnx writes it: channels last outside, with a norm and a gate that have them last inside."""
    network = Network([1, side, side, 3])
    network.add("Transpose", perm=[0, 3, 1, 2])
    network.add("Conv", network.normal(8, 3, 3, 3, std=0.3), network.normal(8), pads=[1] * 4)
    rows = network.add("Transpose", perm=[0, 2, 3, 1])
    network.add("Mul", network.add("Sigmoid"), reads=network.add("Add", network.normal(8), reads=rows))
    network.add("Transpose", perm=[0, 3, 1, 2])
    network.add("Conv", network.normal(12, 8, 3, 3, std=0.2), strides=[2, 2], pads=[1] * 4)
    last = network.add("Transpose", perm=[0, 2, 3, 1])
    mean = network.add("ReduceMean", reads=last, axes=[1, 2], keepdims=1)
    network.add("Mul", network.add("HardSigmoid", reads=mean), reads=last)
    network.add("ReduceMean", axes=[1, 2], keepdims=0)
    network.add("MatMul", network.normal(12, 10))
    return network


NETWORKS: dict[str, Callable[[], Network]] = {
    "ConvNeXt": convnext,
    "vision transformer": vit,
    "MobileViT": mobile_vit,
    "segmentation": segmentation,
    "channels last": channels_last,
}
