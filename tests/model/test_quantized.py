"""Quantized files: read, fused to operators of whole numbers, and as right as their own definition."""

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
import pytest

from edged.config import ModelConfig
from edged.errors import ModelError
from edged.model import passes, reference
from edged.model.graph import (
    Activate,
    AveragePool,
    Concat,
    Conv,
    Dequantize,
    Flatten,
    Graph,
    MaxPool,
    OnHost,
    Quantize,
    QuantizedAdd,
    QuantizedConv,
    QuantizedDense,
)
from edged.model.graph_cache import KeptGraph, KeptGraphs
from edged.model.onnx_reader import read_onnx
from edged.model.package import load_model
from edged.model.passes import simplify
from edged.model.quantized_passes import step_tensors
from tests.model.quantized_files import (
    SIZE,
    STEP,
    QuantizedNetwork,
    network_of_all_kinds,
    network_with_silu,
    node_by_node,
)

LAST_STEP = 0.02  # scale of the last tensor of `network_of_all_kinds`


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return network_of_all_kinds().save(tmp_path / "quantized.onnx")


@pytest.fixture
def graph(path: Path) -> Graph:
    return simplify(read_onnx(path))


def pictures(count: int = 4) -> np.ndarray:
    return np.random.default_rng(3).random((count, 3, *SIZE), np.float32)


def test_the_scores_are_those_of_onnxruntime(path: Path, graph: Graph) -> None:
    x = pictures(16)

    steps = (reference.run(graph, x) - node_by_node(path, x)) / LAST_STEP

    assert np.abs(steps).max() < 1.5  # a sum of floats, rounded, may fall to the other side
    assert np.mean(np.abs(steps) < 0.5) > 0.95


def test_fused_or_not_the_steps_are_the_same(path: Path, graph: Graph) -> None:
    x = pictures(16)
    fused, apart = reference.run(graph, x), reference.run(read_onnx(path), x)
    assert np.abs(fused - apart).max() < 2.5 * LAST_STEP
    assert np.mean(np.abs(fused - apart) < 0.5 * LAST_STEP) > 0.8


def test_steps_do_not_depend_on_the_precision_of_the_reference(graph: Graph) -> None:
    x = pictures()
    single, double = reference.run_all(graph, x), reference.run_all(graph, x, np.float64)
    for tensor in step_tensors(graph):
        assert np.array_equal(single[tensor], double[tensor])


def test_layers_are_of_whole_numbers_and_nothing_between_them_is_not(graph: Graph) -> None:
    kinds = [type(operator) for operator in graph.operators]
    layers = [Quantize, *[QuantizedConv] * 4, MaxPool, QuantizedConv, Concat]
    assert kinds == [*layers, AveragePool, Quantize, Flatten, QuantizedDense, Dequantize]
    means = {operator.output for operator in graph.operators if isinstance(operator, AveragePool | Dequantize)}
    assert step_tensors(graph).keys() == graph.shapes.keys() - {graph.input} - means


def test_a_sum_is_the_end_of_the_convolution_before_it(
    path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fused,) = (each for each in graph.operators if isinstance(each, QuantizedConv) and each.own_bounds)
    assert len(fused.inputs) == 2
    x = pictures()
    monkeypatch.setattr(passes, "fuse_sum", lambda graph: graph)
    apart = simplify(read_onnx(path))
    assert any(isinstance(each, QuantizedAdd) for each in apart.operators)
    assert np.array_equal(reference.run_all(graph, x)[fused.output], reference.run_all(apart, x)[fused.output])


def test_a_quantized_graph_is_kept_for_the_next_start(tmp_path: Path, graph: Graph) -> None:
    graphs = KeptGraphs(tmp_path)
    graphs.save("key", KeptGraph(graph, {}))
    kept = graphs.load("key", lambda: graph)
    assert kept
    x = pictures()
    assert np.array_equal(reference.run(kept.graph, x), reference.run(graph, x))


