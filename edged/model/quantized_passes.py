"""Rewrite a quantized graph, so that it computes with steps wherever it can.

A file in QDQ form has QuantizeLinear and DequantizeLinear around each operator of floats. Here the scales move
into the operators, in whose whole numbers nothing is lost: the graph writes the same steps as the file.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from edged.model.activations import LINEAR, RELU, Activation
from edged.model.graph import (
    Activate,
    Add,
    AveragePool,
    Concat,
    Dequantize,
    Flatten,
    Graph,
    MaxPool,
    Operator,
    Pair,
    Quantize,
    QuantizedAdd,
    QuantizedConv,
    QuantizedDense,
    SelectChannels,
    Unflatten,
)
from edged.model.shapes import count_reads, with_operators

KEEPS_STEPS = (Concat, Flatten, MaxPool, SelectChannels, Unflatten)  # their output holds numbers of their inputs
QUANTIZED = (QuantizedConv, QuantizedDense)
COMMUTES = (*KEEPS_STEPS, AveragePool)  # with the product by a scale


def fuse_quantized(graph: Graph) -> Graph:
    """Apply all passes of this module; a graph without quantized tensors stays as it is."""
    if not any(isinstance(operator, Quantize | Dequantize) for operator in graph.operators):
        return graph
    return _Fusion(graph).fused


def step_tensors(graph: Graph) -> dict[str, Pair]:
    """Return the tensors that hold steps, each with bounds of them around zero.

    The inputs of a concatenation have those of its output, so that they may lie in it.
    """
    steps: dict[str, Pair] = {}
    for operator in graph.operators:
        if bounds := getattr(operator, "bounds", None):
            steps[operator.output] = _around_zero([bounds])
        elif isinstance(operator, KEEPS_STEPS) and steps.keys() >= set(operator.inputs):
            steps[operator.output] = _around_zero([steps[each] for each in operator.inputs])
    for operator in reversed(graph.operators):
        if isinstance(operator, Concat) and operator.output in steps:
            steps |= dict.fromkeys(operator.inputs, steps[operator.output])
    return steps


def is_quantized(graph: Graph) -> bool:
    """Return whether a layer multiplies integers."""
    return any(isinstance(operator, QUANTIZED) for operator in graph.operators)


def has_byte_weights(graph: Graph) -> bool:
    """Return whether the weights of all quantized layers are bytes."""
    return all(operator.weight.dtype == np.int8 for operator in graph.operators if isinstance(operator, QUANTIZED))


def _around_zero(bounds: Sequence[Pair]) -> Pair:
    """Return bounds that hold all of these, and zero."""
    return min(0, *(low for low, _ in bounds)), max(0, *(high for _, high in bounds))


class _Fusion:
    """The operators of a graph, each fused with those before it as it is added."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._written: dict[str, Operator] = {}
        self._same: dict[str, str] = {}  # tensors that are others, by name
        self._uses = count_reads(graph)
        for operator in graph.operators:
            self._add(operator)

    @property
    def fused(self) -> Graph:
        output = self._same.get(self._graph.output, self._graph.output)
        return with_operators(self._graph, self._written.values(), output)

    def _add(self, operator: Operator) -> None:
        operator = replace(operator, inputs=tuple(self._same.get(each, each) for each in operator.inputs))
        match operator:
            case Quantize():
                operator = self._quantized(operator)
            case Concat() | Flatten() | MaxPool() | SelectChannels() | Unflatten() | AveragePool():
                operator = self._before_dequantize(operator)
        if (
            isinstance(operator, Quantize)
            and operator.scale == 1.0
            and self._is_within(operator.inputs[0], operator.bounds)
        ):
            self._same[operator.output] = operator.inputs[0]
        else:
            self._written[operator.output] = operator

    def _is_within(self, tensor: str, bounds: Pair) -> bool:
        """Return whether all values of a tensor are steps within these bounds."""
        writer = self._written.get(tensor)
        if isinstance(writer, KEEPS_STEPS):
            return all(self._is_within(each, bounds) for each in writer.inputs)
        found = getattr(writer, "bounds", None)
        return found is not None and bounds[0] <= found[0] and found[1] <= bounds[1]

    def _before_dequantize(self, operator: Operator) -> Operator:
        """Move a Dequantize from before the operator to behind it."""
        sources = [self._written.get(tensor) for tensor in operator.inputs]
        scales = {source.scale for source in sources if isinstance(source, Dequantize)}
        if len(scales) != 1 or not all(isinstance(source, Dequantize) for source in sources):
            return operator
        inputs = tuple(source.inputs[0] for source in sources if source)
        self._uses.subtract(operator.inputs)
        self._uses.update(inputs)
        moved = replace(operator, inputs=inputs, output=f"{operator.output}/steps")
        self._written[moved.output] = moved
        self._uses[moved.output] += 1
        return Dequantize(f"{operator.name}/values", (moved.output,), operator.output, scales.pop())

    def _quantized(self, quantize: Quantize) -> Operator:
        """Return the operator that writes the steps of `quantize`."""
        activation, before = self._ending(quantize.inputs[0])
        if isinstance(before, KEEPS_STEPS) and activation == LINEAR:
            return self._behind(quantize, before)
        if isinstance(before, QUANTIZED) and before.bounds is None:
            return _with_steps(before, activation, quantize) or quantize
        bounds = _within(activation, quantize)
        if bounds is None or before is None:
            return quantize
        if isinstance(before, Dequantize) and activation == LINEAR:
            scale = float(np.float32(quantize.scale) / np.float32(before.scale))
            return replace(quantize, inputs=before.inputs, scale=scale)
        if isinstance(before, Add):
            return self._sum(before, quantize, bounds) or quantize
        return quantize

    def _behind(self, quantize: Quantize, move: Operator) -> Operator:
        """Return the move of steps that has `quantize` before it in place of behind it."""
        steps = []
        for index, tensor in enumerate(move.inputs):
            name, output = (f"{each}/{index}" for each in (quantize.name, quantize.output))
            self._uses[output] += 1
            self._add(replace(quantize, name=name, inputs=(tensor,), output=output))
            steps.append(self._same.get(output, output))
        return replace(move, inputs=tuple(steps), output=quantize.output)

    def _ending(self, tensor: str) -> tuple[Activation, Operator | None]:
        """Return what writes a tensor that one operator reads, without the activation at its end, and that."""
        before = self._written.get(tensor)
        activation = getattr(before, "activation", LINEAR)
        if isinstance(before, Activate):
            tensor = before.inputs[0]
            _, before = self._ending(tensor)
            if getattr(before, "activation", LINEAR) != LINEAR:
                return activation, None
        if isinstance(before, Dequantize):
            return activation, before
        return activation, before if self._uses[tensor] == 1 else None

    def _sum(self, add: Add, quantize: Quantize, bounds: Pair) -> QuantizedAdd | None:
        sources = [self._written.get(tensor) for tensor in add.inputs]
        if not all(isinstance(source, Dequantize) for source in sources):
            return None
        found = [source for source in sources if isinstance(source, Dequantize)]
        first, second = (float(np.float32(source.scale) / np.float32(quantize.scale)) for source in found)
        inputs = tuple(source.inputs[0] for source in found)
        return QuantizedAdd(add.name, inputs, quantize.output, (first, second), bounds)


def _with_steps(
    layer: QuantizedConv | QuantizedDense, activation: Activation, quantize: Quantize
) -> Operator | None:
    """Return a layer that writes the steps of its activation; None if it cannot."""
    bounds = _within(activation, quantize)
    if bounds is not None:
        factor = layer.factor / np.float32(quantize.scale)
        ending: dict[str, Any] = {"factor": factor, "bounds": bounds, "activation": LINEAR}
        return replace(layer, output=quantize.output, **ending)
    if isinstance(layer, QuantizedConv) and layer.output == quantize.inputs[0]:
        return replace(layer, output=quantize.output, bounds=quantize.bounds, scale=quantize.scale)
    return None


def _within(activation: Activation, quantize: Quantize) -> Pair | None:
    """Return the bounds of steps after an activation that only clips; None for another one."""
    low, high = quantize.bounds
    if activation == RELU:
        return max(low, 0), high
    if activation.kind == "clip":
        first, last = (np.rint(each / quantize.scale) for each in activation[1:])
        return int(np.clip(first, low, high)), int(np.clip(last, low, high))
    return (low, high) if activation == LINEAR else None
