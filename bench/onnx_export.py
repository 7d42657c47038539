"""A graph as an ONNX file, so that another runtime can compute the same network."""

from collections.abc import Iterator
from functools import singledispatch
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edged.model import graph
from edged.model.activations import LINEAR, Activation
from edged.model.graph import Graph, Operator

OPSET = 17
Pieces = Iterator[onnx.NodeProto | onnx.TensorProto]


def export(network: Graph, batch: int = 1) -> bytes:
    """Return `network` for `batch` frames: operators of `model.zoo`, as `passes.simplify` leaves them."""
    pieces = [piece for operator in network.operators for piece in _pieces(operator)]
    model = helper.make_model(
        helper.make_graph(
            [piece for piece in pieces if isinstance(piece, onnx.NodeProto)],
            network.name,
            [_value(network, network.input, batch)],
            [_value(network, network.output, batch)],
            [piece for piece in pieces if isinstance(piece, onnx.TensorProto)],
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=9,
    )
    serialized: bytes = model.SerializeToString()
    return serialized


def _value(network: Graph, tensor: str, batch: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(tensor, TensorProto.FLOAT, [batch, *network.shapes[tensor]])


@singledispatch
def _pieces(operator: Operator) -> Pieces:
    raise NotImplementedError(type(operator).__name__)


@_pieces.register
def _conv(conv: graph.Conv) -> Pieces:
    """Yield the convolution, the sum and the activation, which are one operator in edged."""
    yield numpy_helper.from_array(conv.weight, f"{conv.name}.weight")
    yield numpy_helper.from_array(conv.bias, f"{conv.name}.bias")
    ending = _before(conv.activation, conv.output)
    alone = f"{conv.output}.alone" if len(conv.inputs) > 1 else ending
    yield helper.make_node(
        "Conv",
        [conv.inputs[0], f"{conv.name}.weight", f"{conv.name}.bias"],
        [alone],
        strides=conv.strides,
        pads=conv.pads,
        dilations=conv.dilations,
        group=conv.groups,
    )
    if len(conv.inputs) > 1:
        yield helper.make_node("Add", [alone, conv.inputs[1]], [ending])
    yield from _activated(conv.activation, ending, conv.output)


def _before(activation: Activation, output: str) -> str:
    """Name what an activation reads that writes `output`."""
    return output if activation == LINEAR else f"{output}.linear"


SAME_THERE = {"relu": "Relu", "sigmoid": "Sigmoid", "hard_swish": "HardSwish", "tanh": "Tanh"}


def _activated(activation: Activation, source: str, output: str) -> Pieces:
    """Yield the nodes of an activation as PyTorch exports it; none for a linear one."""
    match activation.kind:
        case "linear":
            return
        case "clip":
            yield numpy_helper.from_array(np.array(activation.alpha, np.float32), f"{output}.lowest")
            yield numpy_helper.from_array(np.array(activation.beta, np.float32), f"{output}.highest")
            yield helper.make_node("Clip", [source, f"{output}.lowest", f"{output}.highest"], [output])
        case "hard_sigmoid":
            numbers: dict[str, Any] = {"alpha": activation.alpha, "beta": activation.beta}
            yield helper.make_node("HardSigmoid", [source], [output], **numbers)
        case "silu":
            yield helper.make_node("Sigmoid", [source], [f"{output}.gate"])
            yield helper.make_node("Mul", [source, f"{output}.gate"], [output])
        case kind:
            yield helper.make_node(SAME_THERE[kind], [source], [output])


@_pieces.register
def _activate(operator: graph.Activate) -> Pieces:
    yield from _activated(operator.activation, operator.inputs[0], operator.output)


@_pieces.register
def _add(add: graph.Add) -> Pieces:
    yield helper.make_node("Add", add.inputs, [_before(add.activation, add.output)])
    yield from _activated(add.activation, _before(add.activation, add.output), add.output)


@_pieces.register
def _combine(combine: graph.Combine) -> Pieces:
    """Yield a product of two tensors, as in squeeze-and-excite."""
    assert (combine.kind, combine.constant) == ("multiply", None), combine
    yield helper.make_node("Mul", combine.inputs, [combine.output])


@_pieces.register
def _concat(concat: graph.Concat) -> Pieces:
    yield helper.make_node("Concat", concat.inputs, [concat.output], axis=1)


@_pieces.register
def _select_channels(select: graph.SelectChannels) -> Pieces:
    """Yield a slice for channels in a row, else a Gather, which copies them as the transpose of a shuffle does."""
    first, count = select.order[0], len(select.order)
    in_a_row = select.order == tuple(range(first, first + count))
    numbers = {"from": [first], "to": [first + count], "axis": [1]} if in_a_row else {"order": select.order}
    for name, values in numbers.items():
        yield numpy_helper.from_array(np.array(values), f"{select.name}.{name}")
    inputs = [*select.inputs, *(f"{select.name}.{name}" for name in numbers)]
    if in_a_row:
        yield helper.make_node("Slice", inputs, [select.output])
    else:
        yield helper.make_node("Gather", inputs, [select.output], axis=1)


@_pieces.register
def _local_response_norm(norm: graph.LocalResponseNorm) -> Pieces:
    numbers: dict[str, Any] = {"size": norm.size, "alpha": norm.alpha, "beta": norm.beta, "bias": norm.bias}
    yield helper.make_node("LRN", norm.inputs, [norm.output], **numbers)


@_pieces.register
def _max_pool(pool: graph.MaxPool) -> Pieces:
    yield helper.make_node(
        "MaxPool", pool.inputs, [pool.output], kernel_shape=pool.kernel, strides=pool.strides, pads=pool.pads
    )


@_pieces.register
def _average_pool(pool: graph.AveragePool) -> Pieces:
    yield helper.make_node(
        "AveragePool", pool.inputs, [pool.output], kernel_shape=pool.kernel, strides=pool.strides, pads=pool.pads
    )


@_pieces.register
def _flatten(flatten: graph.Flatten) -> Pieces:
    yield helper.make_node("Flatten", flatten.inputs, [flatten.output])


@_pieces.register
def _dense(dense: graph.Dense) -> Pieces:
    yield numpy_helper.from_array(dense.weight, f"{dense.name}.weight")
    yield numpy_helper.from_array(dense.bias, f"{dense.name}.bias")
    inputs, ending = (
        [*dense.inputs, f"{dense.name}.weight", f"{dense.name}.bias"],
        _before(dense.activation, dense.output),
    )
    yield helper.make_node("Gemm", inputs, [ending], transB=1)
    yield from _activated(dense.activation, ending, dense.output)


@_pieces.register
def _softmax(softmax: graph.Softmax) -> Pieces:
    yield helper.make_node("Softmax", softmax.inputs, [softmax.output], axis=1)
