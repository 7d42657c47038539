"""Networks that edged refuses: what adds the node to a network of [N, 4, 9, 10], and what the message says."""

from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper

from tests.model.onnx_chains import scan
from tests.model.onnx_files import Network


def scan_of_operator_set_8(network: Network) -> None:
    network.opset = 8
    scan(network)


def constants(network: Network, *numbers: float) -> list[str]:
    return [network.weight(np.array(number, np.float32)) for number in numbers]


def ends_in(network: Network, node: onnx.NodeProto) -> None:
    network.nodes.append(node)
    network.tensor = node.output[0]


EMPTY = helper.make_graph([], "empty", [], [])
REFUSED: dict[str, tuple[Callable[[Network], object], str]] = {
    "an operator": (
        lambda n: n.add("Dot"),
        r"node dot_0 \(Dot\): operator Dot is unknown in operator set 17 of ONNX: .* without custom ones",
    ),
    "an operator of a later set": (
        lambda n: n.add("CenterCropPad"),
        "CenterCropPad is unknown in operator set 17 of ONNX: export the network with one of 18 or later",
    ),
    "an unknown attribute": (lambda n: n.add("Relu", slope=1.0), "attribute slope is not supported"),
    "another domain": (
        lambda n: n.add("FusedConv", domain="com.microsoft"),
        "is of com.microsoft, of which are supported: MatMulNBits",
    ),
    "a 1-D convolution": (lambda n: n.add("Conv", n.normal(4, 4, 3)), r"weights of shape \(4, 4, 3\)"),
    "integer weights": (
        lambda n: n.add("Conv", n.weight(np.ones((4, 4, 1, 1), np.int8))),
        "of type int8; supported are bfloat16, float16, float32 and float64",
    ),
    "a network that chooses": (
        lambda n: ends_in(n, helper.make_node("If", ["input"], ["chosen"])),
        "runs another graph: export the network without it",
    ),
    "something random": (lambda n: n.add("Bernoulli"), "is random: export the network for inference"),
    "as many values as there are": (
        lambda n: n.add("NonZero"),
        "writes as many values as it finds: cut the network before it",
    ),
    "a mask that the picture decides": (
        lambda n: n.add("Compress", n.add("Cast", to=9), reads="input"),
        "the size of its output depends on the picture, by input cast_0: export the network for one size",
    ),
    "a scan of an old operator set": (
        scan_of_operator_set_8,
        "is of operator set 8; supported is Scan of 9 and later",
    ),
    "a scan backwards": (
        lambda n: scan(n, scan_input_directions=[1]),
        "attribute scan_input_directions is supported only as 0 for each tensor",
    ),
    "a scan of columns": (
        lambda n: scan(n, scan_input_axes=[-1]),
        "attribute scan_input_axes is supported only as 0 for each tensor",
    ),
    "a scan of something random": (
        lambda n: scan(n, "RandomNormalLike"),
        r"its node written \(RandomNormalLike\) is random",
    ),
    "a scan that finds values": (lambda n: scan(n, "NonZero"), "writes as many values as it finds"),
    "a scan whose rows decide a size": (
        lambda n: scan(n, "Expand", "sum"),
        r"its node written \(Expand\) writes a size that depends on the picture, by sum: export the network",
    ),
    "a scan with a pool": (
        lambda n: scan(n, "MaxPool", attributes={"kernel_shape": [2]}),
        r"its node written \(MaxPool\) is not supported inside a Scan: export the network without it",
    ),
    "a scan that chooses": (
        lambda n: scan(n, "If", attributes=dict.fromkeys(("then_branch", "else_branch"), EMPTY)),
        r"its node written \(If\) has a graph of its own",
    ),
    "a dropout in training": (
        lambda n: n.add("Dropout", n.weight(np.array(0.1, np.float32)), n.weight(np.array(True))),
        "is in training mode; supported is inference",
    ),
    "a size that the picture decides": (
        lambda n: n.add("Expand", n.add("Cast", to=7), reads="input"),
        "the size of its output depends on the picture, by input cast_0: export the network for one size",
    ),
    "a range that ends where the picture says": (
        lambda n: (n.add("ReduceMax", keepdims=0), n.add("Range", *constants(n, 9.0, 1.0))),
        "the size of its output depends on the picture, by input reducemax_0: export the network for one size",
    ),
    "weights that are not finite": (
        lambda n: n.add("Conv", n.weight(np.full((4, 4, 1, 1), np.nan, np.float32))),
        r"holds infinities or NaN, .* the first at index \(0, 0, 0, 0\): export the network with finite weights",
    ),
    "weights that the file lacks": (
        lambda n: n.add("Conv", "ghost"),
        "reads tensor ghost, which nothing before it writes: the file lacks it",
    ),
    "weights that do not fit": (
        lambda n: n.add("Conv", n.normal(4, 3, 1, 1)),
        "do not fit 4 input channels: the file contradicts itself",
    ),
    "a missing tensor": (
        lambda n: n.add("Relu", reads="ghost"),
        "reads tensor ghost, which nothing before it writes: the file lacks it",
    ),
    "a window larger than the image": (
        lambda n: n.add("MaxPool", kernel_shape=[99, 99]),
        "input size is too small",
    ),
    "frames joined": (
        lambda n: n.add("Concat", "input", axis=0),
        r"has shape \(2, 4, 9, 10\); supported is a batch",
    ),
    "a norm in training": (
        lambda n: ends_in(
            n,
            helper.make_node(
                "BatchNormalization", ["input", *[n.weight(np.ones(4, np.float32))] * 4], list("yabcd")
            ),
        ),
        "has several outputs, as in training; supported is inference: export it in eval mode",
    ),
    "integers divided by 0": (
        lambda n: n.add("Div", n.weight(np.array([0])), reads=n.weight(np.array([1]))),
        "cannot be computed: it divides integers by 0",
    ),
    "nothing but a cast": (
        lambda n: (n.shape.__setitem__(slice(2, 4), [1, 1]), n.add("Cast", to=1)),
        "no layer computes anything",
    ),
    "a channel beyond the last": (lambda n: n.add("Gather", n.weight(np.array([4])), axis=1), "beyond the 4"),
    "a split of too much": (lambda n: n.add("Split", n.weight(np.array([9])), axis=1), r"splits 4 .* into \(9,\)"),
    "shapes that do not broadcast": (
        lambda n: n.add("Mul", n.add("Conv", n.normal(3, 4, 1, 1)), reads="input"),
        r"combines the shapes \(\(4, 9, 10\), \(3, 9, 10\)\); supported are two that broadcast: the file",
    ),
    "a constant that does not broadcast": (
        lambda n: n.add("Add", n.normal(5, 1, 1)),
        r"combines the shapes \(1, 4, 9, 10\) and \(5, 1, 1\), which do not broadcast: the file",
    ),
    "an image that is too large": (
        lambda n: n.add("Resize", "", n.weight(np.array([1, 1, 9999, 9999], np.float32))),
        r"shape \(4, 89991, 99990\); it may hold 1 to \d+ values: export the network for a smaller input",
    ),
    "a stride far beyond a window with SAME": (
        lambda n: n.add("Conv", n.normal(4, 4, 1, 1), strides=[3, 1], auto_pad="SAME_UPPER"),
        r"auto_pad is SAME_UPPER with a stride of 3 beyond the window of 1",
    ),
    "a factor that takes weights beyond float32": (
        lambda n: (n.add("GlobalAveragePool"), n.add("Flatten"), n.add("Gemm", n.normal(4, 2), alpha=3e38)),
        r"weights times 3e\+38 holds infinities",
    ),
    "a reshape of the batch": (
        lambda n: n.add("Reshape", n.weight(np.array([2, -1]))),
        r"has shape \(2, 180\); supported is a batch as its first axis",
    ),
}
