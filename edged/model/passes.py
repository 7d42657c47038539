"""Rewrite a graph to fewer operators that compute the same numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from edged.errors import ModelError
from edged.model.graph import (
    Add,
    AveragePool,
    BatchNorm,
    Conv,
    Dense,
    Flatten,
    Float32,
    Graph,
    MaxPool,
    Operator,
    Relu,
)
from edged.model.shapes import make_graph


def simplify(graph: Graph) -> Graph:
    """Apply all passes: no batch norm on images, no identity, nothing unused; sums and ReLU inside convolutions.

    Raises ModelError, which names the node, if float32 cannot represent the folded weights.
    """
    for rewrite in (
        remove_identities,
        remove_unused,
        fold_batch_norm,
        batch_norm_as_convolution,
        fuse_relu,
        fuse_sum,
    ):
        graph = rewrite(graph)
    return graph


def remove_identities(graph: Graph) -> Graph:
    """Remove operators that copy their input: 1×1 pools, a Flatten of features, ReLU after ReLU."""
    kept: list[Operator] = []
    same: dict[str, str] = {}
    not_negative = set()
    for operator in graph.operators:
        inputs = tuple(same.get(tensor, tensor) for tensor in operator.inputs)
        if _is_identity(operator, graph) or (isinstance(operator, Relu) and inputs[0] in not_negative):
            same[operator.output] = inputs[0]
            continue
        if isinstance(operator, Relu):
            not_negative.add(operator.output)
        kept.append(replace(operator, inputs=inputs))
    return _rebuilt(graph, kept, same.get(graph.output, graph.output))


def _is_identity(operator: Operator, graph: Graph) -> bool:
    if isinstance(operator, AveragePool | MaxPool):
        same_size = graph.shapes[operator.inputs[0]] == graph.shapes[operator.output]
        return operator.kernel == (1, 1) and not any(operator.pads) and same_size
    return isinstance(operator, Flatten) and len(graph.shapes[operator.inputs[0]]) == 1


def remove_unused(graph: Graph) -> Graph:
    """Remove operators that the output does not depend on."""
    needed = {graph.output}
    kept = []
    for operator in reversed(graph.operators):
        if operator.output in needed:
            needed.update(operator.inputs)
            kept.append(operator)
    return _rebuilt(graph, kept[::-1])


def fold_batch_norm(graph: Graph) -> Graph:
    """Fold a BatchNorm into the operator before it: f · (W · x + b) + o = (f · W) · x + f · b + o."""
    uses = _uses(graph)
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        before = written.get(operator.inputs[0])
        shared_conv = isinstance(before, Conv) and uses[before.output] > 1
        if isinstance(operator, BatchNorm) and before is not None and not shared_conv:
            written[operator.output] = _folded(before, operator)
        else:
            written[operator.output] = operator
    return remove_unused(_rebuilt(graph, list(written.values())))


def _folded(before: Operator, norm: BatchNorm) -> Operator:
    """Return one operator that includes `norm`, or `norm` itself after an operator that cannot include it."""
    if isinstance(before, BatchNorm):
        factor, offset = _folded_numbers(before.factor, before.offset, norm)
        return BatchNorm(norm.name, before.inputs, norm.output, factor, offset)
    if not isinstance(before, Conv | Dense) or before.relu or len(before.inputs) > 1:
        return norm
    weight, bias = _folded_numbers(before.weight, before.bias, norm)
    return replace(before, output=norm.output, weight=weight, bias=bias)


def _folded_numbers(weight: Float32, bias: Float32, norm: BatchNorm) -> tuple[Float32, Float32]:
    """Return scale and offset. Raises ModelError if float32 cannot represent them."""
    by_output = (-1,) + (1,) * (weight.ndim - 1)
    with np.errstate(over="ignore", invalid="ignore"):  # overflow is detected by the next line
        weight, bias = weight * norm.factor.reshape(by_output), bias * norm.factor + norm.offset
    if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
        raise ModelError(f"node {norm.name}: its factors make weights before it larger than float32 holds")
    return weight, bias


def batch_norm_as_convolution(graph: Graph) -> Graph:
    """Convert a BatchNorm of an image that could not be folded to a 1×1 convolution of each channel by itself."""
    return _rebuilt(
        graph,
        [
            as_convolution(operator) if len(graph.shapes[operator.output]) == 3 else operator
            for operator in graph.operators
        ],
    )


def as_convolution(operator: Operator) -> Operator:
    """Return a BatchNorm as the 1×1 convolution of each channel with itself; any other operator unchanged."""
    if not isinstance(operator, BatchNorm):
        return operator
    weight, groups = operator.factor[:, None, None, None], len(operator.factor)
    return Conv(operator.name, operator.inputs, operator.output, weight, operator.offset, groups=groups)


def fuse_relu(graph: Graph, able: tuple[type[Operator], ...] = (Conv, Dense, Add)) -> Graph:
    """Fuse ReLU into the operator before it, if that supports it."""
    uses = _uses(graph)
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        before = written.get(operator.inputs[0])
        if isinstance(operator, Relu) and isinstance(before, able) and uses[before.output] == 1:
            ending: dict[str, Any] = {"output": operator.output, "relu": True}
            written[operator.output] = replace(before, **ending)
        else:
            written[operator.output] = operator
    return remove_unused(_rebuilt(graph, list(written.values())))


def fuse_sum(graph: Graph) -> Graph:
    """Fuse an Add into the later convolution that it reads; the convolution moves to its place."""
    uses = _uses(graph)
    place = {operator.output: i for i, operator in enumerate(graph.operators)}
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        written[operator.output] = operator
        convolutions = [written.get(tensor) for tensor in operator.inputs if uses[tensor] == 1]
        able = [
            conv for conv in convolutions if isinstance(conv, Conv) and not conv.relu and len(conv.inputs) == 1
        ]
        if isinstance(operator, Add) and able:
            conv = max(able, key=lambda conv: place[conv.output])
            (other,) = (tensor for tensor in operator.inputs if tensor != conv.output)
            inputs = (conv.inputs[0], other)
            written[operator.output] = replace(conv, inputs=inputs, output=operator.output, relu=operator.relu)
    return remove_unused(_rebuilt(graph, list(written.values())))


def _uses(graph: Graph) -> Counter[str]:
    """Return how often each tensor is read; the network's output counts once more."""
    reads = Counter(tensor for operator in graph.operators for tensor in operator.inputs)
    reads[graph.output] += 1
    return reads


def _rebuilt(graph: Graph, operators: Sequence[Operator], output: str | None = None) -> Graph:
    output = graph.output if output is None else output
    return make_graph(graph.name, graph.input, graph.shapes[graph.input], operators, output)
