"""The spellings of hard sigmoid, hard swish and SiLU that exporters have become one activation."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from edged.model import reference
from edged.model.activations import HARD_SIGMOID, HARD_SWISH, LINEAR, Activation
from edged.model.graph import Activate, BatchNorm, Combine, Conv
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error
from tests.model.token_networks import number

Spelling = Callable[[Network, str], str]


def clipped(network: Network, source: str, high: float = 6.0) -> str:
    moved = network.add("Add", number(network, 3.0), reads=source)
    return network.add("Clip", number(network, 0.0), number(network, high), reads=moved)


def product_divided(network: Network, source: str) -> str:
    """As Paddle2ONNX and YOLOv5 3.0 have it."""
    return network.add(
        "Div", number(network, 6.0), reads=network.add("Mul", source, reads=clipped(network, source))
    )


def gate_divided(network: Network, source: str) -> str:
    """As timm's networks of 2019 have it."""
    return network.add(
        "Mul", source, reads=network.add("Div", number(network, 6.0), reads=clipped(network, source))
    )


def gate_multiplied(network: Network, source: str) -> str:
    """As Keras has it."""
    gate = network.add("Mul", number(network, 1 / 6), reads=clipped(network, source))
    return network.add("Mul", gate, reads=source)


def hard_sigmoid_node(network: Network, source: str) -> str:
    gate = network.add("HardSigmoid", reads=source, alpha=1 / 6, beta=0.5)
    return network.add("Mul", source, reads=gate)


def sigmoid_node(network: Network, source: str) -> str:
    return network.add("Mul", source, reads=network.add("Sigmoid", reads=source))


@pytest.mark.parametrize(
    ("spelling", "activation"),
    [
        (product_divided, HARD_SWISH),
        (gate_divided, HARD_SWISH),
        (gate_multiplied, HARD_SWISH),
        (hard_sigmoid_node, HARD_SWISH),
        (sigmoid_node, Activation("silu")),
    ],
)
def test_a_product_with_its_own_gate_ends_the_layer_before_it(
    tmp_path: Path, spelling: Spelling, activation: Activation
) -> None:
    network = Network(["N", 3, 8, 8])
    spelling(network, network.add("Conv", network.normal(5, 3, 3, 3)))
    network.add("GlobalAveragePool")
    path = network.save(tmp_path / "network.onnx")
    x = 4 * np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32)

    graph = simplify(read_onnx(path))

    conv = graph.operators[0]
    assert isinstance(conv, Conv)
    assert conv.activation == activation
    assert len(graph.operators) == 2
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-6


def test_the_gate_of_a_squeeze_becomes_a_hard_sigmoid(tmp_path: Path) -> None:
    network = Network(["N", 5, 8, 8])
    image = network.add("Relu")
    squeezed = network.add("Conv", network.normal(5, 5, 1, 1), reads=network.add("GlobalAveragePool", reads=image))
    product = network.add("Mul", clipped(network, squeezed), reads=image)
    network.add("Div", number(network, 6.0), reads=product)
    path = network.save(tmp_path / "network.onnx")
    x = np.random.default_rng(0).standard_normal((2, 5, 8, 8)).astype(np.float32)

    graph = simplify(read_onnx(path))

    _, _, _, gate, scaled, _ = graph.operators
    assert isinstance(gate, Activate)
    assert gate.activation == HARD_SIGMOID
    assert isinstance(scaled, Combine)
    assert set(scaled.inputs) == {image, gate.output}
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-6


def test_a_gate_that_does_not_reach_one_stays(tmp_path: Path) -> None:
    network = Network(["N", 3, 8, 8])
    source = network.add("Conv", network.normal(5, 3, 3, 3))
    product = network.add("Mul", source, reads=clipped(network, source, high=5.0))
    network.add("Div", number(network, 6.0), reads=product)
    path = network.save(tmp_path / "network.onnx")
    x = 4 * np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32)

    graph = simplify(read_onnx(path))

    assert not any(isinstance(each, BatchNorm) for each in graph.operators)
    assert {getattr(each, "activation", LINEAR).kind for each in graph.operators} == {"linear", "clip"}
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-6


def test_a_gate_that_something_else_reads_is_kept(tmp_path: Path) -> None:
    network = Network(["N", 3, 8, 8])
    source = network.add("Conv", network.normal(5, 3, 3, 3))
    gate = clipped(network, source)
    scaled = network.add("Div", number(network, 6.0), reads=network.add("Mul", source, reads=gate))
    network.add("Add", gate, reads=scaled)
    path = network.save(tmp_path / "network.onnx")
    x = 4 * np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32)

    graph = simplify(read_onnx(path))

    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-6
