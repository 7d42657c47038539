"""Good files that are broken in one place: what breaks the network of `models.small_network`, and the message."""

from collections.abc import Callable

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

Change = Callable[[ModelProto], object]


def reads(tensor: str) -> Change:
    """The second node reads another tensor."""
    return lambda model: model.graph.node[1].input.__setitem__(0, tensor)


def second(kind: str, domain: str = "", **graphs: GraphProto) -> Change:
    """The second node is of another kind."""
    node = helper.make_node(kind, ["a"], ["b"], name="second", domain=domain, **graphs)
    return lambda model: model.graph.node[1].CopyFrom(node)


def first(name: str, *numbers: int) -> Change:
    """The convolution has another attribute."""

    def change(model: ModelProto) -> None:
        node = model.graph.node[0]
        kept = [
            AttributeProto.FromString(each.SerializeToString()) for each in node.attribute if each.name != name
        ]
        del node.attribute[:]
        node.attribute.extend([*kept, helper.make_attribute(name, numbers if len(numbers) > 1 else numbers[0])])

    return change


def side(axis: int, size: int) -> Change:
    """The picture has another size."""
    return lambda model: setattr(model.graph.input[0].type.tensor_type.shape.dim[axis], "dim_value", size)


def one_weight(value: float) -> Change:
    """One weight of the convolution is another number."""

    def change(model: ModelProto) -> None:
        weights = numpy_helper.to_array(model.graph.initializer[0]).copy()
        weights[1, 2, 0, 1] = value
        model.graph.initializer[0].CopyFrom(numpy_helper.from_array(weights, "kernel"))

    return change


def sparse_weights(model: ModelProto) -> None:
    values = helper.make_tensor("rare", TensorProto.FLOAT, [1], [1.0])
    places = helper.make_tensor("places", TensorProto.INT64, [1], [0])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [8, 3, 3, 3]))
    model.graph.node[0].input[1] = "rare"


def declared(name: str, kind: int, *dims: int, where: str = "value_info") -> Change:
    entry = helper.make_tensor_value_info(name, kind, dims)
    return lambda model: getattr(model.graph, where).append(entry)


def branch(depth: int = 0) -> GraphProto:
    """A graph of one node, in which is a graph of one node, and so on."""
    nodes = [NodeProto(op_type="If", output=["r"])] if depth else [helper.make_node("Relu", ["a"], ["r"])]
    if depth:
        nodes[0].attribute.append(helper.make_attribute("then_branch", branch(depth - 1)))
    return helper.make_graph(nodes, "branch", [], [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)])


def weights(**fields: object) -> Change:
    """The message of the convolution's weights says something else."""

    def change(model: ModelProto) -> None:
        for name, value in fields.items():
            if isinstance(value, list):
                getattr(model.graph.initializer[0], name)[:] = value
            else:
                setattr(model.graph.initializer[0], name, value)

    return change


CYCLE = "the graph has a cycle or its nodes are not in order; export the network again"
GRAPH = "runs another graph: export the network without it, by tracing and for one size, or fold it with onnxsim"
FINITE = r"the first at index \(1, 2, 0, 1\): export the network with finite weights"

BROKEN: dict[str, tuple[Change, str]] = {
    "a cycle": (reads("d"), rf"node second \(Relu\): reads tensor d, .* only node fourth after it: {CYCLE}"),
    "a node that reads itself": (reads("b"), rf"node second \(Relu\): .* only node second after it: {CYCLE}"),
    "a missing tensor": (reads("ghost"), r"node second \(Relu\): reads tensor ghost, .*: the file lacks it"),
    "a missing output": (
        lambda model: setattr(model.graph.output[0], "name", "ghost"),
        "output: reads tensor ghost, which nothing before it writes: the file lacks it; export the network again",
    ),
    "channels that the weights do not fit": (side(1, 2), r"node first \(Conv\): .* do not fit 2 input channels"),
    "another type than declared": (
        declared("a", TensorProto.INT64, 1, 8, 16, 16),
        r"node first \(Conv\) writes a of float32, but the file declares INT64: the file contradicts itself",
    ),
    "other weights than declared": (
        declared("kernel", TensorProto.FLOAT, 8, 3, 5, 5, where="input"),
        r"input: kernel is declared as \[8, 3, 5, 5\], but holds \[8, 3, 3, 3\]: the file contradicts itself",
    ),
    "another domain": (
        second("Relu", "com.acme"),
        r"node second \(Relu\): operators of com.acme are not supported",
    ),
    "a condition": (second("If", then_branch=branch(), else_branch=branch()), rf"node second \(If\): {GRAPH}"),
    "many conditions": (second("If", then_branch=branch(20)), rf"node second \(If\): {GRAPH}"),
    "a loop": (second("Loop", body=branch()), rf"node second \(Loop\): {GRAPH}"),
    "a picture of a negative size": (side(2, -5), r"image has the shape \(1, 3, -5, 16\); expected sizes of 1"),
    "a picture of 2 to the 31": (side(2, 2**31), "a side has 2147483648 pixels; supported are 1 to 16384"),
    "weights of 2 to the 31": (weights(dims=[2**31, 3, 3, 3]), "initializer kernel: tensor kernel .* is damaged"),
    "weights of a negative size": (
        weights(dims=[-8, 3, 3, 3]),
        r"tensor kernel has a negative size, \[-8, 3, 3, 3\]: export the network again",
    ),
    "weights that are cut short": (
        weights(raw_data=b"1234567"),
        "initializer kernel: tensor kernel .* is damaged",
    ),
    "weights of four bits": (
        weights(data_type=TensorProto.INT4, raw_data=bytes(8 * 3 * 3 * 3 // 2)),
        r"node first \(Conv\): input kernel is of type int4; supported are bfloat16, float16, float32 and float64",
    ),
    "weights of NaN": (one_weight(np.nan), rf"node first \(Conv\): input kernel holds .*, {FINITE}"),
    "sparse weights": (sparse_weights, "initializer rare: is sparse; supported are dense weights"),
    "pads below 0": (first("pads", *[-20] * 4), r"node first \(Conv\): attribute pads is .* numbers from 0 to"),
    "strides of 0": (
        first("strides", 0, 0),
        r"node first \(Conv\): attribute strides is \(0, 0\); supported are 2",
    ),
    "no group": (first("group", 0), r"node first \(Conv\): attribute group is 0; supported is 1 to 8"),
    "two outputs": (
        declared("b", TensorProto.FLOAT, 1, 8, 16, 16, where="output"),
        r"the network has 2 outputs \(scores \[5\], b \[8, 16, 16\]\); supported is one score for each class",
    ),
}
