"""Where and IsNaN of masked attention: what is known beforehand is computed by nobody."""

from pathlib import Path

import numpy as np
import pytest

from edged.model import reference
from edged.model.graph import Graph, OnHost, Softmax
from edged.model.onnx_reader import read_onnx
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error
from tests.model.token_networks import number

TOKENS, WIDTH = 16, 6


def kinds_on_host(graph: Graph) -> list[str]:
    return [operator.kind for operator in graph.operators if isinstance(operator, OnHost)]


def require_same(graph: Graph, path: Path) -> None:
    x = np.random.default_rng(0).standard_normal((1, 3, 8, 8)).astype(np.float32)
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-6


def condition(network: Network, values: object) -> str:
    return network.weight(np.asarray(values, np.bool_))


@pytest.mark.parametrize("is_chosen", [True, False])
def test_a_condition_that_is_the_same_everywhere_is_no_node(tmp_path: Path, is_chosen: bool) -> None:
    network = Network(["N", 3, 8, 8])
    features = network.add("Conv", network.normal(4, 3, 3, 3))
    branches = (features, number(network, -9.0)) if is_chosen else (number(network, -9.0), features)
    network.add("Where", *branches, reads=condition(network, np.full((1, 1, 6, 6), is_chosen)))
    network.add("GlobalAveragePool")
    path = network.save(tmp_path / "net.onnx")

    graph = read_onnx(path)

    assert not kinds_on_host(graph)
    require_same(graph, path)


@pytest.mark.parametrize(
    ("values", "other_shape"),
    [(np.arange(36).reshape(1, 1, 6, 6) % 2, (1,)), (np.ones((3, 4, 6, 6)), (1,)), (np.ones(1), (2, 4, 6, 6))],
    ids=["mixed", "repeated by the condition", "repeated by the other input"],
)
def test_other_conditions_are_computed(tmp_path: Path, values: object, other_shape: tuple[int, ...]) -> None:
    network = Network(["N", 3, 8, 8])
    features = network.add("Conv", network.normal(4, 3, 3, 3))
    network.add("Where", features, network.normal(*other_shape), reads=condition(network, values))
    network.add("ReduceMean", axes=[0], keepdims=1)
    network.add("GlobalAveragePool")
    path = network.save(tmp_path / "net.onnx")

    graph = read_onnx(path)

    assert kinds_on_host(graph)[0] == "Where"
    require_same(graph, path)


def guarded_attention(path: Path, mask: float) -> Path:
    """Attention as PyTorch exports it, with `mask` added to the scores of all keys for the first query."""
    network = Network(["N", 3, 8, 8])
    features = network.add("Conv", network.normal(WIDTH, 3, 2, 2, std=0.3), strides=[2, 2])
    flat = network.add("Reshape", network.weight(np.array([-1, WIDTH, TOKENS])), reads=features)
    tokens = network.add("Transpose", reads=flat, perm=[0, 2, 1])
    scores = network.add("MatMul", flat, reads=tokens)
    masked = np.zeros((TOKENS, TOKENS), np.float32)
    masked[0] = mask
    network.add("Add", network.weight(masked), reads=network.add("Mul", number(network, 0.4), reads=scores))
    softmax = network.add("Softmax", axis=-1)
    network.add("Where", number(network, 0.0), softmax, reads=network.add("IsNaN"))
    network.add("ReduceMean", reads=network.add("MatMul", tokens), axes=[1], keepdims=0)
    return network.save(path)


def test_a_softmax_of_numbers_is_not_guarded(tmp_path: Path) -> None:
    path = guarded_attention(tmp_path / "net.onnx", mask=-2.0)

    graph = read_onnx(path)

    assert not kinds_on_host(graph)
    assert sum(isinstance(operator, Softmax) for operator in graph.operators) == 1
    require_same(graph, path)


def test_a_softmax_that_may_be_nan_keeps_its_guard(tmp_path: Path) -> None:
    path = guarded_attention(tmp_path / "net.onnx", mask=-np.inf)

    graph = read_onnx(path)

    assert {"IsNaN", "Where"} <= set(kinds_on_host(graph))
    require_same(graph, path)
