"""Expand nodes that compute with integers to nodes of floats between DequantizeLinear and QuantizeLinear.

Such nodes are ONNX's QLinearConv and QLinearMatMul, those of the domain com.microsoft that onnxruntime writes
beside them (docs/ContribOperators.md in its repository), products with weights of a few bits, and views and pools
of integers. `model.quantized_passes` fuses the result again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from onnx import NodeProto, helper

from edged.errors import ModelError
from edged.model.from_onnx.low_bits import unpacked_weights
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.resampling import BY_REGION, coordinate_mode
from edged.model.from_onnx.scope import Constant, Scope
from edged.model.graph import Float32

MICROSOFT = "com.microsoft"
# Kinds that do not change the integers that they pass on.
OF_INTEGERS = ("Concat", "Flatten", "Identity", "MaxPool", "Reshape", "Squeeze", "Transpose", "Unsqueeze")


@dataclass
class _Expansion:
    """The nodes in place of `proto`, and constants that they need."""

    proto: NodeProto
    scope: Scope
    nodes: list[NodeProto] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    def dequantized(self, value: str, scale: str, zero: str, axis: int = 0) -> str:
        """Add a DequantizeLinear, and return the name of its output."""
        return self.add("DequantizeLinear", [value, scale, zero], self.name(), axis=axis)

    def quantized(self, value: str, scale: str, zero: str) -> None:
        """Add the QuantizeLinear that writes the output of the node."""
        self.add("QuantizeLinear", [value, scale, zero], self.proto.output[0])

    def add(self, kind: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        output = output or self.name()
        self.nodes.append(helper.make_node(kind, inputs, [output], f"{self.proto.name}/{kind}", **attributes))
        return output

    def constant(self, numbers: Constant) -> str:
        """Define a constant, and return its name."""
        name = self.name()
        self.scope.define(name, numbers)
        return name

    def name(self) -> str:
        """Return the name of a new tensor."""
        return f"{self.proto.output[0]}/{next(self._numbers)}"

    @property
    def attributes(self) -> dict[str, Any]:
        return {each.name: helper.get_attribute_value(each) for each in self.proto.attribute}


def expand(proto: NodeProto, node: OnnxNode, scope: Scope) -> Sequence[NodeProto] | None:
    """Return the nodes in place of one that computes with integers; None for another one. Raises ModelError."""
    expansion = _Expansion(proto, scope)
    if proto.domain == MICROSOFT and node.kind not in EXPANSIONS:
        way_out = "use the file as it was before onnxruntime optimized it"
        raise ModelError(f"is of {MICROSOFT}, of which are supported: {', '.join(EXPANSIONS)}: {way_out}")
    if node.kind in EXPANSIONS:
        EXPANSIONS[node.kind](expansion, [*proto.input, *[""] * 9])
    elif _passes_integers_on(node) and (zeros := list(_zeros(node, scope))):
        _of_integers(expansion, node, zeros)
    return expansion.nodes or None


def _passes_integers_on(node: OnnxNode) -> bool:
    """Return whether a node writes only integers that it reads."""
    is_resize = node.kind in {"Resize", "Upsample"} and node.text("mode", "nearest") == "nearest"
    return node.kind in OF_INTEGERS or (is_resize and coordinate_mode(node) != BY_REGION)


def _zeros(node: OnnxNode, scope: Scope) -> Iterator[tuple[str, int, str]]:
    """Yield the inputs that are steps, each with its zero point and type."""
    for name in node.inputs:
        value = scope.known(name)
        if value and value.zero is not None:
            yield name, value.zero, value.dtype


def _of_integers(expansion: _Expansion, node: OnnxNode, inputs: Sequence[tuple[str, int, str]]) -> None:
    """Expand a node that passes integers on, all with one zero point."""
    if len({(zero, dtype) for _, zero, dtype in inputs}) > 1:
        raise ModelError("joins integers with different zero points")
    scale = expansion.constant(np.array(1.0, np.float32))
    zero = expansion.constant(np.array(inputs[0][1], inputs[0][2]))
    floats = {name: expansion.dequantized(name, scale, zero) for name, _, _ in inputs}
    output = expansion.add(node.kind, [floats.get(name, name) for name in node.inputs], **expansion.attributes)
    expansion.quantized(output, scale, zero)


def _conv(expansion: _Expansion, inputs: Sequence[str]) -> None:
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias, *_ = inputs
    reads = [expansion.dequantized(x, x_scale, x_zero), expansion.dequantized(w, w_scale, w_zero)]
    if bias:
        reads.append(_bias(expansion, bias, x_scale, w_scale))
    expansion.quantized(expansion.add("Conv", reads, **expansion.attributes), y_scale, y_zero)


def _bias(expansion: _Expansion, bias: str, x_scale: str, w_scale: str) -> str:
    """Dequantize a bias, whose scale is the product of those of inputs and weights."""
    scales = [expansion.scope.constant(name) for name in (x_scale, w_scale)]
    if scales[0] is None or scales[1] is None:
        raise ModelError("scales are supported only as constants")
    scale = scales[0].astype(np.float32) * scales[1].astype(np.float32)
    return expansion.dequantized(bias, expansion.constant(scale.reshape(scales[1].shape)), "")


def _matmul(expansion: _Expansion, inputs: Sequence[str]) -> None:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, *_ = inputs
    reads = [expansion.dequantized(a, a_scale, a_zero), expansion.dequantized(b, b_scale, b_zero, axis=1)]
    expansion.quantized(expansion.add("MatMul", reads), y_scale, y_zero)


def _gemm(expansion: _Expansion, inputs: Sequence[str]) -> None:
    """Expand QGemm; without a scale of the output it writes floats."""
    a, a_scale, a_zero, b, b_scale, b_zero, bias, y_scale, y_zero, *_ = inputs
    attributes = expansion.attributes
    axis = 0 if attributes.get("transB", 0) else 1
    reads = [expansion.dequantized(a, a_scale, a_zero), expansion.dequantized(b, b_scale, b_zero, axis=axis)]
    if bias:
        reads.append(_bias(expansion, bias, a_scale, b_scale))
    if not y_scale:
        expansion.add("Gemm", reads, expansion.proto.output[0], **attributes)
    else:
        expansion.quantized(expansion.add("Gemm", reads, **attributes), y_scale, y_zero)


def _matmul_of_few_bits(expansion: _Expansion, inputs: Sequence[str]) -> None:
    """Expand MatMulNBits, whose weights become floats."""
    a, packed, scales, zeros, order, bias, *_ = inputs
    if order:
        raise ModelError("has an order of its rows, g_idx; supported are rows in blocks that follow each other")
    weights = _unpacked(expansion, packed, scales, zeros)
    expansion.scope.reserve_constant(weights.size)
    reads = [a, expansion.constant(weights)]
    if bias:
        expansion.add("Add", [expansion.add("MatMul", reads), bias], expansion.proto.output[0])
    else:
        expansion.add("MatMul", reads, expansion.proto.output[0])


def _unpacked(expansion: _Expansion, packed: str, scales: str, zeros: str) -> Float32:
    steps, by_block, offsets = (expansion.scope.constant(name) for name in (packed, scales, zeros))
    if steps is None or by_block is None or (zeros and offsets is None):
        raise ModelError("reads computed weights, scales or zero points; supported are constant ones")
    return unpacked_weights(steps, by_block, offsets, expansion.attributes)


def _of_two(kind: str) -> Callable[[_Expansion, Sequence[str]], None]:
    def expand_node(expansion: _Expansion, inputs: Sequence[str]) -> None:
        a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, *_ = inputs
        reads = [expansion.dequantized(a, a_scale, a_zero), expansion.dequantized(b, b_scale, b_zero)]
        expansion.quantized(expansion.add(kind, reads), y_scale, y_zero)

    return expand_node


def _of_one(kind: str) -> Callable[[_Expansion, Sequence[str]], None]:
    def expand_node(expansion: _Expansion, inputs: Sequence[str]) -> None:
        x, x_scale, x_zero, y_scale, y_zero, *_ = inputs
        attributes = expansion.attributes
        if attributes.pop("channels_last", 0):
            raise ModelError("attribute channels_last is supported only as 0")
        attributes.pop("opset", None)
        floats = expansion.dequantized(x, x_scale, x_zero)
        expansion.quantized(expansion.add(kind, [floats], **attributes), y_scale, y_zero)

    return expand_node


def _concat(expansion: _Expansion, inputs: Sequence[str]) -> None:
    y_scale, y_zero, *rest = [name for name in inputs if name]
    triples = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    floats = [expansion.dequantized(*triple) for triple in triples]
    expansion.quantized(expansion.add("Concat", floats, **expansion.attributes), y_scale, y_zero)


EXPANSIONS: Mapping[str, Callable[[_Expansion, Sequence[str]], None]] = {
    "MatMulNBits": _matmul_of_few_bits,
    "QGemm": _gemm,
    "QLinearAdd": _of_two("Add"),
    "QLinearAveragePool": _of_one("AveragePool"),
    "QLinearConcat": _concat,
    "QLinearConv": _conv,
    "QLinearGlobalAveragePool": _of_one("GlobalAveragePool"),
    "QLinearLeakyRelu": _of_one("LeakyRelu"),
    "QLinearMatMul": _matmul,
    "QLinearMul": _of_two("Mul"),
    "QLinearSigmoid": _of_one("Sigmoid"),
    "QLinearSoftmax": _of_one("Softmax"),
}
