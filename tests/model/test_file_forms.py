"""Forms of files beside a list of ONNX's nodes in order: what runs in onnxruntime runs here, or is named."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import NodeProto, helper

from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.file import read_file
from edged.model.graph import OnHost
from edged.model.onnx_reader import missing_operators, read_onnx
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error

SHAPE = (3, 8, 9)
Change = Callable[[onnx.ModelProto], None]


def network(batch: int | str = "N", *, rows: int | None = None) -> Network:
    """A convolution, the mean of its channels and four scores; `rows`: of a Reshape in place of Flatten."""
    network = Network([batch, *SHAPE])
    network.add("Conv", network.normal(5, 3, 3, 3))
    network.add("GlobalAveragePool")
    if rows is None:
        network.add("Flatten")
    else:
        network.add("Reshape", network.weight(np.array([rows, -1])))
    network.add("Gemm", network.normal(5, 4))
    return network


def saved(path: Path, *changes: Change, of: Network | None = None) -> Path:
    model = (of or network()).model()
    for change in changes:
        change(model)
    path.write_bytes(model.SerializeToString())
    return path


def frames(count: int = 1) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((count, *SHAPE)).astype(np.float32)


def assert_equals_onnxruntime(path: Path) -> None:
    found = reference.run(read_onnx(path), frames())

    assert relative_error(found, onnxruntime_outputs(path, frames())) < 1e-5


def beside(*nodes: NodeProto) -> Change:
    return lambda model: model.graph.node.extend(nodes)


def operator_sets(*versions: int) -> Change:
    def change(model: onnx.ModelProto) -> None:
        del model.opset_import[:]
        model.opset_import.extend(helper.make_opsetid("", version) for version in versions)

    return change


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


def test_an_operator_set_that_is_listed_twice(tmp_path: Path) -> None:
    assert_equals_onnxruntime(saved(tmp_path / "net.onnx", operator_sets(17, 17)))


def test_two_operator_sets_at_once_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match=r"requires the ONNX operator sets \[13, 17\] at once: export it with one"
    ):
        read_onnx(saved(tmp_path / "net.onnx", operator_sets(17, 13)))


@pytest.mark.parametrize("batch", [1, 16])
def test_a_reshape_that_fixes_the_batch_of_the_file(tmp_path: Path, batch: int) -> None:
    path = saved(tmp_path / "net.onnx", of=network(batch, rows=batch))
    x = frames(batch)

    found = reference.run(read_onnx(path), x)

    assert relative_error(found, onnxruntime_outputs(path, x)) < 1e-5


def test_constant_tokens_on_every_side_are_joined_by_kernels(tmp_path: Path) -> None:
    """Given those of YOLOS: one for the class before the picture's, and some for objects behind them."""
    tokens = Network(["N", *SHAPE])
    tokens.add("Reshape", tokens.weight(np.array([-1, 3, 72])))
    rows = tokens.add("Transpose", perm=[0, 2, 1])
    two, one, three, last = (tokens.normal(1, count, 3) for count in (2, 1, 3, 1))
    tokens.add("Concat", one, rows, three, rows, last, reads=two, axis=1)
    tokens.add("Softmax", axis=-1)
    tokens.add("Flatten")
    path = saved(tmp_path / "net.onnx", of=tokens)

    graph = read_onnx(path)

    assert not any(isinstance(operator, OnHost) for operator in graph.operators)
    assert relative_error(reference.run(graph, frames()), onnxruntime_outputs(path, frames())) < 1e-5


def test_constants_that_are_the_same_for_each_frame_of_the_batch(tmp_path: Path) -> None:
    """Given a class token and places that an exporter repeated for a batch of 16."""
    tokens = Network([16, *SHAPE])
    tokens.add("Reshape", tokens.weight(np.array([16, 3, 72])))
    tokens.add("Transpose", perm=[0, 2, 1])
    token, places = (np.random.default_rng(1).standard_normal((1, rows, 3)).astype(np.float32) for rows in (1, 73))
    tokens.add("Concat", tokens.tensor, reads=tokens.weight(np.repeat(token, 16, axis=0)), axis=1)
    tokens.add("Add", tokens.weight(np.repeat(places, 16, axis=0)))
    tokens.add("Softmax", axis=-1)
    tokens.add("Flatten")
    path = saved(tmp_path / "net.onnx", of=tokens)

    found = reference.run(read_onnx(path), frames(16))

    assert relative_error(found, onnxruntime_outputs(path, frames(16))) < 1e-5


