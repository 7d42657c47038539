"""Single nodes with all that their attributes may say, compared with onnxruntime."""

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
from tests.model.onnx_chains import CHAINS, ON_HOST
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error
from tests.model.random_operators import add_several
from tests.model.refused_networks import REFUSED

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


@pytest.mark.parametrize("batch", [1, "N"])
@pytest.mark.parametrize("sides", [(9, 10), ("rows", "columns")])
def test_gray_pictures_with_a_reshape_in_place_of_the_transpose_as_tf2onnx_has_it(
    tmp_path: Path, batch: int | str, sides: tuple[int | str, int | str]
) -> None:
    network = Network([batch, *sides, 1])
    if sides == (9, 10):
        shape = network.weight(np.array([-1, 1, 9, 10]))
    else:
        order = network.weight(np.array([0, 3, 1, 2]))
        shape = network.add("Gather", order, reads=network.add("Shape"))
    network.add("Reshape", shape, reads="input")
    network.add("Conv", network.normal(5, 1, 3, 3))
    network.add("GlobalAveragePool")
    network.add("Flatten")
    path = network.save(tmp_path / "gray.onnx")
    x = np.random.default_rng(0).standard_normal((1, 9, 10, 1)).astype(np.float32)

    graph = simplify(read_onnx(path, (10, 9)))

    assert graph.shapes[graph.input] == (1, 9, 10)
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


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_supported_is_refused_by_name(tmp_path: Path, case: str) -> None:
    build, message = REFUSED[case]
    network = Network(["N", 4, 9, 10])
    build(network)
    path = network.save(tmp_path / "refused.onnx")

    with pytest.raises(ModelError, match=message) as error:
        read_onnx(path)
    assert str(error.value).startswith(f"{path}: ")


def test_a_strided_view_of_pytorch_needs_no_host(tmp_path: Path) -> None:
    """Given `as_strided`, which is exported as a Gather of all values by an array of their places."""
    network = Network([1, 4, 9, 10])
    network.add("GlobalAveragePool")
    network.add("Reshape", network.weight(np.array([-1])))
    network.add("Gather", network.weight(np.arange(4).reshape(1, 4, 1, 1)), axis=0)
    network.add("Conv", network.normal(5, 4, 1, 1))
    network.add("Flatten")
    path = network.save(tmp_path / "view.onnx")
    x = np.random.default_rng(0).normal(size=(1, 4, 9, 10)).astype(np.float32)

    graph = read_onnx(path)

    assert not any(isinstance(operator, OnHost) for operator in graph.operators)
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-6


def test_indices_without_a_regular_step_are_left_to_the_host(tmp_path: Path) -> None:
    network = Network(["N", 4, 9, 10])
    network.add("Gather", network.weight(np.array([[0, 1], [2, 5]])), axis=2)
    network.add("Flatten")
    path = network.save(tmp_path / "gather.onnx")
    x = np.random.default_rng(0).normal(size=(1, 4, 9, 10)).astype(np.float32)

    graph = read_onnx(path)

    assert [operator.kind for operator in graph.operators if isinstance(operator, OnHost)] == ["Gather"]
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-6


def test_a_constant_with_more_axes_gives_its_result_as_many(tmp_path: Path) -> None:
    network = Network([1, 4, 9, 10])
    network.add("GlobalAveragePool")
    network.add("Flatten")
    network.add("Add", network.weight(np.ones((1, 1, 1), np.float32)))  # (1, 4) becomes (1, 1, 4)
    network.add("Softmax", axis=2)
    network.add("Flatten")
    path = network.save(tmp_path / "wide.onnx")
    x = np.random.default_rng(0).normal(size=(1, 4, 9, 10)).astype(np.float32)

    found = reference.run(read_onnx(path), x)

    assert relative_error(found, onnxruntime_outputs(path, x)) < 1e-6
