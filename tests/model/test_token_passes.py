"""What exporters write as several nodes in transformers becomes one operator."""

from pathlib import Path

import numpy as np
import pytest

from edged.model import reference
from edged.model.activations import Activation
from edged.model.cost import layer_costs, macs
from edged.model.graph import Activate, Combine, Conv, LayerNorm, Product, Rearrange
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error
from tests.model.token_networks import NETWORKS, attention, gelu, gelu_by_tanh, number


def test_gelu_ends_the_layer_before_it(tmp_path: Path) -> None:
    network = Network(["N", 3, 8, 8])
    gelu(network, network.add("Conv", network.normal(5, 3, 3, 3)))
    network.add("GlobalAveragePool")

    graph = simplify(read_onnx(network.save(tmp_path / "network.onnx")))

    conv = graph.operators[0]
    assert isinstance(conv, Conv)
    assert conv.activation == Activation("gelu")


@pytest.mark.parametrize("power", [False, True])
def test_gelu_by_tanh_ends_the_layer_before_it(tmp_path: Path, power: bool) -> None:
    network = Network(["N", 3, 8, 8])
    gelu_by_tanh(network, network.add("Conv", network.normal(5, 3, 3, 3)), power=power)
    network.add("GlobalAveragePool")
    path = network.save(tmp_path / "network.onnx")
    x = np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32)

    graph = simplify(read_onnx(path))

    conv = graph.operators[0]
    assert isinstance(conv, Conv)
    assert conv.activation == Activation("gelu_by_tanh")
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-6


def test_a_gate_that_is_not_gelu_stays(tmp_path: Path) -> None:
    network = Network(["N", 3, 8, 8])
    start = network.add("Conv", network.normal(5, 3, 3, 3))
    scaled = network.add("Div", number(network, 1.5), reads=start)  # not √2
    gate = network.add("Add", number(network, 1.0), reads=network.add("Erf", reads=scaled))
    network.add("Mul", number(network, 0.5), reads=network.add("Mul", gate, reads=start))
    network.add("GlobalAveragePool")
    path = network.save(tmp_path / "network.onnx")
    x = np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32)

    graph = simplify(read_onnx(path))

    assert any(isinstance(each, Activate) and each.activation.kind == "erf" for each in graph.operators)
    assert np.allclose(reference.run(graph, x), reference.run(read_onnx(path), x), atol=1e-6)


@pytest.mark.parametrize("power", [False, True])
def test_a_layer_norm_of_older_operator_sets_is_one_norm(tmp_path: Path, power: bool) -> None:
    network = Network(["N", 6, 4, 5], opset=14)
    flat = network.add("Reshape", network.weight(np.array([-1, 6, 20])))
    tokens = network.add("Transpose", reads=flat, perm=[0, 2, 1])
    centred = network.add("Sub", network.add("ReduceMean", axes=[-1]), reads=tokens)
    square = network.add("Pow", number(network, 2.0)) if power else network.add("Mul", centred)
    moved = network.add("Add", number(network, 1e-3), reads=network.add("ReduceMean", reads=square, axes=[-1]))
    network.add("Div", network.add("Sqrt", reads=moved), reads=centred)
    network.add("Mul", network.normal(6))
    network.add("Add", network.normal(6))
    network.add("MatMul", network.normal(6, 4))
    network.add("ReduceMean", axes=[1], keepdims=0)
    path = network.save(tmp_path / "network.onnx")
    x = np.random.default_rng(0).standard_normal((2, 6, 4, 5)).astype(np.float32)

    graph = simplify(read_onnx(path))

    (norm,) = (each for each in graph.operators if isinstance(each, LayerNorm))
    assert norm.epsilon == pytest.approx(1e-3)
    assert not any(isinstance(each, Combine) for each in graph.operators)
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-6


def test_a_quotient_that_is_no_norm_stays(tmp_path: Path) -> None:
    network = Network(["N", 6, 4, 5], opset=14)
    centred = network.add("Sub", network.add("ReduceMean", axes=[1]), reads="input")
    cube = network.add("Pow", number(network, 4.0))
    moved = network.add("Add", number(network, 1e-3), reads=network.add("ReduceMean", reads=cube, axes=[1]))
    network.add("Div", network.add("Sqrt", reads=moved), reads=centred)
    path = network.save(tmp_path / "network.onnx")
    x = np.random.default_rng(0).standard_normal((2, 6, 4, 5)).astype(np.float32)

    graph = simplify(read_onnx(path))

    assert not any(isinstance(each, LayerNorm) for each in graph.operators)
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-6


