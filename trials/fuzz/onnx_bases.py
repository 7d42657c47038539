"""Small networks that together hold every operator that edged reads: what the mutations start from."""

import numpy as np

from tests.model.onnx_files import Network
from tests.model.quantized_files import QuantizedNetwork


def plain() -> Network:
    """As PyTorch exports it: a residual block, pools, a classifier."""
    network = Network(["N", 3, 10, 10])
    _conv(network, 3, 4)
    _batch_norm(network, 4)
    start = network.add("Relu")
    network.add("MaxPool", kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    _conv(network, 4, 4, group=2)
    network.add("Add", start)
    network.add("Clip", network.weight(np.array(0, np.float32)))
    network.add("AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1)
    network.add("GlobalAveragePool")
    network.add("Flatten", axis=1)
    network.add("Gemm", network.normal(5, 4), network.normal(5), transB=1, alpha=0.5, beta=2.0)
    network.add("Softmax", axis=1)
    return network


def channels_last() -> Network:
    """As TensorFlow exports it: a transposed input, arithmetic, explicit pads."""
    network = Network(["N", 9, 8, 3])
    network.add("Transpose", perm=[0, 3, 1, 2])
    network.add("Sub", network.weight(np.full((3, 1, 1), 0.5, np.float32)))
    network.add("Mul", network.weight(np.full((1, 3, 1, 1), 2.0, np.float32)))
    network.add("Div", network.weight(np.array(0.7, np.float32)))
    network.add("Pad", network.weight(np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64)), mode="constant")
    network.add("Conv", network.normal(6, 1, 3, 3), kernel_shape=[3, 3], strides=[2, 2], group=3)
    network.add("Relu")
    ends = np.array([2**31 - 1] * 2, np.int64)
    places = (np.array([0, 0], np.int64), ends, np.array([2, 3], np.int64), np.array([2, 1], np.int64))
    network.add("Slice", *(network.weight(each) for each in places))
    network.add("Conv", network.normal(4, 6, 1, 1), auto_pad="SAME_UPPER", strides=[2, 1], dilations=[1, 1])
    network.add("ReduceMean", axes=[-2, -1], keepdims=0)
    network.add("MatMul", network.normal(4, 5))
    network.add("Add", network.normal(5, std=0.1))
    return network


def computed_shapes() -> Network:
    """As older PyTorch exports it: constants that other nodes compute."""
    network = Network(["N", 3, 8, 8], opset=13)
    weight = network.normal(1, 3, 4, 1)
    folded = network.add("Transpose", reads=weight, perm=[2, 1, 0, 3])
    network.add("Conv", folded, reads="input", strides=[2, 2])
    network.add("Cast", to=1)
    network.add("Dropout")
    network.add("GlobalMaxPool")
    pooled = network.add("Identity")
    network.add("Shape")
    network.add("Gather", network.weight(np.array(0, np.int64)), axis=0)
    batch = network.add("Unsqueeze", network.weight(np.array([0], np.int64)))
    shape = network.add("Concat", network.weight(np.array([-1], np.int64)), reads=batch, axis=0)
    network.add("Reshape", shape, reads=pooled)
    network.add("Unsqueeze", network.weight(np.array([2], np.int64)))
    features = network.add("Squeeze", network.weight(np.array([2], np.int64)))
    zeros = network.add("ConstantOfShape", reads=network.weight(np.array([4, 5], np.int64)))
    ones = network.add("Add", network.weight(np.array(1, np.float32)), reads=zeros)
    network.add("MatMul", ones, reads=features)
    factor = [network.weight(np.linspace(0.5, 1.5, 5).astype(np.float32)) for _ in range(4)]
    network.add("BatchNormalization", *factor)
    return network


def _conv(network: Network, channels: int, out: int, group: int = 1) -> None:
    weight = network.normal(out, channels // group, 3, 3)
    network.add("Conv", weight, network.normal(out), pads=[1] * 4, group=group)


def _batch_norm(network: Network, channels: int) -> None:
    spread = network.random.uniform(0.5, 1.5, (4, channels)).astype(np.float32)
    network.add("BatchNormalization", *(network.weight(each) for each in spread), epsilon=1e-5)


def with_integers() -> Network:
    """As onnxruntime saves it: operators of integers, and a view and a pool of them."""
    network = QuantizedNetwork(["N", 3, 10, 10])
    grid = [network.weight(np.array(0.05, np.float32)), network.weight(np.array(3, np.uint8))]
    network.add("QuantizeLinear", *grid)
    weight = network.weight(network.random.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8))
    scales = network.weight(network.random.uniform(0.002, 0.006, 4).astype(np.float32))
    zeros = network.weight(np.zeros(4, np.int8))
    bias = network.weight(network.random.integers(-4000, 4000, 4).astype(np.int32))
    network.add("QLinearConv", *grid, weight, scales, zeros, *grid, bias, pads=[1] * 4)
    network.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    pooled = network.add("DequantizeLinear", *grid)
    network.add("GlobalAveragePool", reads=pooled)
    network.add("Flatten")
    network.through_steps()
    network.layer("Gemm", 5, 4, transB=1)
    network.through_steps(0.02, zero=100)
    return network


BASES = tuple(
    make().model({"edged.color": "bgr"}) for make in (plain, channels_last, computed_shapes, with_integers)
)
