"""Rewrite gates that exporters write as several nodes: hard sigmoid, and x times its gate, SiLU and hard swish."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from edged.model.activations import HARD_SIGMOID, HARD_SWISH, SIGMOID, Activation
from edged.model.graph import Activate, BatchNorm, Combine, Float32, Graph, Operator
from edged.model.shapes import count_reads, with_operators

GATES = {  # x times one of these is another activation
    SIGMOID: Activation("silu"),
    HARD_SIGMOID: HARD_SWISH,
}
ROUNDING = 1e-6  # of a file's 1 ÷ 6, relative

Written = Mapping[str, Operator]


def scale_gate(graph: Graph) -> Graph:
    """Scale the gate in place of its product: (y · clip(x, 0, h)) ÷ h as y · (clip(x, 0, h) ÷ h)."""
    reads = count_reads(graph)
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        for each in _with_scaled_gate(operator, written, reads, graph):
            written[each.output] = each
    return with_operators(graph, written.values())


def _with_scaled_gate(
    operator: Operator, written: Written, reads: Counter[str], graph: Graph
) -> tuple[Operator, ...]:
    """Return the scale of a gate and the product with it for a product's scale; any other operator alone."""
    product = written.get(operator.inputs[0])
    if not isinstance(operator, BatchNorm) or not isinstance(product, Combine) or reads[product.output] > 1:
        return (operator,)
    for index, gate in enumerate(product.inputs if product.kind == "multiply" else ()):
        if _becomes_one(written.get(gate), operator.scale):
            channels = graph.shapes[gate][0]
            scaled = f"{gate}/scaled"
            numbers = operator.factor[:1].repeat(channels), np.zeros(channels, np.float32)
            inputs = tuple(scaled if i == index else each for i, each in enumerate(product.inputs))
            scale = BatchNorm(f"{operator.name}/gate", (gate,), scaled, *numbers)
            return scale, replace(product, inputs=inputs, output=operator.output)
    return (operator,)


def fuse_hard_sigmoid(graph: Graph) -> Graph:
    """clip(a · x + b, 0, h) ÷ h, as Paddle2ONNX and older PyTorch write it, as one hard sigmoid."""
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        written[operator.output] = _hard_sigmoid(operator, written) or operator
    return with_operators(graph, written.values())


def _hard_sigmoid(operator: Operator, written: Written) -> Activate | None:
    """Return the hard sigmoid that `operator` is the last node of; None if it is of none."""
    if not isinstance(operator, BatchNorm) or (scale := operator.scale) is None:
        return None
    clip = written.get(operator.inputs[0])
    if clip is None or not _becomes_one(clip, scale):
        return None
    line = written.get(clip.inputs[0])
    if not isinstance(line, BatchNorm) or not (_is_one_number(line.factor) and _is_one_number(line.offset)):
        return None
    slope, offset = (float(each[0] * np.float32(scale)) for each in (line.factor, line.offset))
    return Activate(operator.name, line.inputs, operator.output, Activation("hard_sigmoid", slope, offset))


def _becomes_one(operator: Operator | None, scale: float | None) -> bool:
    """Return whether these are values of 0 to h, and the scale is 1 ÷ h."""
    if scale is None or not isinstance(operator, Activate) or operator.activation.kind != "clip":
        return False
    low, high = operator.activation.alpha, operator.activation.beta
    return low == 0 and abs(scale * high - 1) < ROUNDING


def _is_one_number(channels: Float32) -> bool:
    return bool((channels == channels[0]).all())


def fuse_swish(graph: Graph) -> Graph:
    """x · sigmoid(x), as exporters write SiLU, as one activation; x · hard sigmoid(x) as hard swish."""
    reads = count_reads(graph)
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        written[operator.output] = _swish(operator, written, reads) or operator
    return with_operators(graph, written.values())


def _swish(operator: Operator, written: Written, reads: Counter[str]) -> Activate | None:
    """Return the activation that a product of a tensor with its own gate computes; None for another operator."""
    if not isinstance(operator, Combine) or operator.kind != "multiply" or len(operator.inputs) != 2:
        return None
    for gate_name, other in (operator.inputs, operator.inputs[::-1]):
        gate = written.get(gate_name)
        if isinstance(gate, Activate) and gate.inputs == (other,) and reads[gate_name] == 1:
            fused = GATES.get(gate.activation)
            return Activate(operator.name, (other,), operator.output, fused) if fused else None
    return None