def test_a_reshape_across_the_frames_of_a_batch_is_refused_by_that_word(tmp_path: Path) -> None:
    path = saved(tmp_path / "net.onnx", of=network(16, rows=8))

    with pytest.raises(
        ModelError, match=r"makes \(1, 5, 1, 1\) into \[8, -1\].*fixes a batch of 16 frames.*batch of 1"
    ):
        read_onnx(path)


def function(name: str, *nodes: NodeProto, opset: int = 17) -> onnx.FunctionProto:
    sets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    return helper.make_function("own", name, ["x"], ["y"], nodes, sets)


def call(name: str, reads: str = "x", writes: str = "y") -> NodeProto:
    return helper.make_node(name, [reads], [writes], domain="own")


def with_functions(*functions: onnx.FunctionProto) -> Change:
    """Let the function `activation` compute what the Conv wrote, before its mean."""

    def change(model: onnx.ModelProto) -> None:
        model.opset_import.append(helper.make_opsetid("own", 1))
        model.functions.extend(functions)
        model.graph.node.insert(1, call("activation", "conv_0", "active"))
        model.graph.node[2].input[0] = "active"

    return change


SWISH = (helper.make_node("Sigmoid", ["x"], ["share"]), helper.make_node("Mul", ["x", "share"], ["y"]))
FUNCTIONS: dict[str, Sequence[onnx.FunctionProto]] = {
    "one": [function("activation", *SWISH)],
    "one that calls another": [function("swish", *SWISH), function("activation", call("swish", "x", "y"))],
    "one that no node calls": [
        function("activation", *SWISH),
        function("other", helper.make_node("Relu", ["x"], ["y"])),
    ],
}


@pytest.mark.parametrize("functions", FUNCTIONS)
def test_functions_of_the_file_itself(tmp_path: Path, functions: str) -> None:
    assert_equals_onnxruntime(saved(tmp_path / "net.onnx", with_functions(*FUNCTIONS[functions])))


def test_a_function_of_an_older_operator_set_has_the_rules_of_that(tmp_path: Path) -> None:
    """Given a Softmax of set 11, which is over all that follows its axis."""
    older = function("activation", helper.make_node("Softmax", ["x"], ["y"], axis=1), opset=11)
    path = saved(tmp_path / "net.onnx", with_functions(older))
    flat = network()
    flat.nodes[1:1] = [
        helper.make_node("Flatten", ["conv_0"], ["flat"]),
        helper.make_node("Softmax", ["flat"], ["shares"]),
        helper.make_node("Reshape", ["shares", flat.weight(np.array([0, 5, 6, 7]))], ["active"]),
    ]
    flat.nodes[4].input[0] = "active"
    expected = onnxruntime_outputs(flat.save(tmp_path / "flat.onnx"), frames())

    assert relative_error(reference.run(read_onnx(path), frames()), expected) < 1e-5


def test_functions_in_a_circle_are_named(tmp_path: Path) -> None:
    circle = function("activation", call("other")), function("other", call("activation"))

    with pytest.raises(ModelError, match="its function activation calls itself"):
        read_onnx(saved(tmp_path / "net.onnx", with_functions(*circle)))


def test_functions_that_make_a_huge_network_of_a_small_file_are_rejected(tmp_path: Path) -> None:
    def doubled(name: str, inner: str) -> onnx.FunctionProto:
        return function(name, call(inner, "x", "half"), call(inner, "half", "y"))

    names = ["activation", *(f"level{depth}" for depth in range(30))]
    functions = [doubled(*pair) for pair in pairwise(names)]

    with pytest.raises(ModelError, match=r"its functions make \d{10} nodes of \d+ bytes; supported are 20000"):
        read_onnx(saved(tmp_path / "net.onnx", with_functions(*functions, function(names[-1], *SWISH))))
