"""The cost of a network, of each of its layers, and the hash that identifies a set of weights."""

import hashlib
import math
from dataclasses import dataclass, fields

import numpy as np

from edged.model.graph import (
    Combine,
    Conv,
    Dense,
    Graph,
    GroupNorm,
    Interpolate,
    Join,
    LayerNorm,
    OnHost,
    Operator,
    Product,
    QuantizedConv,
    QuantizedDense,
    Shape,
)

FLOAT_BYTES = 4


@dataclass(frozen=True)
class LayerCost:
    """The cost of one operator for one frame. `activation_bytes`: of the tensor that it writes, in float32."""

    layer: str
    kind: str
    output: Shape
    parameters: int
    macs: int
    activation_bytes: int


def layer_costs(graph: Graph) -> tuple[LayerCost, ...]:
    """Return the cost of each operator, in order."""
    return tuple(
        LayerCost(
            layer=operator.name,
            kind=kind_of(operator),
            output=graph.shapes[operator.output],
            parameters=parameters(operator),
            macs=operator_macs(graph, operator),
            activation_bytes=_bytes_of(graph, operator.output),
        )
        for operator in graph.operators
    )


def kind_of(operator: Operator) -> str:
    """Describe an operator in a few words: `Conv 3×3/2, 32 groups, relu`."""
    if isinstance(operator, OnHost):
        return f"{operator.kind} on the host"
    values = {field.name: getattr(operator, field.name) for field in fields(operator)}
    kernel = operator.weight.shape[2:] if isinstance(operator, Conv | QuantizedConv) else values.get("kernel")
    window = f" {kernel[0]}×{kernel[1]}" if kernel else ""
    down, across = values["strides"] if kernel else (1, 1)
    stride = "" if (down, across) == (1, 1) else f"/{down}" if down == across else f"/{down}×{across}"
    groups = [f"{values['groups']} groups"] if values.get("groups", 1) > 1 else []
    activation = str(values.get("activation", "linear"))
    ends = [activation] if activation != "linear" else []
    return ", ".join([f"{type(operator).__name__}{window}{stride}", *groups, *ends])


def parameters(operator: Operator) -> int:
    """Return how many weights and biases an operator has."""
    if isinstance(operator, QuantizedConv | QuantizedDense):
        return operator.weight.size + operator.bias.size
    if isinstance(operator, Interpolate):
        return 0
    arrays = (getattr(operator, field.name) for field in fields(operator))
    return sum(array.size for array in arrays if isinstance(array, np.ndarray))


def peak_bytes(graph: Graph) -> int:
    """Return the bytes of the tensors of one frame, in float32, that must exist at the same time at most."""
    ends = {tensor: index for index, operator in enumerate(graph.operators) for tensor in operator.inputs}
    ends.pop(graph.output, None)  # it stays
    alive = peak = _bytes_of(graph, graph.input)
    for index, operator in enumerate(graph.operators):
        alive += _bytes_of(graph, operator.output)
        peak = max(peak, alive)
        alive -= sum(_bytes_of(graph, tensor) for tensor, last in ends.items() if last == index)
    return peak


def _bytes_of(graph: Graph, tensor: str) -> int:
    return FLOAT_BYTES * math.prod(graph.shapes[tensor])


def macs(graph: Graph) -> int:
    """Return the multiply-accumulates of all convolutions, dense layers and matrix products for one frame."""
    return sum(operator_macs(graph, operator) for operator in graph.operators)


def operator_macs(graph: Graph, operator: Operator) -> int:
    """Return the multiply-accumulates of one operator; 0 for those that only move or add values."""
    if isinstance(operator, Conv | QuantizedConv):
        rows_and_columns = graph.shapes[operator.output][1:]
        return operator.weight.size * math.prod(rows_and_columns)
    if isinstance(operator, Product):
        return math.prod(graph.shapes[operator.output]) * graph.shapes[operator.inputs[0]][0]
    return operator.weight.size if isinstance(operator, Dense | QuantizedDense) else 0


def weights_sha256(graph: Graph) -> str:
    """Return the hexadecimal SHA-256 of all weights and biases in order."""
    digest = hashlib.sha256()
    for operator in graph.operators:
        if isinstance(operator, Conv | Dense):
            digest.update(operator.weight.tobytes())
            digest.update(operator.bias.tobytes())
        elif isinstance(operator, QuantizedConv | QuantizedDense):
            for numbers in (operator.weight, operator.bias, operator.factor):
                digest.update(numbers.tobytes())
        elif isinstance(operator, Combine | Join) and operator.constant is not None:
            digest.update(operator.constant.tobytes())
        elif isinstance(operator, LayerNorm | GroupNorm):
            digest.update(operator.factor.tobytes() + operator.offset.tobytes())
        elif isinstance(operator, OnHost):
            digest.update(operator.model)
    return digest.hexdigest()
