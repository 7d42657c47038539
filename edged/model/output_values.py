"""What the operators of a network say about the values of its outputs: shares of 1, numbers up to 1, any numbers.

A pass over the operators in order. Where they say nothing, the values are unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import singledispatch
from math import isclose, prod
from typing import Literal

import numpy as np

from edged.model import graph
from edged.model.activations import LINEAR, Activation
from edged.model.graph import Float32, Graph

Kind = Literal[
    "shares",
    "logarithms",
    "bounded",
    "negated",
    "negated_shares",
    "positive",
    "any",
    "unknown",
    "sum",
    "inverse_sum",
    "log_sum",
]

NEGLIGIBLE = 1e-3  # what is added to keep a quotient finite, or cut off to keep a logarithm so
# Functions of any number whose results have no bound either.
WITHOUT_BOUND = frozenset(
    {
        "relu",
        "leaky_relu",
        "elu",
        "selu",
        "hard_swish",
        "silu",
        "mish",
        "gelu",
        "gelu_by_tanh",
        "softplus",
        "absolute",
    }
)
# Operators of a file that the host computes, and that leave each value as it is.
ON_HOST_UNCHANGED = frozenset({"Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose"})


@dataclass(frozen=True)
class Values:
    """What is known of the values of a frame's tensor.

    kind: `shares` are not negative and their sum over the channels of a pixel is `total` (0: some are left out, so
    that it is unknown); `logarithms` are those of shares of 1; `bounded` lie from 0 to `total`, `negated` from
    −`total` to 0, as do `negated_shares`, which were shares; `positive` have no upper bound; `any` have no known
    bound, as of a convolution; `sum`, `inverse_sum` and `log_sum` are those of the channels of the values `of`,
    times `total`.

    name: of the tensor that had these values first; others have them in another shape. of: also the name of x,
    where these values are eˣ, −x or `total` − x.
    """

    kind: Kind
    total: float = 0.0
    of: str = ""
    name: str = ""

    @property
    def is_positive(self) -> bool:
        """Return whether no value is negative."""
        return self.kind in {"shares", "bounded", "positive"}

    def times(self, factor: float) -> "Values":
        """Return what is known of these values times `factor`, which is not 1."""
        if factor < 0 and self.kind in {"shares", "bounded"}:
            kind: Kind = "negated_shares" if self.kind == "shares" else "negated"
            return Values(kind, -factor * self.total, self.name)
        if factor <= 0 or self.kind not in {"shares", "bounded", "positive", "sum"}:
            return UNKNOWN
        return Values(self.kind, self.total * factor, self.of if self.kind == "sum" else "")


ANY = Values("any")
UNKNOWN = Values("unknown")
SHARES = Values("shares", 1.0)
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
        values = _affine(known[operator.inputs[0]], operator.weight, operator.bias, channels)
    return _activated(operator.activation, values)


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
    return _activated(operator.activation, known[operator.inputs[0]])


def _activated(activation: Activation, values: Values) -> Values:
    """Return what is known of the activation of `values`."""
    kind = activation.kind
    if activation == LINEAR or (kind in {"relu", "absolute"} and values.is_positive):
        return values
    if kind == "clip":
        return _clipped(values, activation.alpha, activation.beta)
    if kind == "exp":
        return SHARES if values.kind == "logarithms" else Values("positive", of=values.name)
    if kind in {"sigmoid", "hard_sigmoid"}:
        return Values("bounded", 1.0)
    if values.kind == "any" and kind in WITHOUT_BOUND:
        return ANY
    return {
        ("log", "shares"): Values("logarithms"),
        ("log", "sum"): Values("log_sum", values.total, values.of),
        ("reciprocal", "sum"): Values("inverse_sum", values.total, values.of),
    }.get((kind, values.kind), UNKNOWN)


def _clipped(values: Values, low: float, high: float) -> Values:
    """Return what is known of values that are clipped: most files clip shares only to keep logarithms finite."""
    if values.kind in {"shares", "bounded"} and low <= NEGLIGIBLE:
        return values if high >= values.total - NEGLIGIBLE else Values("bounded", high)
    if values.kind == "logarithms":
        return values if high >= -NEGLIGIBLE else UNKNOWN
    if low >= 0 and isclose(high, 1.0, abs_tol=NEGLIGIBLE):
        return Values("bounded", 1.0)  # a sigmoid of straight lines
    return ANY if values.kind == "any" else UNKNOWN


@_values.register
def _moved(
    operator: graph.Flatten | graph.Unflatten | graph.Rearrange | graph.Dequantize,
    known: Known,
    shapes: Mapping[str, graph.Shape],
) -> Values:
    source = operator.inputs[0]
    return _some_of(known[source], complete=_channels(shapes[source]) == _channels(shapes[operator.output]))


@_values.register
def _quantize(operator: graph.Quantize, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    values, (low, high) = known[operator.inputs[0]], operator.bounds
    is_clip = low == 0 and (values.kind != "any" or isclose(high * operator.scale, 1.0, rel_tol=STEP))
    return values if values.is_positive or not is_clip else UNKNOWN


@_values.register
def _select(operator: graph.SelectChannels, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    source = operator.inputs[0]
    every = tuple(range(_channels(shapes[source])))
    return _some_of(known[source], complete=tuple(sorted(operator.order)) == every)


def _channels(shape: graph.Shape) -> int:
    return shape[0] if prod(shape[1:]) == 1 else 0


def _some_of(values: Values, *, complete: bool) -> Values:
    """Return what is known where some of `values` are left out or are in another order."""
    if complete:
        return values
    return Values(values.kind, 0.0 if values.kind == "shares" else values.total)


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
    return _activated(operator.activation, _sum(*(known[name] for name in operator.inputs)))


def _sum(a: Values, b: Values) -> Values:
    if a.kind == b.kind and a.kind in {"shares", "bounded"} and a.total and b.total:
        return Values(a.kind, a.total + b.total)
    return ANY if "any" in {a.kind, b.kind} else UNKNOWN


@_values.register
def _batch_norm(operator: graph.BatchNorm, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    return _affine(known[operator.inputs[0]], operator.factor, operator.offset, _channels(shapes[operator.output]))


@_values.register
def _combine(operator: graph.Combine, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    if operator.constant is None:
        return _of_two(operator, known)
    values, constant, is_reversed = known[operator.inputs[0]], operator.constant, operator.is_reversed
    one, none, channels = np.ones(1, np.float32), np.zeros(1, np.float32), _channels(shapes[operator.output])
    match operator.kind:
        case "multiply":
            return _affine(values, constant, none, channels)
        case "divide" if not is_reversed and constant.all():
            return _affine(values, (1 / constant).astype(np.float32), none, channels)
        case "add":
            return _affine(values, one, constant, channels)
        case "subtract":
            factor, offset = (-one, constant) if is_reversed else (one, -constant)
            return _affine(values, factor, offset, channels)
        case _:
            return _with_number(operator, values)


def _affine(values: Values, factor: Float32, offset: Float32, channels: int) -> Values:
    """Return what is known of factor · x + offset, where `values` are those of x, a pixel of so many channels."""
    if values.kind == "any":
        return ANY
    if np.ptp(factor) or np.ptp(offset):
        is_less = 0 <= factor.min() <= factor.max() <= 1 and not offset.any()
        return _some_of(values, complete=False) if values.is_positive and is_less else UNKNOWN
    times, plus = float(factor.flat[0]), float(offset.flat[0])
    scaled = values if times == 1 else values.times(times)
    if abs(plus) <= NEGLIGIBLE:
        return scaled
    if scaled.kind not in {"negated", "negated_shares"} or not isclose(scaled.total, plus):
        return UNKNOWN
    are_shares = scaled.kind == "negated_shares" and channels == 2  # 1 − p and 1 − q of p + q = 1
    return Values("shares" if are_shares else "bounded", plus, scaled.of)


def _with_number(operator: graph.Combine, values: Values) -> Values:
    """Return what is known of `values` with a bound, as exponents, or where they divide a number."""
    assert operator.constant is not None, "one of the two is a constant"  # noqa: S101
    low, high = float(operator.constant.min()), float(operator.constant.max())
    match operator.kind:
        case "minimum":
            return _clipped(values, -np.inf, low)
        case "maximum":
            return _clipped(values, high, np.inf)
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
        return _sum(a, b)
    if kind == "subtract" and b.kind == "log_sum" and b.total == 1 and known[b.of].of == a.name:
        return Values("logarithms")  # x − log Σ eˣ
    if kind == "divide" and b.kind == "sum" and b.of == a.name and a.is_positive:
        return Values("shares", 1 / b.total)
    if kind == "multiply":
        return _product(a, b)
    return ANY if "any" in {a.kind, b.kind} and kind in {"subtract", "minimum", "maximum"} else UNKNOWN


def _product(a: Values, b: Values) -> Values:
    for values, inverse in ((a, b), (b, a)):
        if inverse.kind == "inverse_sum" and inverse.of == values.name and values.is_positive:
            return Values("shares", 1 / inverse.total)
    if {a.kind, b.kind} <= {"shares", "bounded"} and a.total and b.total:
        return Values("bounded", a.total * b.total)
    return ANY if "any" in {a.kind, b.kind} else UNKNOWN


@_values.register
def _on_host(operator: graph.OnHost, known: Known, shapes: Mapping[str, graph.Shape]) -> Values:
    if operator.kind in ON_HOST_UNCHANGED:
        source = operator.inputs[0]
        return _some_of(known[source], complete=_channels(shapes[source]) == _channels(shapes[operator.output]))
    return UNKNOWN
