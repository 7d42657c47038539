"""Recognise networks that normalize their pictures themselves: torchvision's detectors, and exports like them."""

from collections.abc import Mapping, Sequence

import onnx
from onnx import GraphProto, NodeProto, TensorProto

from edged.model.from_onnx.order import nodes_of
from edged.model.from_onnx.tensors import array_of, inputs_of

MOVES = frozenset({"Cast", "Gather", "Identity", "Split", "Squeeze", "Transpose", "Unsqueeze"})
COLORS = 3

Constants = Mapping[str, TensorProto]


def normalizes_shares(graph: GraphProto) -> bool:
    """Return whether its first arithmetic subtracts a mean of each colour that lies between 0 and 1, and divides.

    So it takes pixels of 0 … 1.
    """
    nodes, constants = nodes_of(graph), constants_of(graph)
    tensors = {entry.name for entry in inputs_of(graph)}
    for node in nodes:
        if tensors.isdisjoint(node.input) or node.op_type == "Shape":
            continue
        if node.op_type in MOVES:
            tensors.update(node.output)
            continue
        return _subtracts_shares(node, constants) and _divides_by_color(node.output[0], nodes, constants)
    return False


def constants_of(graph: GraphProto) -> dict[str, TensorProto]:
    """Return the weights of a graph, and the values of its nodes `Constant`."""
    constants = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.type == onnx.AttributeProto.TENSOR:
                constants[node.output[0]] = attribute.t
    return constants


def _subtracts_shares(node: NodeProto, constants: Constants) -> bool:
    means = _by_color(node, constants) if node.op_type == "Sub" else ()
    return bool(means) and all(0 < mean < 1 for mean in means)


def _divides_by_color(tensor: str, nodes: Sequence[NodeProto], constants: Constants) -> bool:
    return any(
        node.op_type == "Div" and node.input[0] == tensor and bool(_by_color(node, constants)) for node in nodes
    )


def _by_color(node: NodeProto, constants: Constants) -> tuple[float, ...]:
    """Return the values of the second input, if that is constant and has one for each colour; else none."""
    tensor = constants.get(node.input[1]) if len(node.input) == 2 else None
    values = array_of(tensor).ravel().tolist() if tensor is not None and len(tensor.dims) <= 4 else []
    return tuple(values) if len(values) == COLORS else ()
