"""A graph as an ONNX file, so that another runtime can compute the same network."""

from collections.abc import Iterator
from functools import singledispatch

import onnx
from onnx import TensorProto, helper, numpy_helper

from edged.model import graph
from edged.model.activations import RELU
from edged.model.graph import Graph, Operator

OPSET = 17
Pieces = Iterator[onnx.NodeProto | onnx.TensorProto]


def export(network: Graph, batch: int = 1) -> bytes:
    """`network` for `batch` frames. Knows the operators of the ResNets, as `passes.simplify` leaves them."""
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
    """The convolution, the sum and the ReLU that are one operator here are three there."""
    yield numpy_helper.from_array(conv.weight, f"{conv.name}.weight")
    yield numpy_helper.from_array(conv.bias, f"{conv.name}.bias")
    names = _chain(conv.output, 1 + (len(conv.inputs) > 1) + (conv.activation == RELU))
    yield helper.make_node(
        "Conv",
        [conv.inputs[0], f"{conv.name}.weight", f"{conv.name}.bias"],
        [names[0]],
        strides=conv.strides,
        pads=conv.pads,
        dilations=conv.dilations,
        group=conv.groups,
    )
    if len(conv.inputs) > 1:
        yield helper.make_node("Add", [names[0], conv.inputs[1]], [names[1]])
    if conv.activation == RELU:
        yield helper.make_node("Relu", [names[-2]], [names[-1]])


def _chain(output: str, length: int) -> list[str]:
    return [f"{output}.{step}" for step in range(length - 1)] + [output]


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
    inputs = [*dense.inputs, f"{dense.name}.weight", f"{dense.name}.bias"]
    yield helper.make_node("Gemm", inputs, [dense.output], transB=1)


@_pieces.register
def _softmax(softmax: graph.Softmax) -> Pieces:
    yield helper.make_node("Softmax", softmax.inputs, [softmax.output], axis=1)