def test_a_layer_whose_output_stays_in_floats_is_exact_too(tmp_path: Path) -> None:
    network = QuantizedNetwork(["N", 3, *SIZE])
    network.through_steps(1 / 255)
    network.layer("Conv", 8, 3, 3, 3, source_scale=1 / 255)
    network.add("Sigmoid")
    network.add("GlobalAveragePool")
    path = network.save(tmp_path / "network.onnx")
    graph = simplify(read_onnx(path))
    assert [type(each) for each in graph.operators] == [Quantize, QuantizedConv, Activate, AveragePool]
    x = pictures()
    assert np.allclose(reference.run(graph, x), node_by_node(path, x), atol=1e-6)


def test_steps_of_an_activation_end_its_convolution_and_move_in_place_of_floats(
    tmp_path: Path,
) -> None:
    path = network_with_silu().save(tmp_path / "silu.onnx")

    graph = simplify(read_onnx(path))

    kinds = [type(operator) for operator in graph.operators]
    assert kinds == [Quantize, QuantizedConv, QuantizedConv, Concat, MaxPool, QuantizedConv, Flatten]
    x = pictures(16)
    expected = node_by_node(path, x)
    assert np.mean(np.abs(reference.run(graph, x) - expected) < 1e-3 * np.ptp(expected)) > 0.99


