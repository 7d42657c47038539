"""Short chains of ONNX nodes behind an input of 4 channels, 9 rows and 10 columns: what each operator may be."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tests.model.onnx_files import Network


def constant(*values: float) -> Callable[[Network], str]:
    return lambda network: network.weight(np.array(values, np.float32).reshape(-1, 1, 1))


ACTIVATIONS: tuple[tuple[str, dict[str, float]], ...] = (
    ("Sigmoid", {}),
    ("HardSigmoid", {"alpha": 0.7, "beta": -0.1}),
    ("HardSwish", {}),
    ("LeakyRelu", {"alpha": 0.3}),
    ("Elu", {"alpha": 0.4}),
    ("Selu", {}),
    ("Tanh", {}),
    ("Softplus", {}),
    ("Softsign", {}),
    ("Erf", {}),
    ("Exp", {}),
    ("Log", {}),
    ("Abs", {}),
    ("Sqrt", {}),
    ("Reciprocal", {}),
)


def empty_part(network: Network, axis: int) -> None:
    """Split off a part of no values, and join it with the other part, then with more."""
    lengths = network.weight(np.array([(4, 9, 10)[axis - 1], 0]))
    network.nodes.append(helper.make_node("Split", ["input", lengths], ["whole", "empty"], "split", axis=axis))
    whole = network.add("Concat", "empty", reads="whole", axis=axis)
    network.add("Concat", "empty", "input", reads=whole, axis=axis)


def add_all(network: Network, nodes: tuple[tuple[str, dict[str, float]], ...]) -> None:
    """One node behind the other."""
    for kind, attributes in nodes:
        network.add(kind, **dict[str, Any](attributes))


def integers(network: Network, *values: int) -> str:
    return network.weight(np.array(values, np.int64))


def of_one_length(network: Network) -> str:
    """The mean and the maximum of the last tensor along its length."""
    last = network.tensor
    mean = network.add("GlobalAveragePool", reads=last)
    return network.add("Concat", mean, reads=network.add("GlobalMaxPool", reads=last), axis=1)


def scalar(network: Network, number: float) -> str:
    return network.weight(np.array(number, np.float32))


def norms_of_features(network: Network) -> None:
    flat = network.add("Flatten")
    squares, sums = (network.add(kind, reads=flat, axes=[1]) for kind in ("ReduceSumSquare", "ReduceL1"))
    shares = network.add("Div", squares, reads=sums)
    network.add("Mul", network.add("ReduceL2", reads=flat, axes=[-1]), reads=shares)
    network.add("Add", flat, reads=network.tensor)


def efficient_attention(network: Network) -> None:
    """A gate for each channel, by a convolution along the channels (Wang et al., ECA-Net, 2020)."""
    network.add("Reshape", integers(network, 0, 1, -1), reads=network.add("GlobalAveragePool"))
    network.add("Conv", network.normal(1, 1, 3), pads=[1, 1])
    network.add("Reshape", integers(network, 0, -1, 1, 1), reads=network.add("Sigmoid"))
    network.add("Mul", network.tensor, reads="input")


CHAINS: dict[str, Callable[[Network], object]] = {
    "global average pool": lambda n: n.add("GlobalAveragePool"),
    "global max pool": lambda n: n.add("GlobalMaxPool"),
    "mean over height and width": lambda n: n.add("ReduceMean", axes=[2, 3]),
    "average pool, ceil mode": lambda n: n.add("AveragePool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    "identity and dropout": lambda n: (n.add("Identity"), n.add("Dropout")),
    "clip from 0": lambda n: n.add("Clip", n.weight(np.array(0, np.float32))),
    "minus constant": lambda n: n.add("Sub", constant(0.1, 0.2, 0.3, 0.4)(n)),
    "times constant": lambda n: n.add("Mul", constant(0.5)(n)),
    "divided by constant": lambda n: n.add("Div", constant(0.1, 0.2, 0.3, 0.4)(n)),
    "constant minus x": lambda n: n.add("Sub", n.tensor, reads=constant(1.0)(n)),
    "a 1×1 convolution with strides and SAME": lambda n: n.add(
        "Conv", n.normal(3, 4, 1, 1), strides=[2, 2], auto_pad="SAME_UPPER"
    ),
    "normalised, then convolved": lambda n: (
        n.add("Sub", constant(0.1, 0.2, 0.3, 0.4)(n)),
        n.add("Div", constant(0.1, 0.2, 0.3, 0.4)(n)),
        n.add("Conv", n.normal(5, 4, 3, 3), pads=[1, 1, 1, 1]),
    ),
    "pad before convolution": lambda n: (
        n.add("Pad", n.weight(np.array([0, 0, 1, 2, 0, 0, 3, 0]))),
        n.add("Conv", n.normal(5, 4, 3, 3), strides=[2, 2], auto_pad="SAME_LOWER"),
    ),
    "pad before average pool": lambda n: (
        n.add("Pad", n.weight(np.array([0, 0, 1, 1, 0, 0, 1, 1]))),
        n.add("AveragePool", kernel_shape=[3, 3]),
    ),
    "pad between ReLU and max pool": lambda n: (
        n.add("Relu"),
        n.add("Pad", n.weight(np.array([0, 0, 1, 1, 0, 0, 1, 1]))),
        n.add("MaxPool", kernel_shape=[3, 3], strides=[2, 2]),
    ),
    "pad by itself": lambda n: (n.add("Pad", n.weight(np.array([0, 2, 1, 0, 0, 1, 0, 2]))), n.add("Relu")),
    "strided slice and channel pad": lambda n: (
        n.add("Slice", *(n.weight(np.array(v)) for v in ([0, 0], [2**62, 99], [2, 3], [2, 3]))),
        n.add("Pad", n.weight(np.array([0, 3, 0, 0, 0, 1, 0, 0]))),
        n.add("Relu"),
    ),
    "one slice for each axis": lambda n: (
        n.add("Slice", *(n.weight(np.array(v)) for v in ([0], [99], [2], [2]))),
        n.add("Slice", *(n.weight(np.array(v)) for v in ([0], [99], [-1], [2]))),
        n.add("Conv", n.normal(5, 4, 3, 3)),
    ),
    "pad, then slice": lambda n: (
        n.add("Pad", n.weight(np.array([0, 0, 1, 1, 0, 0, 1, 1]))),
        n.add("Slice", *(n.weight(np.array(v)) for v in ([0, 0], [99, 99], [2, 3], [2, 2]))),
    ),
    "dense layers of all forms": lambda n: (
        n.add("Flatten"),
        n.add("Gemm", n.normal(4 * 9 * 10, 7), n.normal(1, 7), alpha=0.3, beta=0.7),
        n.add("Relu"),
        n.add("Gemm", n.normal(6, 7), transB=1),
        n.add("MatMul", n.normal(6, 5)),
        n.add("Mul", n.normal(5)),
        n.add("Add", n.normal(1, 5)),
        n.add("Softmax", axis=-1),
    ),
    "batch norm by itself": lambda n: (
        n.add("Relu"),
        n.add(
            "BatchNormalization",
            *(n.weight(np.array([1, 2, 3, i + 1], np.float32)) for i in range(4)),
            epsilon=0.1,
        ),
    ),
    "a sum of two convolutions": lambda n: (
        n.add("Conv", n.normal(4, 4, 1, 1)),
        n.add("Add", n.add("Conv", n.normal(4, 4, 1, 1), reads="input"), reads="conv_0"),
        n.add("Relu"),
    ),
    "softmax of a flattened image": lambda n: (n.add("Flatten", axis=-3), n.add("Softmax")),
    "seen with another shape, and back": lambda n: (
        n.add("Reshape", n.weight(np.array([0, 10, 36]))),
        n.add("Relu"),
        n.add("Reshape", n.weight(np.array([-1, 4, 9, 10]))),
        n.add("Conv", n.normal(5, 4, 3, 3)),
    ),
    "a sum with itself": lambda n: (n.add("Conv", n.normal(4, 4, 1, 1)), n.add("Add", n.tensor)),
    "clipped at 6 and at −1": lambda n: (
        n.add("Conv", n.normal(5, 4, 3, 3)),
        n.add("Clip", n.weight(np.array(0, np.float32)), n.weight(np.array(6, np.float32))),
        n.add("Clip", n.weight(np.array(-1, np.float32)), n.weight(np.array(0.5, np.float32))),
    ),
    "activations one after the other": lambda n: add_all(n, ACTIVATIONS),
    "channels joined, split and picked": lambda n: (
        n.add("Concat", n.add("Conv", n.normal(5, 4, 1, 1)), reads="input", axis=1),
        n.add("Gather", n.weight(np.array([8, 0, -1, 3, 3])), axis=1),
        n.add("Concat", "input", n.tensor, axis=-3),
    ),
    "channels shuffled": lambda n: (
        n.add("Reshape", n.weight(np.array([-1, 2, 2, 9, 10]))),
        n.add("Transpose", perm=[0, 2, 1, 3, 4]),
        n.add("Reshape", n.weight(np.array([0, 4, 9, 10]))),
        n.add("Conv", n.normal(5, 4, 3, 3)),
    ),
    "local response norm": lambda n: n.add("LRN", size=3, alpha=0.3, beta=0.6, bias=1.5),
    "local response norm wider than the channels": lambda n: n.add("LRN", size=7, alpha=0.3),
    "squeezed and excited": lambda n: (
        n.add("GlobalAveragePool"),
        n.add("Conv", n.normal(2, 4, 1, 1)),
        n.add("Relu"),
        n.add("Conv", n.normal(4, 2, 1, 1)),
        n.add("HardSigmoid"),
        n.add("Mul", n.tensor, reads="input"),
    ),
    "excited by dense layers": lambda n: (
        n.add("GlobalAveragePool"),
        n.add("Flatten"),
        n.add("Gemm", n.normal(4, 4)),
        n.add("Sigmoid"),
        n.add("Reshape", n.weight(np.array([0, 4, 1, 1]))),
        n.add("Mul", n.tensor, reads="input"),
    ),
    "swish, and its gate alone": lambda n: (
        n.add("Mul", n.add("Sigmoid"), reads="input"),
        n.add("Conv", n.normal(4, 4, 1, 1)),
        n.add("Mul", n.add("HardSigmoid", alpha=1 / 6, beta=0.5), reads="conv_2"),
    ),
    "arithmetic that broadcasts": lambda n: (
        n.add("Sub", n.add("GlobalAveragePool"), reads="input"),
        n.add("Max", n.add("ReduceMean", axes=[2, 3], reads="input"), reads="sub_1"),
        n.add("Min", "input", reads="max_3"),
        n.add("Div", n.add("Exp", reads="input"), reads="min_4"),
    ),
    "arithmetic whose rows broadcast": lambda n: (
        n.add("Reshape", integers(n, 0, 6, 5, 4, 3)),
        n.add("Mul", n.add("ReduceMean", axes=[2]), reads="reshape_0"),
        n.add("Sub", n.add("ReduceMax", axes=[1, 4], reads="mul_2"), reads="mul_2"),
    ),
    "sampled at computed positions": lambda n: (
        n.add("Conv", n.normal(2, 4, 1, 1, std=0.3)),
        n.add("Transpose", perm=[0, 2, 3, 1]),
        n.add("GridSample", "transpose_1", reads="input", mode="bilinear", align_corners=1),
        n.add("Conv", n.normal(5, 4, 3, 3)),
    ),
    "arithmetic with constants of any shape": lambda n: (
        n.add("Mul", n.normal(9, 10)),
        n.add("Add", n.normal(1, 1, 1, 10)),
        n.add("Abs"),
        n.add("Pow", n.weight(np.array(1.5, np.float32))),
        n.add("Sub", n.tensor, reads=n.normal(4, 9, 10)),
    ),
    "a sum that broadcasts": lambda n: n.add("Add", n.add("GlobalAveragePool"), reads="input"),
    "features that are normalised by themselves": lambda n: (
        n.add("Flatten"),
        n.add("Relu"),
        n.add("Mul", n.normal(360)),
        n.add("Gemm", n.normal(360, 5)),
    ),
    "unsqueezed along two axes at once": lambda n: (
        n.add("Flatten"),
        n.add("Gemm", n.normal(360, 4)),
        n.add("Unsqueeze", n.weight(np.array([2, -1]))),
        n.add("Conv", n.normal(5, 4, 1, 1)),
    ),
    "shapes computed from constants": lambda n: (
        n.add("Shape", reads=n.weight(np.ones((3, 7, 4, 2), np.float32)), start=1, end=3),
        n.add("Div", n.weight(np.array([-2, 3])), reads=n.tensor),
        n.add("Mul", n.weight(np.array([-1, 4])), reads=n.tensor),
        n.add("Concat", n.tensor, n.weight(np.array([9, 10])), reads=n.weight(np.array([0])), axis=0),
        n.add("Reshape", n.weight(np.array([0, 4, 9, 10])), reads="input"),
    ),
    "a reflected pad": lambda n: (
        n.add("Pad", integers(n, 0, 0, 1, 1, 0, 0, 2, 3), mode="reflect"),
        n.add("Conv", n.normal(5, 4, 3, 3)),
    ),
    "a pad that repeats the last pixels": lambda n: n.add("Pad", integers(n, 0, 0, 3, 1, 0, 0, 2, 0), mode="edge"),
    "a pad by a number": lambda n: n.add("Pad", integers(n, 0, 0, 1, 2, 0, 0, 0, 1), scalar(n, 1.5)),
    "pads by two numbers": lambda n: (
        n.add("Pad", integers(n, 0, 0, 1, 2, 0, 0, 0, 1), scalar(n, 1.5)),
        n.add("Pad", integers(n, 0, 0, 1, 0, 0, 0, 1, 0), scalar(n, -2.0)),
        n.add("Conv", n.normal(5, 4, 3, 3)),
    ),
    "a pad that no maximum chooses": lambda n: (
        n.add("Pad", integers(n, 0, 0, 0, 1, 0, 0, 1, 1), scalar(n, -np.inf)),
        n.add("MaxPool", kernel_shape=[3, 3], strides=[2, 2]),
    ),
    "a pad of zeros before a maximum of any numbers": lambda n: (
        n.add("Sub", scalar(n, 1.0)),
        n.add("Pad", integers(n, 0, 0, 1, 1, 0, 0, 1, 1)),
        n.add("MaxPool", kernel_shape=[3, 3], strides=[2, 2]),
    ),
    "a pad, then a mean with pads": lambda n: (
        n.add("Pad", integers(n, 0, 0, 1, 1, 0, 0, 1, 1)),
        n.add("AveragePool", kernel_shape=[3, 3], pads=[1, 0, 0, 1], strides=[2, 2]),
    ),
    "a mean whose last windows are cut, and pads count": lambda n: n.add(
        "AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[0, 1, 1, 1], ceil_mode=1, count_include_pad=1
    ),
    "a maximum whose last windows are cut": lambda n: n.add(
        "MaxPool", kernel_shape=[3, 2], strides=[3, 3], pads=[1, 0, 1, 1], ceil_mode=1
    ),
    "negated": lambda n: (
        n.add("Neg"),
        n.add("Transpose", perm=[0, 2, 3, 1]),
        n.add("Neg", reads=n.add("ReduceMax", axes=[2])),
    ),
    "the norm of all pixels": lambda n: n.add("ReduceL2", axes=[2, 3]),
    "the norm of channels": lambda n: n.add("ReduceL2", axes=[1], keepdims=0),
    "norms of features": norms_of_features,
    "efficient channel attention": efficient_attention,
    "convolutions and pools of one length": lambda n: (
        n.add("Reshape", integers(n, 0, 8, 45)),
        n.add("Conv", n.normal(6, 4, 3), n.normal(6), group=2, strides=[2], pads=[2, 1], dilations=[2]),
        n.add("MaxPool", kernel_shape=[3], strides=[2], pads=[1, 0], ceil_mode=1),
        n.add("Conv", n.normal(5, 6, 2), auto_pad="SAME_UPPER"),
        n.add("AveragePool", kernel_shape=[2], pads=[0, 1], count_include_pad=1),
        of_one_length(n),
    ),
    "unsqueezed, then convolved": lambda n: (
        n.add("GlobalAveragePool"),
        n.add("Squeeze", n.weight(np.array([3]))),
        n.add("Unsqueeze", n.weight(np.array([-1]))),
        n.add("Conv", n.normal(5, 4, 1, 1)),
    ),
}


def attention(network: Network) -> None:
    """Each pixel attends to all others, by its channels (Vaswani et al., 2017)."""
    pixels = network.add("Reshape", integers(network, 0, 4, 90))
    keys = network.add("MatMul", pixels, reads=network.add("Transpose", perm=[0, 2, 1]))
    weights = network.add("Softmax", reads=keys, axis=-1)
    network.add("MatMul", weights, reads=pixels)
    network.add("Reshape", integers(network, 0, 4, 9, 10))
    network.add("Conv", network.normal(5, 4, 3, 3))


def gelu_by_tanh(network: Network) -> None:
    network.opset = 20  # the first with Gelu
    network.add("Gelu", approximate="tanh")


def best_three(network: Network) -> None:
    """The sum of each score and its place."""
    network.add("GlobalAveragePool")
    scores = network.add("Flatten")
    inputs = [scores, integers(network, 3)]
    network.nodes.append(helper.make_node("TopK", inputs, ["best", "places"], "topk", axis=1))
    network.add("Add", network.add("Cast", reads="places", to=1), reads="best")


# What only changes places, or computes along other axes than the channels of an image.
CHAINS.update(
    {
        "a crop": lambda n: n.add("Slice", *(integers(n, *v) for v in ((1, 2), (8, -1), (2, 3)))),
        "a transpose": lambda n: n.add("Transpose", perm=[0, 1, 3, 2]),
        "rows joined": lambda n: n.add("Concat", "input", axis=2),
        "rows picked": lambda n: n.add("Gather", integers(n, 0, 7), axis=2),
        "rows picked into two axes": lambda n: n.add(
            "Gather", n.weight(1 + 3 * np.indices((2, 2))[0] + 4), axis=2
        ),
        "computed weights": lambda n: n.add(
            "MatMul", n.add("Transpose", perm=[0, 1, 3, 2], reads="input"), reads="input"
        ),
        "a wide constant": lambda n: n.add("Mul", n.weight(np.full((1, 1, 1, 1, 1), 2, np.float32))),
        "twice as large": lambda n: n.add(
            "Resize", "", n.weight(np.array([1, 1, 2, 2], np.float32)), mode="linear"
        ),
        "a transposed convolution": lambda n: n.add("ConvTranspose", n.normal(4, 3, 3, 3), strides=[2, 2]),
        "channels to pixels": lambda n: n.add("DepthToSpace", blocksize=2, mode="CRD"),
        "pixels to channels": lambda n: (
            n.add("Slice", *(integers(n, v) for v in (1, 9, 2))),
            n.add("SpaceToDepth", blocksize=2),
            n.add("Conv", n.normal(3, 16, 1, 1)),
        ),
        "a slope by channel": lambda n: (
            n.add("Conv", n.normal(6, 4, 3, 3)),
            n.add("PRelu", n.normal(6, 1, 1)),
            n.add("Conv", n.normal(3, 6, 1, 1)),
        ),
        "a norm of each picture": lambda n: n.add("InstanceNormalization", n.normal(4), n.normal(4)),
        "a norm of layers": lambda n: n.add("LayerNormalization", n.normal(4, 9, 10), axis=1),
        "the largest of each row": lambda n: n.add("ReduceMax", axes=[3], keepdims=0),
        "log softmax": lambda n: (n.add("GlobalAveragePool"), n.add("Flatten"), n.add("LogSoftmax")),
        "attention": attention,
        "windows without a batch": lambda n: (
            n.add("Reshape", integers(n, 2, 2, 90)),
            n.add("Softmax", axis=1),
            n.add("Reshape", integers(n, -1, 4, 9, 10)),
            n.add("Relu"),
        ),
        "a norm of groups": lambda n: (
            n.add("Reshape", integers(n, 0, 2, -1)),
            n.add("InstanceNormalization", n.normal(2), n.normal(2)),
            n.add("Reshape", integers(n, 0, 4, 9, 10)),
            n.add("Mul", n.normal(4, 1, 1)),
        ),
        "of another size, by cubes": lambda n: n.add(
            "Resize", "", n.weight(np.array([1, 1, 0.6, 1.7], np.float32)), mode="cubic"
        ),
        "a transposed convolution of groups, cut": lambda n: n.add(
            "ConvTranspose", n.normal(4, 3, 5, 4), n.normal(6), strides=[3, 2], pads=[1, 2, 3, 1], group=2
        ),
        "a transposed convolution with gaps between windows": lambda n: n.add(
            "ConvTranspose", n.normal(4, 3, 1, 2), strides=[2, 3], output_padding=[1, 2]
        ),
        "a transposed convolution of dilated windows": lambda n: n.add(
            "ConvTranspose", n.normal(4, 3, 3, 2), dilations=[2, 3], pads=[1, 0, 2, 2]
        ),
        "a transposed convolution of dilated windows with strides": lambda n: n.add(
            *("ConvTranspose", n.normal(4, 3, 3, 4), n.normal(6)),
            strides=[3, 2],
            dilations=[2, 2],
            pads=[1, 2, 3, 1],
            group=2,
        ),
        "GELU by tanh": gelu_by_tanh,
        "a constant times each matrix": lambda n: n.add("MatMul", "input", reads=n.normal(5, 9)),
        "each row times a vector": lambda n: n.add("MatMul", n.normal(10)),
        "a vector times each matrix": lambda n: n.add("MatMul", "input", reads=n.normal(9)),
        "a matrix for each channel": lambda n: n.add("MatMul", n.normal(4, 10, 3)),
        "a matrix for each channel, before it": lambda n: n.add("MatMul", "input", reads=n.normal(1, 4, 3, 9)),
        "matrices for one channel": lambda n: (
            n.add("Slice", *(integers(n, v) for v in (0, 1, 1))),
            n.add("MatMul", n.normal(3, 10, 2)),
        ),
        "a matrix for each row of several": lambda n: (
            n.add("Reshape", integers(n, 0, 2, 3, 6, 10)),
            n.add("MatMul", n.normal(2, 1, 10, 4)),
        ),
        "the sum of all channels and rows": lambda n: n.add("ReduceSum", integers(n, 1, 2), keepdims=0),
        "the smallest of each pixel": lambda n: n.add("ReduceMin", axes=[1]),
        "repeated along an axis": lambda n: (n.add("GlobalAveragePool"), n.add("Expand", integers(n, 1, 4, 3, 2))),
        "a part of no channels, joined again": lambda n: empty_part(n, 1),
        "a part of no columns, joined again": lambda n: empty_part(n, 3),
        "a dropout of nothing in training": lambda n: n.add(
            "Dropout", n.weight(np.array(0, np.float32)), n.weight(np.array(True))
        ),
        "a token before the pixels": lambda n: (
            n.add("Reshape", integers(n, 0, 4, 90)),
            n.add("Transpose", perm=[0, 2, 1]),
            n.add("MatMul", n.normal(4, 6)),
            n.add("Add", n.normal(90, 6)),
        ),
    }
)


def scan(
    network: Network,
    kind: str = "Relu",
    *reads: str,
    attributes: Mapping[str, Any] | None = None,
    **places: Any,
) -> None:
    """Row by row, a running sum times a constant, and less a computed tensor: both are from outside.

    A node of `kind` writes each row; it reads the sum, then `reads`.
    """
    half = network.weight(np.array(0.5, np.float32))
    mean = network.add("ReduceMean", axes=[2], keepdims=0)
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["sum", half], ["shrunk"]),
            helper.make_node("Sub", ["shrunk", mean], ["less"]),
            helper.make_node("Add", ["less", "row"], ["next"]),
            helper.make_node(kind, ["next", *reads], ["written"], **(attributes or {})),
        ],
        "body",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("sum", "row")],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("next", "written")],
    )
    rows = network.add("Transpose", reads="input", perm=[2, 0, 1, 3])
    network.nodes.append(
        helper.make_node("Scan", [mean, rows], ["last", "rows"], "scan", body=body, num_scan_inputs=1, **places)
    )
    network.add("Transpose", reads="rows", perm=[1, 2, 0, 3])


# What no kernel computes, so that the host does: first, last, and between kernels.
ON_HOST: dict[str, Callable[[Network], object]] = {
    "a dilated pool": lambda n: n.add("MaxPool", kernel_shape=[2, 2], dilations=[2, 2]),
    "a mask": lambda n: (
        n.add(
            "Where",
            n.weight(np.array(-np.inf, np.float32)),
            "input",
            reads=n.add("Greater", n.weight(np.array(1.5, np.float32))),
        )
        and n.add("Clip", n.weight(np.array(-9, np.float32)))
    ),
    "the best class as a number": lambda n: (n.add("ArgMax", axis=1), n.add("Cast", to=1), n.add("Sqrt")),
    "the best three": best_three,
    "channels by a mask": lambda n: n.add("Compress", n.weight(np.array([True, False, True, True])), axis=1),
    "a scan": scan,
}
