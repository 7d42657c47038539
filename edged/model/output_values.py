"""What the operators of a network say about the values of its outputs: shares of 1, numbers up to 1, any numbers.

A pass over the operators in order. Where they say nothing, the values are unknown.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import singledispatch
from math import isclose, prod

import numpy as np

from edged.model import graph
from edged.model.graph import Graph
from edged.model.values import (
    ANY,
    SHARES,
    UNKNOWN,
    Values,
    activated,
    affine,
    clipped,
    product_of,
    some_of,
    sum_of,
)

# Operators of a file that the host computes, and that leave each value as it is.
ON_HOST_UNCHANGED = frozenset({"Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose"})


STEP = 1 / 128  # of eight bits, the largest share of 1 that is usual
Known = Mapping[str, Values]


def output_values(network: Graph) -> Values:
    """Return what the operators say about the values of the network's output."""
    known: dict[str, Values] = {network.input: replace(UNKNOWN, name=network.input)}
    for operator in network.operators:
        found = _values(operator, known, network.shapes)
        known[operator.output] = found if found.name else replace(found, name=operator.output)
    return known[network.output]


@singledispatch
def _values(operator: graph.Operator, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    """Return what is known of the output of `operator`; of its inputs that is `known`."""
    return UNKNOWN


@_values.register
def _weighted(
    operator: graph.Conv | graph.Dense | graph.QuantizedConv | graph.QuantizedDense,
    known: Known,
    shapes: Mapping[str, graph.Shape],
) -> Values:
    values = ANY
    if isinstance(operator, graph.Conv) and operator.weight.size == len(operator.weight) == operator.groups:
        channels = _channels(shapes[operator.output])
        values = affine(known[operator.inputs[0]], operator.weight, operator.bias, channels)
    return activated(operator.activation, values)


@_values.register
def _normalised(
    operator: graph.LayerNorm | graph.GroupNorm | graph.LocalResponseNorm | graph.Product,
    known: Known,
    shapes: Mapping[str, graph.Shape],
) -> Values:
    return ANY


@_values.register
def _softmax(operator: graph.Softmax, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    return Values("logarithms") if operator.is_log else SHARES


@_values.register
def _activate(operator: graph.Activate, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    return activated(operator.activation, known[operator.inputs[0]])


@_values.register
def _moved(
    operator: graph.Flatten | graph.Unflatten | graph.Rearrange | graph.Dequantize,
    known: Known,
    shapes: Mapping[str, graph.Shape],
) -> Values:
    return _in_another_shape(operator, known, shapes)


@_values.register
def _quantize(operator: graph.Quantize, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    values, (low, high) = known[operator.inputs[0]], operator.bounds
    is_clip = low == 0 and (values.kind != "any" or isclose(high * operator.scale, 1.0, rel_tol=STEP))
    return values if values.is_positive or not is_clip else UNKNOWN


@_values.register
def _select(operator: graph.SelectChannels, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    source = operator.inputs[0]
    every = tuple(range(_channels(shapes[source])))
    return some_of(known[source], complete=tuple(sorted(operator.order)) == every)


def _channels(shape: graph.Shape) -> int:
    return shape[0] if prod(shape[1:]) == 1 else 0


@_values.register
def _pool(operator: graph.AveragePool | graph.MaxPool, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    values = known[operator.inputs[0]]
    if values.kind == "shares" and isinstance(operator, graph.MaxPool):
        return Values("bounded", values.total) if values.total else UNKNOWN
    return (
        Values(values.kind, values.total) if values.kind in {"shares", "bounded", "positive", "any"} else UNKNOWN
    )


@_values.register
def _reduce(operator: graph.ReduceChannels, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    values = known[operator.inputs[0]]
    if operator.kind == "sum":
        return Values("sum", 1.0, values.name)
    if operator.kind == "mean":
        return Values("sum", 1 / shapes[operator.inputs[0]][0], values.name)
    return Values(values.kind, values.total) if values.kind in {"bounded", "any"} else UNKNOWN


@_values.register
def _concat(operator: graph.Concat, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    parts = [known[name] for name in operator.inputs]
    if len(parts) == 2 and all(shapes[name][0] == 1 for name in operator.inputs):  # x beside 1 − x
        first, second = parts
        if {first.kind, second.kind} == {"bounded"} and (first.of == second.name or second.of == first.name):
            return Values("shares", first.total)
    if all(part.kind in {"shares", "bounded"} and part.total for part in parts):
        return Values("bounded", max(part.total for part in parts))
    return ANY if all(part.kind == "any" for part in parts) else UNKNOWN


@_values.register
def _add(operator: graph.Add, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    return activated(operator.activation, sum_of(*(known[name] for name in operator.inputs)))


@_values.register
def _batch_norm(operator: graph.BatchNorm, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    return affine(known[operator.inputs[0]], operator.factor, operator.offset, _channels(shapes[operator.output]))


@_values.register
def _combine(operator: graph.Combine, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    if operator.constant is None:
        return _of_two(operator, known)
    values, constant, is_reversed = known[operator.inputs[0]], operator.constant, operator.is_reversed
    one, none, channels = np.ones(1, np.float32), np.zeros(1, np.float32), _channels(shapes[operator.output])
    match operator.kind:
        case "multiply":
            return affine(values, constant, none, channels)
        case "divide" if not is_reversed and constant.all():
            return affine(values, (1 / constant).astype(np.float32), none, channels)
        case "add":
            return affine(values, one, constant, channels)
        case "subtract":
            factor, offset = (-one, constant) if is_reversed else (one, -constant)
            return affine(values, factor, offset, channels)
        case _:
            return _with_number(operator, values)


def _with_number(operator: graph.Combine, values: Values) -> Values:
    """Return what is known of `values` with a bound, as exponents, or where they divide a number."""
    assert operator.constant is not None, "one of the two is a constant"  # noqa: S101
    low, high = float(operator.constant.min()), float(operator.constant.max())
    match operator.kind:
        case "minimum":
            return clipped(values, -np.inf, low)
        case "maximum":
            return clipped(values, high, np.inf)
        case "divide" if values.kind == "sum" and low == high > 0:
            return Values("inverse_sum", values.total / low, values.of)
        case "power" if operator.is_reversed and low > 0:
            return Values("positive")
        case _:
            return UNKNOWN


def _of_two(operator: graph.Combine, known: Known) -> Values:
    """Return what is known of two tensors' sum, product, quotient or difference."""
    (a, b), kind = (known[name] for name in operator.inputs), operator.kind
    if kind == "add":
        return sum_of(a, b)
    if kind == "subtract" and b.kind == "log_sum" and b.total == 1 and known[b.of].of == a.name:
        return Values("logarithms")  # x − log Σ eˣ
    if kind == "divide" and b.kind == "sum" and b.of == a.name and a.is_positive:
        return Values("shares", 1 / b.total)
    if kind == "multiply":
        return product_of(a, b)
    return ANY if "any" in {a.kind, b.kind} and kind in {"subtract", "minimum", "maximum"} else UNKNOWN


@_values.register
def _on_host(operator: graph.OnHost, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    return _in_another_shape(operator, known, shapes) if operator.kind in ON_HOST_UNCHANGED else UNKNOWN


def _in_another_shape(operator: graph.Operator, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    """Return what is known of the values of the input, each of which the output has, or some of them."""
    source = operator.inputs[0]
    return some_of(known[source], complete=_channels(shapes[source]) == _channels(shapes[operator.output]))
