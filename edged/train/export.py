"""Write a trained network as an ONNX file, to which onnxruntime and edged give the same answers."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from edged import __version__
from edged.errors import ModelError
from edged.model import graph as operators
from edged.model import onnx_names
from edged.model.activations import LINEAR, Activation
from edged.model.graph import Float32, Graph, Operator, Shape
from edged.model.metadata import Metadata, encode
from edged.model.package import Input
from edged.train.training_operators import folded

X, BEFORE = "x", "before"  # what the activation reads, and what the step before wrote
# Sets up to 21 have nodes for GELU, Hardswish, Mish and norms of groups, which become several here; but converters
# for NPUs read older sets alone: that for the RK3588 up to 19, one of its versions up to 15.
OPSET, IR_VERSION = 13, 8
NAME_OF_COMBINATION = {kind: name for name, kind in onnx_names.COMBINATIONS.items()}
NAME_OF_REDUCTION = {kind: name for name, kind in onnx_names.REDUCTIONS.items()}


@dataclass(frozen=True)
class Step:
    """A node. inputs: `X`, `BEFORE`, or a constant."""

    kind: str
    inputs: tuple[str | float, ...] = (X,)
    attributes: Mapping[str, float] = field(default_factory=dict)


def steps_of(activation: Activation) -> tuple[Step, ...]:
    """Return the nodes that compute an activation, in order; none if it is linear."""
    return STEPS[activation.kind](activation.alpha, activation.beta)


def _always(*steps: Step) -> Callable[[float, float], tuple[Step, ...]]:
    return lambda alpha, beta: steps


def _with_attributes(name: str, attributes: Iterable[str]) -> Callable[[float, float], tuple[Step, ...]]:
    return lambda *numbers: (Step(name, (X,), dict(zip(attributes, numbers, strict=False))),)


HARD_GATE = Step("HardSigmoid", (X,), {"alpha": float(np.float32(1 / 6)), "beta": 0.5})
GATED = Step("Mul", (X, BEFORE))
GELU_BY_TANH = (
    Step("Mul", (X, X)),
    Step("Mul", (BEFORE, X)),
    Step("Mul", (BEFORE, 0.044715)),
    Step("Add", (BEFORE, X)),
    Step("Mul", (BEFORE, math.sqrt(2 / math.pi))),
    Step("Tanh", (BEFORE,)),
    Step("Add", (BEFORE, 1.0)),
    GATED,
    Step("Mul", (BEFORE, 0.5)),
)
GELU = (
    Step("Mul", (X, math.sqrt(0.5))),
    Step("Erf", (BEFORE,)),
    Step("Add", (BEFORE, 1.0)),
    GATED,
    Step("Mul", (BEFORE, 0.5)),
)

STEPS: Mapping[str, Callable[[float, float], tuple[Step, ...]]] = {
    **{kind: _always(Step(name)) for name, kind in onnx_names.ACTIVATIONS.items()},
    **{
        kind: _with_attributes(name, defaults)
        for name, (kind, defaults) in onnx_names.ACTIVATIONS_WITH_ATTRIBUTES.items()
    },
    "linear": _always(),
    "clip": lambda low, high: (Step("Clip", (X, low, high)),),
    "silu": _always(Step("Sigmoid"), GATED),
    "hard_swish": _always(HARD_GATE, GATED),
    "mish": _always(Step("Softplus"), Step("Tanh", (BEFORE,)), GATED),
    "gelu": _always(*GELU),
    "gelu_by_tanh": _always(*GELU_BY_TANH),
}


def to_onnx(network: Graph, name: str, labels: Sequence[str], model_input: Input) -> bytes:
    """Return the file's content: any batch, norms folded, labels and input as metadata.

    network: with `TrainedNorm` or without, simplified or not. Raises ModelError if float32 cannot represent the
    folded weights, or for an operator that cannot be written.
    """
    plain = folded(network)
    nodes = _Nodes(plain.shapes)
    for operator in plain.operators:
        nodes.write(operator)
    ends = [_tensor(tensor, plain.shapes[tensor]) for tensor in (plain.input, plain.output)]
    graph = helper.make_graph(nodes.nodes, name, ends[:1], ends[1:], nodes.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    model.producer_name, model.producer_version = "edged", __version__
    metadata = Metadata(
        name=name,
        labels=tuple(labels),
        resize=model_input.resize,
        color=model_input.color,
        scale=model_input.scale,
        mean=model_input.mean,
        std=model_input.std,
    )
    helper.set_model_props(model, encode(metadata))
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


def _tensor(name: str, shape: Shape) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", *shape])


def _matrix(indices: NDArray[np.int32], weights: Float32, side: int) -> Float32:
    """Return the matrix [pixels of the output, pixels of the input] of weighted sums of the pixels `indices`."""
    matrix = np.zeros((len(indices), side), np.float32)
    np.add.at(matrix, (np.arange(len(indices))[:, np.newaxis], indices), weights)
    return matrix


class _Nodes:
    """The nodes and weights so far, each named after its operator."""

    def __init__(self, sizes: Mapping[str, Shape]) -> None:
        self._sizes = sizes
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    @singledispatchmethod
    def write(self, operator: Operator) -> None:
        kind = type(operator).__name__
        raise ModelError(f"{operator.name}: an operator of the kind {kind} cannot be written to an ONNX file")

    @write.register
    def _on_host(self, operator: operators.OnHost) -> None:
        raise ModelError(
            f"{operator.name}: {operator.kind}, which only the host computes, cannot be written to an ONNX file; "
            "use a network without such operators"
        )

    @write.register
    def _conv(self, conv: operators.Conv) -> None:
        before = self._before_activation(conv, conv.activation)
        product = f"{conv.output}.before_sum" if len(conv.inputs) > 1 else before
        weights = self._weight(conv, "weight", conv.weight), self._weight(conv, "bias", conv.bias)
        self._node(
            "Conv", conv.name, [conv.inputs[0], *weights], product,
            kernel_shape=conv.weight.shape[2:], strides=conv.strides, pads=conv.pads,
            dilations=conv.dilations, group=conv.groups,
        )  # fmt: skip
        if len(conv.inputs) > 1:
            self._node("Add", f"{conv.name}.sum", [product, conv.inputs[1]], before)
        self._activation(conv, conv.activation, before)

    @write.register
    def _dense(self, dense: operators.Dense) -> None:
        before = self._before_activation(dense, dense.activation)
        weights = self._weight(dense, "weight", dense.weight), self._weight(dense, "bias", dense.bias)
        self._node("Gemm", dense.name, [dense.inputs[0], *weights], before, transB=1)
        self._activation(dense, dense.activation, before)

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
        before = self._before_activation(add, add.activation)
        self._node("Add", add.name, add.inputs, before)
        self._activation(add, add.activation, before)

    @write.register
    def _activate(self, operator: operators.Activate) -> None:
        self._activation(operator, operator.activation, operator.inputs[0])

    @write.register
    def _combine(self, operator: operators.Combine) -> None:
        inputs = [*operator.inputs]
        if operator.constant is not None:
            inputs.append(self._weight(operator, "constant", operator.constant[np.newaxis]))
        ordered = inputs[::-1] if operator.is_reversed else inputs
        self._node(NAME_OF_COMBINATION[operator.kind], operator.name, ordered, operator.output)

    @write.register
    def _concat(self, operator: operators.Concat) -> None:
        self._node("Concat", operator.name, operator.inputs, operator.output, axis=1)

    @write.register
    def _join(self, join: operators.Join) -> None:
        """Write a constant as a sum: of the images, with zeros in its place, and of it with zeros in theirs."""
        if join.constant is None:
            self._node("Concat", join.name, join.inputs, join.output, axis=join.axis + 1)
            return
        if len(join.inputs) > 1:
            raise ModelError(f"{join.name}: a constant among several images cannot be written to an ONNX file")
        size = join.constant.shape[join.axis]
        pads = np.zeros((2, 4), np.int64)
        pads[0 if join.index == 0 else 1, join.axis + 1] = size
        amounts = self._constant(f"{join.name}.pads", pads.reshape(-1))
        self._node("Pad", f"{join.name}.padded", [join.inputs[0], amounts], f"{join.output}.padded")
        others = self._sizes[join.inputs[0]][join.axis]
        around = [(0, 0)] * 3
        around[join.axis] = (0, others) if join.index == 0 else (others, 0)
        constant = self._weight(join, "constant", np.pad(join.constant, around)[np.newaxis])
        self._node("Add", join.name, [f"{join.output}.padded", constant], join.output)

    @write.register
    def _rearrange(self, operator: operators.Rearrange) -> None:
        name, output = operator.name, operator.output
        indices = self._constant(f"{name}.places", operator.sources)
        shape = self._constant(f"{name}.shape", np.array([0, *operator.shape], np.int64))
        self._node("Flatten", f"{name}.flat", operator.inputs, f"{output}.flat", axis=1)
        self._node("Gather", f"{name}.picked", [f"{output}.flat", indices], f"{output}.picked", axis=1)
        self._node("Reshape", name, [f"{output}.picked", shape], output)

    @write.register
    def _product(self, product: operators.Product) -> None:
        """Write y[n, row, m] as a product for each row, of b[n, k] and a[k, m]."""
        name, output = product.name, product.output
        for source, part in zip(product.inputs, ("a", "b"), strict=True):
            self._node("Transpose", f"{name}.{part}", [source], f"{output}.{part}", perm=[0, 2, 1, 3])
        factor = self._constant(f"{name}.factor", np.array(product.factor, np.float32))
        self._node("MatMul", f"{name}.rows", [f"{output}.b", f"{output}.a"], f"{output}.rows")
        self._node("Mul", f"{name}.scaled", [f"{output}.rows", factor], f"{output}.scaled")
        self._node("Transpose", name, [f"{output}.scaled"], output, perm=[0, 2, 1, 3])

    @write.register
    def _layer_norm(self, norm: operators.LayerNorm) -> None:
        """Write the norm of the channels step by step: LayerNormalization takes the last axes alone."""
        output = norm.output
        epsilon = self._constant(f"{norm.name}.epsilon", np.array(norm.epsilon, np.float32))
        steps: tuple[tuple[str, list[str], str], ...] = (
            ("ReduceMean", [*norm.inputs], "mean"),
            ("Sub", [*norm.inputs, f"{output}/mean"], "centred"),
            ("Mul", [f"{output}/centred"] * 2, "squares"),
            ("ReduceMean", [f"{output}/squares"], "variance"),
            ("Add", [f"{output}/variance", epsilon], "positive"),
            ("Sqrt", [f"{output}/positive"], "deviation"),
            ("Div", [f"{output}/centred", f"{output}/deviation"], "normal"),
        )
        for kind, inputs, step in steps:
            how = {"axes": [1], "keepdims": 1} if kind == "ReduceMean" else {}
            self._node(kind, f"{norm.name}/{step}", inputs, f"{output}/{step}", **how)
        scaled = operators.BatchNorm(norm.name, (f"{output}/normal",), output, norm.factor, norm.offset)
        self._batch_norm(scaled)

    @write.register
    def _group_norm(self, norm: operators.GroupNorm) -> None:
        """Write the norm of groups as exporters do: of channels that are groups, then factor and offset."""
        name, output = norm.name, norm.output
        shapes = {"groups": [0, norm.groups, -1], "image": [0, *self._sizes[norm.inputs[0]]]}
        groups, image = (
            self._constant(f"{name}/{what}", np.array(shape, np.int64)) for what, shape in shapes.items()
        )
        ones, zeros = (
            self._constant(f"{name}/{value}", np.full(norm.groups, value, np.float32)) for value in (1, 0)
        )
        self._node("Reshape", f"{name}/split", [norm.inputs[0], groups], f"{output}/split")
        inputs = [f"{output}/split", ones, zeros]
        self._node("InstanceNormalization", f"{name}/normal", inputs, f"{output}/normal", epsilon=norm.epsilon)
        self._node("Reshape", f"{name}/back", [f"{output}/normal", image], f"{output}/back")
        self._batch_norm(operators.BatchNorm(name, (f"{output}/back",), output, norm.factor, norm.offset))

    @write.register
    def _reduce_channels(self, operator: operators.ReduceChannels) -> None:
        if operator.kind == "sum":
            axes = self._constant(f"{operator.name}.axes", np.array([1], np.int64))
            self._node("ReduceSum", operator.name, [*operator.inputs, axes], operator.output, keepdims=1)
        else:
            kind = NAME_OF_REDUCTION[operator.kind]
            self._node(kind, operator.name, operator.inputs, operator.output, axes=[1], keepdims=1)

    @write.register
    def _interpolate(self, operator: operators.Interpolate) -> None:
        """Write the sums as two matrix products: of the columns, then of the rows."""
        _, height, width = self._sizes[operator.inputs[0]]
        columns = _matrix(operator.column_indices, operator.column_weights, width).T
        right = self._weight(operator, "columns", np.ascontiguousarray(columns))
        left = self._weight(operator, "rows", _matrix(operator.row_indices, operator.row_weights, height))
        self._node("MatMul", f"{operator.name}.wide", [*operator.inputs, right], f"{operator.output}.wide")
        self._node("MatMul", operator.name, [left, f"{operator.output}.wide"], operator.output)

    @write.register
    def _select_channels(self, operator: operators.SelectChannels) -> None:
        order = self._constant(f"{operator.name}.order", np.array(operator.order, np.int64))
        self._node("Gather", operator.name, [*operator.inputs, order], operator.output, axis=1)

    @write.register
    def _local_response_norm(self, norm: operators.LocalResponseNorm) -> None:
        how = {"size": norm.size, "alpha": norm.alpha, "beta": norm.beta, "bias": norm.bias}
        self._node("LRN", norm.name, norm.inputs, norm.output, **how)

    @write.register
    def _unflatten(self, operator: operators.Unflatten) -> None:
        axes = self._constant(f"{operator.name}.axes", np.array([2, 3], np.int64))
        self._node("Unsqueeze", operator.name, [*operator.inputs, axes], operator.output)

    @write.register
    def _softmax(self, softmax: operators.Softmax) -> None:
        kind = "LogSoftmax" if softmax.is_log else "Softmax"
        self._node(kind, softmax.name, softmax.inputs, softmax.output, axis=1)

    @write.register
    def _flatten(self, flatten: operators.Flatten) -> None:
        self._node("Flatten", flatten.name, flatten.inputs, flatten.output, axis=1)

    def _before_activation(
        self, operator: operators.Conv | operators.Dense | operators.Add, activation: Activation
    ) -> str:
        """Return the tensor that the activation at the operator's end reads; without one, the operator's own."""
        return operator.output if activation == LINEAR else f"{operator.output}.before_{activation}"

    def _activation(self, operator: Operator, activation: Activation, source: str) -> None:
        """Write the nodes that compute `activation` of `source` as the output of `operator`."""
        steps, before = steps_of(activation), source
        for number, step in enumerate(steps, start=1):
            is_last = number == len(steps)
            name = f"{operator.name}.{activation}" + ("" if is_last else f".{number}")
            found = {X: source, BEFORE: before}
            inputs = [
                found[each]
                if isinstance(each, str)
                else self._constant(f"{name}.{index}", np.array(each, np.float32))
                for index, each in enumerate(step.inputs)
            ]
            before = operator.output if is_last else f"{operator.output}.{activation}.{number}"
            self._node(step.kind, name, inputs, before, **step.attributes)

    def _weight(self, operator: Operator, what: str, values: NDArray[np.float32]) -> str:
        return self._constant(f"{operator.name}.{what}", np.ascontiguousarray(values, np.float32))

    def _constant(self, name: str, values: NDArray[Any]) -> str:
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def _node(self, kind: str, name: str, inputs: Sequence[str], output: str, **attributes: Any) -> None:
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=name, **attributes))
