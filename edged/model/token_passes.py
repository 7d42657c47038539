"""Rewrite what exporters write as several nodes in transformers: GELU, layer norm, the scale of attention."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from edged.model.activations import LINEAR, Activation
from edged.model.graph import (
    Activate,
    Add,
    BatchNorm,
    Combine,
    Graph,
    LayerNorm,
    Operator,
    Product,
    ReduceChannels,
)
from edged.model.shapes import count_reads, with_operators

GELU = Activation("gelu")
GELU_BY_TANH = Activation("gelu_by_tanh")
ROUNDING = 1e-6  # of a file's √2, relative

Written = Mapping[str, Operator]


def fuse_gelu(graph: Graph) -> Graph:
    """x · (erf(x ÷ √2) + 1) · 0.5, as exporters write GELU, as one activation (Hendrycks and Gimpel, 2016).

    Likewise x · (tanh(√(2 ÷ π) · (x + 0.044715 · x³)) + 1) · 0.5.
    """
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        written[operator.output] = _gelu_of(operator, written) or operator
    return with_operators(graph, written.values())


def _gelu_of(operator: Operator, written: Written) -> Activate | None:
    """Return the GELU that `operator` writes, if it is the last node of one."""
    product = _before(operator, written, factor=0.5, offset=0.0)
    if not isinstance(product, Combine) or product.kind != "multiply" or len(product.inputs) != 2:
        return None
    for gate, source in (product.inputs, product.inputs[::-1]):
        function = _before(written.get(gate), written, factor=1.0, offset=1.0)
        formula = _formula(function, source, written) if isinstance(function, Activate) else None
        if formula:
            return Activate(operator.name, (source,), operator.output, formula)
    return None


def _formula(function: Activate, source: str, written: Written) -> Activation | None:
    """Return the GELU that has this function of `source`."""
    scaled = written.get(function.inputs[0])
    if scaled is None:
        return None
    before = scaled.inputs[0]
    if function.activation.kind == "erf" and before == source and _has_numbers(scaled, 0.5**0.5, 0.0):
        return GELU
    total = written.get(before)
    if function.activation.kind != "tanh" or not isinstance(total, Add) or total.activation != LINEAR:
        return None
    cubes = [_before(written.get(each), written, 0.044715, 0.0) for each in total.inputs]
    is_cubic = source in total.inputs and any(_is_cube(cube, source, written) for cube in cubes)
    return GELU_BY_TANH if is_cubic and _has_numbers(scaled, (2 / np.pi) ** 0.5, 0.0) else None


def _is_cube(operator: Operator | None, source: str, written: Written) -> bool:
    if _is_power(operator, source, 3):
        return True
    if not isinstance(operator, Combine) or operator.kind != "multiply" or source not in operator.inputs:
        return False
    return any(_is_square(written.get(each), source) for each in operator.inputs if each != source)


def _before(operator: Operator | None, written: Written, factor: float, offset: float) -> Operator | None:
    """Return the operator before one that computes x · factor + offset with these numbers for all channels."""
    if operator is None or not _has_numbers(operator, factor, offset):
        return None
    return written.get(operator.inputs[0])


def _has_numbers(operator: Operator | None, factor: float, offset: float) -> bool:
    if not isinstance(operator, BatchNorm):
        return False
    return np.allclose(operator.factor, factor, ROUNDING, 0) and np.allclose(operator.offset, offset, ROUNDING, 0)


def fuse_layer_norm(graph: Graph) -> Graph:
    """(x − mean) ÷ √(variance + epsilon), as files before operator set 17 have it, as one norm (Ba, 2016)."""
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        norm = _layer_norm_of(operator, written)
        if norm:
            channels = graph.shapes[norm.source][0]
            numbers = np.ones(channels, np.float32), np.zeros(channels, np.float32)
            written[operator.output] = LayerNorm(
                operator.name, (norm.source,), operator.output, *numbers, norm.epsilon
            )
        else:
            written[operator.output] = operator
    return with_operators(graph, written.values())


class _Norm(NamedTuple):
    source: str
    epsilon: float


def _layer_norm_of(operator: Operator, written: Written) -> _Norm | None:
    """Return what `operator` normalises, if it is the quotient that ends a norm."""
    if not isinstance(operator, Combine) or operator.kind != "divide" or len(operator.inputs) != 2:
        return None
    centred, root = (written.get(each) for each in operator.inputs)
    if not isinstance(centred, Combine) or centred.kind != "subtract" or len(centred.inputs) != 2:
        return None
    source, mean = centred.inputs
    if not _is_mean(written.get(mean), source) or not isinstance(root, Activate) or root.activation.kind != "sqrt":
        return None
    moved = written.get(root.inputs[0])
    if not isinstance(moved, BatchNorm) or not _has_numbers(moved, 1.0, float(moved.offset[0])):
        return None
    variance = written.get(moved.inputs[0])
    if variance is None or not _is_mean(variance, variance.inputs[0]):
        return None
    is_norm = _is_square(written.get(variance.inputs[0]), centred.output)
    return _Norm(source, float(moved.offset[0])) if is_norm else None


def _is_mean(operator: Operator | None, source: str) -> bool:
    return isinstance(operator, ReduceChannels) and operator.kind == "mean" and operator.inputs == (source,)


def _is_square(operator: Operator | None, source: str) -> bool:
    return _is_power(operator, source, 2) or (
        isinstance(operator, Combine) and operator.kind == "multiply" and operator.inputs == (source, source)
    )


def _is_power(operator: Operator | None, source: str, exponent: int) -> bool:
    if not isinstance(operator, Combine) or operator.kind != "power" or operator.inputs != (source,):
        return False
    return (
        operator.constant is not None and not operator.is_reversed and bool((operator.constant == exponent).all())
    )


def fuse_scale(graph: Graph) -> Graph:
    """Fuse the products by one number of the inputs of a matrix product, and of its result, into that."""
    uses = count_reads(graph)
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        written[operator.output] = operator
        if isinstance(operator, Product):
            written[operator.output] = _with_scales_of_inputs(operator, written, uses)
        elif isinstance(operator, BatchNorm) and operator.scale is not None and uses[operator.inputs[0]] == 1:
            product = written.get(operator.inputs[0])
            if isinstance(product, Product):
                scaled = replace(product, output=operator.output, factor=product.factor * operator.scale)
                written[operator.output] = scaled
    return with_operators(graph, written.values())


def _with_scales_of_inputs(product: Product, written: Written, uses: Mapping[str, int]) -> Product:
    inputs, factor = list(product.inputs), product.factor
    for index, tensor in enumerate(product.inputs):
        before = written.get(tensor)
        if isinstance(before, BatchNorm) and before.scale is not None and uses[tensor] == 1:
            inputs[index] = before.inputs[0]
            factor *= before.scale
    return replace(product, inputs=tuple(inputs), factor=factor)
