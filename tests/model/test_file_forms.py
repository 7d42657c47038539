"""Forms of files beside a list of ONNX's nodes in order: what runs in onnxruntime runs here, or is named."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import NodeProto, helper

from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.file import read_file
from edged.model.onnx_reader import missing_operators, read_onnx
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error

SHAPE = (3, 8, 9)
Change = Callable[[onnx.ModelProto], None]


def network() -> Network:
    """A convolution, the mean of its channels and four scores."""
    network = Network(["N", *SHAPE])
    network.add("Conv", network.normal(5, 3, 3, 3))
    network.add("GlobalAveragePool")
    network.add("Flatten")
    network.add("Gemm", network.normal(5, 4))
    return network


def saved(path: Path, *changes: Change) -> Path:
    model = network().model()
    for change in changes:
        change(model)
    path.write_bytes(model.SerializeToString())
    return path


def frames() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((1, *SHAPE)).astype(np.float32)


def assert_equals_onnxruntime(path: Path) -> None:
    found = reference.run(read_onnx(path), frames())

    assert relative_error(found, onnxruntime_outputs(path, frames())) < 1e-5


def beside(*nodes: NodeProto) -> Change:
    return lambda model: model.graph.node.extend(nodes)


UNREAD = {
    "an operator that finds values": [helper.make_node("NonZero", ["input"], ["places"])],
    "one that reads what it writes": [
        helper.make_node("NonZero", ["input"], ["places"]),
        helper.make_node("Cast", ["places"], ["numbers"], to=1),
    ],
    "a node of what is computed": [helper.make_node("RandomNormalLike", ["conv_0"], ["noise"])],
}


@pytest.mark.parametrize("nodes", UNREAD)
def test_nodes_that_nothing_reads_are_left_out(tmp_path: Path, nodes: str) -> None:
    path = saved(tmp_path / "net.onnx", beside(*UNREAD[nodes]))

    assert_equals_onnxruntime(path)
    assert missing_operators(read_file(path)) == ()


def test_a_node_of_another_domain_that_nothing_reads_is_left_out(tmp_path: Path) -> None:
    custom = helper.make_node("Detect", ["conv_0"], ["boxes"], domain="com.example")
    path = saved(tmp_path / "net.onnx", beside(custom))

    found = reference.run(read_onnx(path), frames())

    assert np.array_equal(found, reference.run(read_onnx(saved(tmp_path / "without.onnx")), frames()))
    assert missing_operators(read_file(path)) == ()


def _turned(model: onnx.ModelProto) -> None:
    nodes = list(model.graph.node)[::-1]
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def test_nodes_in_any_order_are_read_in_theirs(tmp_path: Path) -> None:
    assert_equals_onnxruntime(saved(tmp_path / "net.onnx", _turned))


def test_nodes_in_a_circle_are_named(tmp_path: Path) -> None:
    def circle(model: onnx.ModelProto) -> None:
        model.graph.node[0].input[0] = model.graph.node[1].output[0]

    with pytest.raises(
        ModelError, match=r"node conv_0 .* only node globalaveragepool_1 after it: the graph has a cycle"
    ):
        read_onnx(saved(tmp_path / "net.onnx", circle))
