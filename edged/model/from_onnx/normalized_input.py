"""Recognise networks that normalize their pictures themselves: torchvision's detectors, and exports like them."""

from collections.abc import Mapping, Sequence
from math import prod

import onnx
from onnx import GraphProto, NodeProto, TensorProto

from edged.errors import ModelError
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
        return _subtracts_shares(node, constants) and _are_divided_by_color(node.output, nodes, constants)
    return False


def constants_of(graph: GraphProto) -> dict[str, TensorProto]:
    """Return the weights of a graph, and the values of its nodes `Constant`."""
    constants = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.type == onnx.AttributeProto.TENSOR:
                constants.update(dict.fromkeys(node.output, attribute.t))
    return constants


def values_of(tensor: TensorProto | None, most: int) -> tuple[float, ...]:
    """Return the values of a constant with at most so many; none for others, and for a damaged one."""
    if tensor is None or prod(tensor.dims) > most:
        return ()
    try:
        return tuple(array_of(tensor).ravel().tolist())
    except ModelError:  # which is reported when its node is read
        return ()


def _subtracts_shares(node: NodeProto, constants: Constants) -> bool:
    means = _by_color(node, constants) if node.op_type == "Sub" else ()
    return bool(means) and all(0 < mean < 1 for mean in means)


def _are_divided_by_color(tensors: Sequence[str], nodes: Sequence[NodeProto], constants: Constants) -> bool:
    readers = [node for node in nodes if node.op_type == "Div" and list(node.input[:1]) == list(tensors)]
    return any(_by_color(node, constants) for node in readers)


def _by_color(node: NodeProto, constants: Constants) -> tuple[float, ...]:
    """Return the values of the second input, if that is constant and has one for each colour; else none."""
    values = values_of(constants.get(node.input[1]), COLORS) if len(node.input) == 2 else ()
    return values if len(values) == COLORS else ()
