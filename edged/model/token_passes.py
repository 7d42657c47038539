"""Rewrite what exporters write as several nodes in transformers: GELU, and the scale of attention."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from edged.model.activations import LINEAR, Activation
from edged.model.graph import Activate, Add, BatchNorm, Combine, Graph, Operator, Product
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
    if not isinstance(operator, Combine) or source not in operator.inputs:
        return False
    if operator.kind == "power":
        return operator.constant is not None and not operator.is_reversed and bool((operator.constant == 3).all())
    squares = [written.get(each) for each in operator.inputs if each != source]
    return operator.kind == "multiply" and any(
        isinstance(square, Combine) and square.kind == "multiply" and square.inputs == (source, source)
        for square in squares
    )


def _before(operator: Operator | None, written: Written, factor: float, offset: float) -> Operator | None:
    """Return the operator before one that computes x · factor + offset with these numbers for all channels."""
    if operator is None or not _has_numbers(operator, factor, offset):
        return None
    return written.get(operator.inputs[0])


def _has_numbers(operator: Operator | None, factor: float, offset: float) -> bool:
    if not isinstance(operator, BatchNorm):
        return False
    return np.allclose(operator.factor, factor, ROUNDING, 0) and np.allclose(operator.offset, offset, ROUNDING, 0)


def fuse_scale(graph: Graph) -> Graph:
    """Fuse the products by one number of the inputs of a matrix product into that."""
    uses = count_reads(graph)
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        written[operator.output] = operator
        for index, tensor in enumerate(operator.inputs if isinstance(operator, Product) else ()):
            scale, product = written.get(tensor), written[operator.output]
            if (
                isinstance(scale, BatchNorm)
                and isinstance(product, Product)
                and uses[tensor] == 1
                and _has_numbers(scale, float(scale.factor[0]), 0.0)
            ):
                inputs = tuple(scale.inputs[0] if i == index else each for i, each in enumerate(product.inputs))
                factor = product.factor * float(scale.factor[0])
                written[operator.output] = replace(product, inputs=inputs, factor=factor)
    return with_operators(graph, written.values())