def test_the_scale_of_attention_is_a_factor_of_its_product(tmp_path: Path) -> None:
    network = Network(["N", 16, 3, 3])
    tokens = network.add("Reshape", network.weight(np.array([1, 16, 9])))
    tokens = network.add("Transpose", reads=tokens, perm=[0, 2, 1])
    attention(network, tokens, 9, 16, 2)
    network.add("ReduceMean", axes=[1], keepdims=0)

    graph = simplify(read_onnx(network.save(tmp_path / "network.onnx")))

    factors = [each.factor for each in graph.operators if isinstance(each, Product)]
    assert factors == [np.float32(8**-0.5), 1.0]


def test_a_scale_behind_a_product_is_its_factor(tmp_path: Path) -> None:
    network = Network(["N", 3, 4, 5])
    flat = network.add("Reshape", network.weight(np.array([-1, 3, 20])))
    scores = network.add("MatMul", flat, reads=network.add("Transpose", reads=flat, perm=[0, 2, 1]))
    weights = network.add("Softmax", reads=network.add("Mul", number(network, 0.25), reads=scores), axis=-1)
    network.add("ReduceMean", reads=network.add("MatMul", weights, reads=flat), axes=[2], keepdims=0)
    path = network.save(tmp_path / "network.onnx")
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5)).astype(np.float32)

    graph = simplify(read_onnx(path))

    factors = [each.factor for each in graph.operators if isinstance(each, Product)]
    assert factors == [0.25, 1.0]
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-6


def test_a_product_that_is_also_read_without_its_scale_stays(tmp_path: Path) -> None:
    network = Network(["N", 3, 4, 5])
    flat = network.add("Reshape", network.weight(np.array([-1, 3, 20])))
    scores = network.add("MatMul", flat, reads=network.add("Transpose", reads=flat, perm=[0, 2, 1]))
    network.add("Sub", network.add("Mul", number(network, 0.25), reads=scores), reads=scores)
    network.add("ReduceMean", axes=[1], keepdims=0)
    path = network.save(tmp_path / "network.onnx")
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5)).astype(np.float32)

    graph = simplify(read_onnx(path))

    assert [each.factor for each in graph.operators if isinstance(each, Product)] == [1.0]
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-6


def test_a_mask_of_zeros_is_added_by_nobody(tmp_path: Path) -> None:
    network = Network(["N", 3, 4, 5])
    network.add("Reshape", network.weight(np.array([-1, 3, 20])))
    network.add("Add", network.weight(np.zeros((1, 3, 20), np.float32)))
    network.add("Softmax", axis=-1)
    network.add("ReduceMean", axes=[2], keepdims=0)
    path = network.save(tmp_path / "network.onnx")

    graph = simplify(read_onnx(path))

    assert not any(isinstance(each, Combine) for each in graph.operators)


def test_transposes_between_layers_move_nothing(tmp_path: Path) -> None:
    network = Network(["N", 3, 8, 8])
    network.add("Conv", network.normal(5, 3, 3, 3))
    network.add("Transpose", perm=[0, 2, 3, 1])
    network.add("Add", network.normal(5))
    network.add("Relu")
    network.add("Transpose", perm=[0, 3, 1, 2])
    network.add("Conv", network.normal(4, 5, 3, 3))
    network.add("GlobalAveragePool")

    graph = simplify(read_onnx(network.save(tmp_path / "network.onnx")))

    assert [type(each).__name__ for each in graph.operators] == ["Conv", "Conv", "AveragePool"]
    assert not any(isinstance(each, Rearrange) for each in graph.operators)


@pytest.mark.parametrize("name", NETWORKS)
def test_each_layer_has_a_description_and_a_cost(tmp_path: Path, name: str) -> None:
    graph = simplify(read_onnx(NETWORKS[name]().save(tmp_path / "network.onnx")))

    costs = layer_costs(graph)

    assert all(cost.kind for cost in costs)
    assert sum(cost.macs for cost in costs) == macs(graph) > 0