@pytest.fixture
def operators_of_integers(tmp_path: Path, path: Path) -> Path:
    """The same network with QLinearConv and its like, as onnxruntime writes it when it saves what it runs."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(tmp_path / "operators_of_integers.onnx")
    ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return tmp_path / "operators_of_integers.onnx"


def test_operators_of_integers_become_the_same_graph(graph: Graph, operators_of_integers: Path) -> None:
    read = simplify(read_onnx(operators_of_integers))
    x = pictures(16)
    steps = (reference.run(read, x) - reference.run(graph, x)) / LAST_STEP
    assert np.abs(steps).max() < 1.5
    layers = [type(each) for each in read.operators if isinstance(each, QuantizedConv | QuantizedDense)]
    assert layers == [*[QuantizedConv] * 5, QuantizedDense]


def test_other_operators_of_onnxruntime_are_refused_with_a_list_of_those_that_are_not(tmp_path: Path) -> None:
    network = QuantizedNetwork(["N", 3, *SIZE])
    network.add("FusedGemm", domain="com.microsoft")
    with pytest.raises(
        ModelError, match=r"\(FusedGemm\): is of com.microsoft, of which are supported: MatMulNBits"
    ):
        read_onnx(network.save(tmp_path / "network.onnx"))


def test_what_has_no_integer_kernel_runs_on_the_host_from_the_integers_of_the_file(tmp_path: Path) -> None:
    network = QuantizedNetwork(["N", 3, *SIZE])
    grid = network.weight(np.array(STEP, np.float32)), network.weight(np.array(7, np.uint8))
    network.add("QuantizeLinear", *grid)
    network.add("Pad", network.weight(np.array([0, 0, 1, 1, 0, 0, 1, 1])), mode="reflect")
    network.add("DequantizeLinear", *grid)
    network.add("GlobalMaxPool")
    path = network.save(tmp_path / "network.onnx")
    graph = simplify(read_onnx(path))
    assert any(isinstance(operator, OnHost) for operator in graph.operators)
    x = pictures()
    assert np.allclose(reference.run(graph, x), node_by_node(path, x))


OTHER_TYPES = (np.int16, ml_dtypes.int4, ml_dtypes.float8_e4m3fn)


@pytest.mark.parametrize("dtype", OTHER_TYPES, ids=["int16", "int4", "float8"])
def test_weights_of_other_types_become_floats(dtype: type[np.generic], tmp_path: Path) -> None:
    network = QuantizedNetwork(["N", 3, *SIZE], opset=21)
    numbers = np.linspace(-1.5, 1.5, 12).reshape(4, 3, 1, 1).astype(dtype)
    scale = network.weight(np.array(0.5, np.float32))
    weight = network.add("DequantizeLinear", scale, reads=network.weight(numbers))
    network.add("Conv", weight, reads="input")
    network.add("GlobalAveragePool")
    conv = read_onnx(network.save(tmp_path / "network.onnx")).operators[0]
    assert isinstance(conv, Conv)
    assert np.array_equal(conv.weight, numbers.astype(np.float32) * np.float32(0.5))


def test_a_type_that_only_an_attribute_names_is_not_taken_for_another(tmp_path: Path) -> None:
    network = QuantizedNetwork(["N", 3, *SIZE], opset=21)
    scale = network.weight(np.array(STEP, np.float32))
    network.add("QuantizeLinear", scale, output_dtype=onnx.TensorProto.INT8)
    network.add("DequantizeLinear", scale)
    network.add("GlobalMaxPool")
    path = network.save(tmp_path / "network.onnx")
    x = pictures() - np.float32(0.5)  # negative values are lost by uint8
    assert np.allclose(reference.run(simplify(read_onnx(path)), x), node_by_node(path, x))


def test_a_quantized_file_is_loaded_as_any_other(path: Path) -> None:
    model = load_model(ModelConfig(path=path))
    assert any(isinstance(operator, QuantizedConv) for operator in model.graph.operators)


@pytest.mark.parametrize(
    ("scale", "message"),
    [(0.0, "a scale of 0; expected numbers above 0"), (np.nan, "a scale of nan"), (-0.1, "a scale of -0.1")],
)
def test_a_scale_must_be_above_zero(tmp_path: Path, scale: float, message: str) -> None:
    network = QuantizedNetwork(["N", 3, *SIZE])
    network.through_steps(scale)
    network.add("GlobalMaxPool")
    with pytest.raises(ModelError, match=rf"node quantizelinear_0 \(QuantizeLinear\): has {message}"):
        read_onnx(network.save(tmp_path / "network.onnx"))


def test_scales_must_be_as_many_as_channels(tmp_path: Path) -> None:
    network = QuantizedNetwork(["N", 3, *SIZE])
    grid = network.weight(np.ones(5, np.float32)), network.weight(np.zeros(5, np.int8))
    weight = network.add("DequantizeLinear", *grid, reads=network.weight(np.ones((4, 3, 1, 1), np.int8)), axis=0)
    network.add("Conv", weight, reads="input")
    with pytest.raises(ModelError, match=r"has 5 scales along axis 0 of weights of shape \(4, 3, 1, 1\)"):
        read_onnx(network.save(tmp_path / "network.onnx"))


def test_sums_that_int32_may_not_hold_are_refused(tmp_path: Path) -> None:
    network = QuantizedNetwork(["N", 3, *SIZE])
    network.through_steps(1e-7)
    network.layer("Conv", 8, 3, 3, 3, source_scale=1.0)  # its bias has a scale that does not fit
    with pytest.raises(ModelError, match="which int32 does not hold: its bias is too large for its scales"):
        read_onnx(network.save(tmp_path / "network.onnx"))


def test_weights_whose_sums_int32_may_not_hold_are_refused(tmp_path: Path) -> None:
    network = QuantizedNetwork([1, 200_000, 1, 1])
    network.through_steps()
    network.layer("Conv", 1, 200_000, 1, 1)
    with pytest.raises(ModelError, match="which int32 does not hold: an output sums too many large weights"):
        read_onnx(network.save(tmp_path / "network.onnx"))


def test_steps_are_within_the_bounds_of_the_type(graph: Graph) -> None:
    tensors = reference.run_all(graph, replace_range(pictures()))
    for tensor in step_tensors(graph):
        assert np.abs(tensors[tensor]).max() <= 255
        assert np.array_equal(tensors[tensor], np.rint(tensors[tensor]))


def replace_range(x: np.ndarray) -> np.ndarray:
    """Pictures far beyond what the scales hold."""
    return np.asarray(x * 1000 - 500, np.float32)
