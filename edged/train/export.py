"""Write a trained network as an ONNX file, to which onnxruntime and edged give the same answers."""

from collections.abc import Sequence
from functools import singledispatchmethod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from edged import __version__
from edged.model import graph as operators
from edged.model.activations import LINEAR, RELU
from edged.model.graph import Graph, Operator, Shape
from edged.model.metadata import Metadata, encode
from edged.model.package import Input
from edged.train.norm import folded

OPSET, IR_VERSION = 13, 8


def to_onnx(network: Graph, name: str, labels: Sequence[str], wanted: Input) -> bytes:
    """Return the file's content: any batch, norms folded, labels and input as metadata.

    network: with `TrainedNorm` or without, simplified or not. Raises ModelError if float32 cannot represent the
    folded weights.
    """
    plain = folded(network)
    nodes = _Nodes()
    for operator in plain.operators:
        nodes.write(operator)
    ends = [_tensor(tensor, plain.shapes[tensor]) for tensor in (plain.input, plain.output)]
    graph = helper.make_graph(nodes.nodes, name, ends[:1], ends[1:], nodes.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    model.producer_name, model.producer_version = "edged", __version__
    metadata = Metadata(
        name=name,
        labels=tuple(labels),
        resize=wanted.resize,
        color=wanted.color,
        scale=wanted.scale,
        mean=wanted.mean,
        std=wanted.std,
    )
    helper.set_model_props(model, encode(metadata))
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


def _tensor(name: str, shape: Shape) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", *shape])


def _ending(
    operator: operators.Conv | operators.Dense | operators.Add | operators.Activate,
) -> list[str]:
    """Return the node that an activation at the end of an operator becomes. Raises NotImplementedError."""
    if operator.activation not in {LINEAR, RELU}:
        raise NotImplementedError(operator.activation.kind)
    return ["relu"] if operator.activation == RELU else []


class _Nodes:
    """The nodes and weights so far, each named after its operator."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    @singledispatchmethod
    def write(self, operator: Operator) -> None:
        raise NotImplementedError(type(operator).__name__)

    @write.register
    def _conv(self, conv: operators.Conv) -> None:
        rest = [*(["sum"] if len(conv.inputs) > 1 else []), *_ending(conv)]
        names = self._names(conv, rest)
        weights = self._weight(conv, "weight", conv.weight), self._weight(conv, "bias", conv.bias)
        self._node(
            "Conv", conv.name, [conv.inputs[0], *weights], names[0],
            kernel_shape=conv.weight.shape[2:], strides=conv.strides, pads=conv.pads,
            dilations=conv.dilations, group=conv.groups,
        )  # fmt: skip
        for part, before, after in zip(rest, names, names[1:], strict=False):
            inputs = [before, conv.inputs[1]] if part == "sum" else [before]
            self._node("Add" if part == "sum" else "Relu", f"{conv.name}.{part}", inputs, after)

    @write.register
    def _dense(self, dense: operators.Dense) -> None:
        names = self._names(dense, _ending(dense))
        weights = self._weight(dense, "weight", dense.weight), self._weight(dense, "bias", dense.bias)
        self._node("Gemm", dense.name, [dense.inputs[0], *weights], names[0], transB=1)
        if dense.activation != LINEAR:
            self._node("Relu", f"{dense.name}.relu", names[:1], names[1])

    @write.register
    def _batch_norm(self, norm: operators.BatchNorm) -> None:
        zeros, ones = np.zeros_like(norm.factor), np.ones_like(norm.factor)
        arrays = {"factor": norm.factor, "offset": norm.offset, "mean": zeros, "variance": ones}
        weights = [self._weight(norm, name, array) for name, array in arrays.items()]
        self._node("BatchNormalization", norm.name, [*norm.inputs, *weights], norm.output, epsilon=0.0)

    @write.register
    def _max_pool(self, pool: operators.MaxPool) -> None:
        self._pool("MaxPool", pool)

    @write.register
    def _average_pool(self, pool: operators.AveragePool) -> None:
        self._pool("AveragePool", pool, count_include_pad=int(pool.count_include_pad))

    def _pool(self, kind: str, pool: operators.MaxPool | operators.AveragePool, **more: int) -> None:
        window = {"kernel_shape": pool.kernel, "strides": pool.strides, "pads": pool.pads}
        self._node(kind, pool.name, pool.inputs, pool.output, **window, **more)

    @write.register
    def _add(self, add: operators.Add) -> None:
        names = self._names(add, _ending(add))
        self._node("Add", add.name, add.inputs, names[0])
        if add.activation != LINEAR:
            self._node("Relu", f"{add.name}.relu", names[:1], names[1])

    @write.register
    def _activate(self, operator: operators.Activate) -> None:
        if _ending(operator):
            self._node("Relu", operator.name, operator.inputs, operator.output)

    @write.register
    def _softmax(self, softmax: operators.Softmax) -> None:
        self._node("Softmax", softmax.name, softmax.inputs, softmax.output, axis=1)

    @write.register
    def _flatten(self, flatten: operators.Flatten) -> None:
        self._node("Flatten", flatten.name, flatten.inputs, flatten.output, axis=1)

    def _names(self, operator: Operator, rest: Sequence[str]) -> list[str]:
        """Return the outputs of an operator's nodes: the last one is the operator's own output."""
        return [*(f"{operator.output}.before_{part}" for part in rest), operator.output]

    def _weight(self, operator: Operator, what: str, values: NDArray[np.float32]) -> str:
        name = f"{operator.name}.{what}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values, np.float32), name))
        return name

    def _node(self, kind: str, name: str, inputs: Sequence[str], output: str, **attributes: Any) -> None:
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=name, **attributes))
