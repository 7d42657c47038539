"""Rewrite what exporters write as several nodes in transformers: GELU, and the scale of attention."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from edged.model.activations import Activation
from edged.model.graph import Activate, BatchNorm, Combine, Graph, Operator, Product
from edged.model.shapes import make_graph

ERF = Activation("erf")
GELU = Activation("gelu")
ROUNDING = 1e-6  # of a file's √2, relative

Written = Mapping[str, Operator]


def fuse_gelu(graph: Graph) -> Graph:
    """x · (erf(x ÷ √2) + 1) · 0.5, as exporters write GELU, as one activation (Hendrycks and Gimpel, 2016)."""
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        source = _source_of_gelu(operator, written)
        written[operator.output] = (
            Activate(operator.name, (source,), operator.output, GELU) if source else operator
        )
    return _with(graph, written)


def _source_of_gelu(operator: Operator, written: Written) -> str | None:
    """Return the tensor of which `operator` writes the GELU, if it is the last node of one."""
    product = _before(operator, written, factor=0.5, offset=0.0)
    if not isinstance(product, Combine) or product.kind != "multiply" or len(product.inputs) != 2:
        return None
    for gate, source in (product.inputs, product.inputs[::-1]):
        erf = _before(written.get(gate), written, factor=1.0, offset=1.0)
        if not isinstance(erf, Activate) or erf.activation != ERF:
            continue
        scaled = written.get(erf.inputs[0])
        if _has_numbers(scaled, 0.5**0.5, 0.0) and scaled is not None and scaled.inputs[0] == source:
            return source
    return None


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
    uses = Counter(tensor for operator in graph.operators for tensor in operator.inputs)
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        written[operator.output] = operator
        for place, tensor in enumerate(operator.inputs if isinstance(operator, Product) else ()):
            scale, product = written.get(tensor), written[operator.output]
            if (
                isinstance(scale, BatchNorm)
                and isinstance(product, Product)
                and uses[tensor] == 1
                and _has_numbers(scale, float(scale.factor[0]), 0.0)
            ):
                inputs = tuple(scale.inputs[0] if i == place else each for i, each in enumerate(product.inputs))
                factor = product.factor * float(scale.factor[0])
                written[operator.output] = replace(product, inputs=inputs, factor=factor)
    return _with(graph, written)


def _with(graph: Graph, written: Mapping[str, Operator]) -> Graph:
    source = graph.shapes[graph.input]
    return make_graph(graph.name, graph.input, source, tuple(written.values()), graph.output)
