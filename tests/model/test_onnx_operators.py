"""Single nodes with all that their attributes may say, compared with onnxruntime."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from edged.config import ModelConfig
from edged.errors import ModelError
from edged.model import reference
from edged.model.graph import BatchNorm, OnHost
from edged.model.onnx_reader import read_onnx
from edged.model.package import load_model
from edged.model.passes import simplify
from tests.model.onnx_chains import CHAINS, ON_HOST, scan
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error
from tests.model.random_operators import add_several

AUTO_PADS = st.sampled_from(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
SWEEP = settings(max_examples=60, deadline=None, derandomize=True)


def assert_equals_onnxruntime(network: Network, path: Path) -> None:
    """As read and as simplified."""
    batch = 2 if network.shape[0] == "N" else 1
    network.add("Flatten")
    network.save(path)
    shape = [int(size) for size in network.shape[1:]]
    x = np.random.default_rng(0).standard_normal((batch, *shape)).astype(np.float32)
    expected = onnxruntime_outputs(path, x)
    simplified = simplify(read_onnx(path))
    assert not any(isinstance(operator, BatchNorm) for operator in simplified.operators)
    for graph in (read_onnx(path), simplified):
        assert relative_error(reference.run(graph, x.reshape(batch, *graph.shapes[graph.input])), expected) < 1e-5


def check(network: Network) -> None:
    with TemporaryDirectory() as folder:
        assert_equals_onnxruntime(network, Path(folder) / "node.onnx")


@st.composite
def window(draw: st.DrawFn) -> dict[str, Any]:
    kernel = [draw(st.integers(1, 5)), draw(st.integers(1, 5))]
    auto_pad = draw(AUTO_PADS)
    attributes: dict[str, Any] = {
        "kernel_shape": kernel,
        "strides": [draw(st.integers(1, 3)), draw(st.integers(1, 3))],
        "auto_pad": auto_pad,
    }
    if auto_pad == "NOTSET":
        attributes["pads"] = [draw(st.integers(0, kernel[side % 2] - 1)) for side in range(4)]
    elif auto_pad != "VALID":
        # onnxruntime's pools refuse strides beyond the window here
        assume(all(stride <= side for stride, side in zip(attributes["strides"], kernel, strict=True)))
    return attributes


SIZES = st.tuples(st.integers(5, 13), st.integers(5, 13))
GROUPS = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
DILATIONS = st.sampled_from([(1, 1), (2, 1), (2, 3)])


@SWEEP
@given(SIZES, window(), GROUPS, DILATIONS, st.booleans())
def test_convolutions(
    size: tuple[int, int],
    attributes: dict[str, Any],
    groups: tuple[int, int, int],
    dilations: tuple[int, int],
    bias: bool,
) -> None:
    count, channels, out = groups
    if dilations != (1, 1):
        # onnxruntime refuses SAME with dilations; larger windows than the image have no output
        assume(attributes["auto_pad"] in {"NOTSET", "VALID"})
        extents = [d * (k - 1) + 1 for d, k in zip(dilations, attributes["kernel_shape"], strict=True)]
        assume(all(extent <= side for extent, side in zip(extents, size, strict=True)))
    network = Network(["N", count * channels, *size])
    weight = network.normal(count * out, channels, *attributes["kernel_shape"])
    biases = (network.normal(count * out),) if bias else ()
    network.add("Conv", weight, *biases, group=count, dilations=dilations, **attributes)

    check(network)


@SWEEP
@given(SIZES, window(), st.booleans())
def test_max_pools(size: tuple[int, int], attributes: dict[str, Any], ceil: bool) -> None:
    network = Network(["N", 3, *size])
    assume(not (ceil and attributes["auto_pad"] != "NOTSET"))
    network.add("MaxPool", ceil_mode=int(ceil), **attributes)

    check(network)


@SWEEP
@given(SIZES, window(), st.booleans())
def test_average_pools(size: tuple[int, int], attributes: dict[str, Any], counted: bool) -> None:
    network = Network(["N", 3, *size])
    network.add("AveragePool", count_include_pad=int(counted), **attributes)

    check(network)


@pytest.mark.parametrize("chain", [*CHAINS, *ON_HOST])
def test_chains(tmp_path: Path, chain: str) -> None:
    network = Network([1 if chain == "windows without a batch" else "N", 4, 9, 10])
    (CHAINS | ON_HOST)[chain](network)

    assert_equals_onnxruntime(network, tmp_path / "chain.onnx")


@pytest.mark.parametrize("chain", CHAINS)
def test_chains_have_kernels_for_each_node(tmp_path: Path, chain: str) -> None:
    network = Network([1, 4, 9, 10])
    CHAINS[chain](network)
    network.add("Flatten")

    graph = read_onnx(network.save(tmp_path / "chain.onnx"))

    assert not any(isinstance(operator, OnHost) for operator in graph.operators)


def test_a_scatter_as_it_was_called_before_operator_set_11(tmp_path: Path) -> None:
    network = Network([1, 4, 9, 10], opset=10)
    places = network.weight(np.array([[[[3, 5]]]]))
    network.add("Scatter", places, network.normal(1, 1, 1, 2), axis=3)

    assert_equals_onnxruntime(network, tmp_path / "scatter.onnx")


@pytest.mark.parametrize("opset", [11, 17, 21])
def test_eight_bits_with_a_scale_that_the_frame_decides(tmp_path: Path, opset: int) -> None:
    network = Network([1, 4, 9, 10], opset=opset)
    steps, scale, zero = add_several(network, "DynamicQuantizeLinear", ["input"], 3)
    network.add("DequantizeLinear", scale, zero, reads=steps)

    assert_equals_onnxruntime(network, tmp_path / "steps.onnx")


def test_channels_last_as_tensorflow_exports_them(tmp_path: Path) -> None:
    network = Network(["N", 9, 10, 3])
    network.add("Transpose", perm=[0, 3, 1, 2])
    network.add("Conv", network.normal(5, 3, 3, 3))
    network.add("GlobalAveragePool")
    path = network.save(tmp_path / "last.onnx")
    x = np.random.default_rng(0).standard_normal((2, 9, 10, 3)).astype(np.float32)

    graph = simplify(read_onnx(path))

    assert graph.shapes[graph.input] == (3, 9, 10)
    got = reference.run(graph, x.transpose(0, 3, 1, 2))
    assert relative_error(got, onnxruntime_outputs(path, x)) < 1e-5


def test_pixels_scaled_in_the_file_before_their_channels_come_first(tmp_path: Path) -> None:
    network = Network(["N", 9, 10, 3])
    network.input_type = TensorProto.UINT8
    network.add("Cast", to=TensorProto.FLOAT)
    network.add("Mul", network.weight(np.array(1 / 255, np.float32)))
    network.add("Sub", network.weight(np.array([0.5, 0.4, 0.3], np.float32)))
    network.add("Transpose", perm=[0, 3, 1, 2])
    network.add("Conv", network.normal(5, 3, 3, 3))
    network.add("GlobalAveragePool")
    network.add("Flatten")
    path = network.save(tmp_path / "pixels.onnx")
    images = np.random.default_rng(0).integers(0, 256, (2, 9, 10, 3), np.uint8)

    model = load_model(ModelConfig(path=path, strict=True))

    found = reference.run(model.graph, reference.prepare(images, model.input))
    assert relative_error(found, onnxruntime_outputs(path, images)) < 1e-5
    assert model.prepared_by == "file"


def test_weights_in_bfloat16(tmp_path: Path) -> None:
    network = Network(["N", 4, 9, 10])
    weights = network.random.standard_normal((3, 4, 1, 1)).astype(np.float32)
    rounded = (weights.view(np.uint32) & 0xFFFF0000).view(np.float32)
    network.weights.append(helper.make_tensor("narrow", TensorProto.BFLOAT16, weights.shape, rounded.reshape(-1)))
    network.add("Conv", "narrow")

    graph = read_onnx(_flat(network).save(tmp_path / "narrow.onnx"))

    assert np.array_equal(graph.operators[0].weight, rounded)  # type: ignore[attr-defined]


def _flat(network: Network) -> Network:
    network.add("Flatten")
    return network


def scan_of_operator_set_8(network: Network) -> None:
    network.opset = 8
    scan(network)


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
        "is of com.microsoft, of which are supported: QGemm",
    ),
    "a 1-D convolution": (lambda n: n.add("Conv", n.normal(4, 4, 3)), r"weights of shape \(4, 4, 3\)"),
    "integer weights": (
        lambda n: n.add("Conv", n.weight(np.ones((4, 4, 1, 1), np.int8))),
        "of type int8; supported are bfloat16, float16, float32 and float64",
    ),
    "a network that chooses": (
        lambda n: n.nodes.append(helper.make_node("If", ["input"], ["chosen"])),
        "runs another graph: export the network without it",
    ),
    "something random": (lambda n: n.add("Bernoulli"), "is random: export the network for inference"),
    "as many values as there are": (
        lambda n: n.add("NonZero"),
        "writes as many values as it finds: cut the network before it",
    ),
    "a mask that the picture decides": (
        lambda n: n.add("Compress", n.add("Cast", to=9), reads="input"),
        "input cast_0 decides the size of the output; supported is a constant",
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
        r"its node written \(Expand\) reads sum, which decides a size; supported is a constant",
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
        "input cast_0 decides the size of the output; supported is a constant",
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
        lambda n: n.nodes.append(
            helper.make_node(
                "BatchNormalization", ["input", *[n.weight(np.ones(4, np.float32))] * 4], list("yabcd")
            )
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
    "an image as output": (lambda n: n.add("Relu"), "supported is one score for each class"),
    "a stride far beyond a window with SAME": (
        lambda n: n.add("Conv", n.normal(4, 4, 1, 1), strides=[3, 1], auto_pad="SAME_UPPER"),
        r"auto_pad is SAME_UPPER with strides \(3, 1\) beyond the window \(1, 1\)",
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


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_supported_is_refused_by_name(tmp_path: Path, case: str) -> None:
    build, message = REFUSED[case]
    network = Network(["N", 4, 9, 10])
    build(network)
    path = network.save(tmp_path / "refused.onnx")

    with pytest.raises(ModelError, match=message) as error:
        read_onnx(path)
    assert str(error.value).startswith(f"{path}: ")
