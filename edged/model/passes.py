"""Rewrite a graph to fewer operators that compute the same numbers."""

from dataclasses import replace
from typing import Any

import numpy as np

from edged.errors import ModelError
from edged.model.activations import LINEAR, RELU
from edged.model.gate_passes import fuse_hard_sigmoid, fuse_swish, scale_gate
from edged.model.graph import (
    Activate,
    Add,
    AveragePool,
    BatchNorm,
    Combine,
    Conv,
    Dense,
    Flatten,
    Float32,
    Graph,
    LayerNorm,
    MaxPool,
    Operator,
    QuantizedAdd,
    QuantizedConv,
)
from edged.model.movement_passes import fuse_slices, join_moves, nest_pools
from edged.model.quantized_passes import QUANTIZED, fuse_quantized
from edged.model.shapes import count_reads, with_operators
from edged.model.token_passes import fuse_gelu, fuse_layer_norm, fuse_scale

IMAGE_RANK = 3  # channels, rows, columns


def simplify(graph: Graph) -> Graph:
    """Apply all passes: no batch norm on images, no identity, nothing unused, sums and activations fused.

    Raises ModelError, which names the node, if float32 cannot represent the folded weights.
    """
    for rewrite in (
        remove_identities,
        fuse_slices,
        join_moves,
        nest_pools,
        fuse_gelu,
        fuse_scale,
        fuse_layer_norm,
        scale_gate,
        fuse_hard_sigmoid,
        remove_unused,
        fold_batch_norm,
        replace_batch_norm,
        fuse_swish,
        remove_unused,
        fuse_activation,
        fuse_quantized,
        remove_unused,
        fuse_sum,
    ):
        graph = rewrite(graph)
    return graph


def remove_identities(graph: Graph) -> Graph:
    """Remove operators that copy their input: 1×1 pools, a Flatten of features, ReLU after ReLU, sums with 0."""
    kept: list[Operator] = []
    same: dict[str, str] = {}
    not_negative = set()
    for operator in graph.operators:
        inputs = tuple(same.get(tensor, tensor) for tensor in operator.inputs)
        is_relu = isinstance(operator, Activate) and operator.activation == RELU
        if _is_identity(operator, graph) or (is_relu and inputs[0] in not_negative):
            same[operator.output] = inputs[0]
            continue
        if is_relu:
            not_negative.add(operator.output)
        kept.append(replace(operator, inputs=inputs))
    return with_operators(graph, kept, same.get(graph.output, graph.output))


def _is_identity(operator: Operator, graph: Graph) -> bool:
    if isinstance(operator, AveragePool | MaxPool):
        same_size = graph.shapes[operator.inputs[0]] == graph.shapes[operator.output]
        return operator.kernel == (1, 1) and not any(operator.pads) and same_size
    if isinstance(operator, Combine) and operator.constant is not None:
        same_size = graph.shapes[operator.inputs[0]] == graph.shapes[operator.output]
        return operator.kind == "add" and same_size and not operator.constant.any()
    return isinstance(operator, Flatten) and len(graph.shapes[operator.inputs[0]]) == 1


def remove_unused(graph: Graph) -> Graph:
    """Remove operators that the output does not depend on."""
    needed = {graph.output}
    kept = []
    for operator in reversed(graph.operators):
        if operator.output in needed:
            needed.update(operator.inputs)
            kept.append(operator)
    return with_operators(graph, kept[::-1])


def fold_batch_norm(graph: Graph) -> Graph:
    """Fold a BatchNorm into the operator before it: f · (W · x + b) + o = (f · W) · x + f · b + o."""
    uses = count_reads(graph)
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        before = written.get(operator.inputs[0])
        is_shared = isinstance(before, Conv | LayerNorm) and uses[before.output] > 1
        if isinstance(operator, BatchNorm) and before is not None and not is_shared:
            written[operator.output] = _folded(before, operator)
        else:
            written[operator.output] = operator
    return remove_unused(with_operators(graph, written.values()))


def _folded(before: Operator, norm: BatchNorm) -> Operator:
    """Return one operator that includes `norm`, or `norm` itself after an operator that cannot include it."""
    if isinstance(before, BatchNorm):
        factor, offset = _folded_numbers(before.factor, before.offset, norm)
        return BatchNorm(norm.name, before.inputs, norm.output, factor, offset)
    if isinstance(before, LayerNorm):
        factor, offset = _folded_numbers(before.factor, before.offset, norm)
        return replace(before, output=norm.output, factor=factor, offset=offset)
    if not isinstance(before, Conv | Dense) or before.activation != LINEAR or len(before.inputs) > 1:
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


def replace_batch_norm(graph: Graph) -> Graph:
    """Convert what could not be folded: of images to a 1×1 convolution, of others to a product and a sum."""
    operators: list[Operator] = []
    for operator in graph.operators:
        rank = len(graph.shapes[operator.output])
        if isinstance(operator, BatchNorm) and rank != IMAGE_RANK:
            operators += _as_arithmetic(operator, rank)
        else:
            operators.append(as_convolution(operator))
    return with_operators(graph, operators)


def _as_arithmetic(norm: BatchNorm, rank: int) -> tuple[Combine, Combine]:
    scaled, by_channel = f"{norm.output}/scaled", (-1, *(1 for _ in range(rank - 1)))
    return (
        Combine(f"{norm.name}/scaled", norm.inputs, scaled, "multiply", norm.factor.reshape(by_channel)),
        Combine(norm.name, (scaled,), norm.output, "add", norm.offset.reshape(by_channel)),
    )


def as_convolution(operator: Operator) -> Operator:
    """Return a BatchNorm as the 1×1 convolution of each channel with itself; any other operator unchanged."""
    if not isinstance(operator, BatchNorm):
        return operator
    weight, groups = operator.factor[:, None, None, None], len(operator.factor)
    return Conv(operator.name, operator.inputs, operator.output, weight, operator.offset, groups=groups)


def fuse_activation(graph: Graph, able: tuple[type[Operator], ...] = (Conv, Dense, Add, *QUANTIZED)) -> Graph:
    """Fuse an activation into the operator before it, if that supports it.

    Only one that keeps zeros: what a kernel writes beyond the last channel must stay zero.
    """
    uses = count_reads(graph)
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        before = written.get(operator.inputs[0])
        if (
            isinstance(operator, Activate)
            and operator.activation.keeps_zero
            and isinstance(before, able)
            and getattr(before, "activation", LINEAR) == LINEAR
            and uses[before.output] == 1
        ):
            ending: dict[str, Any] = {"output": operator.output, "activation": operator.activation}
            written[operator.output] = replace(before, **ending)
        else:
            written[operator.output] = operator
    return remove_unused(with_operators(graph, written.values()))


def fuse_sum(graph: Graph) -> Graph:
    """Fuse a sum into the later convolution that it reads; the convolution moves to its place."""
    uses = count_reads(graph)
    index = {operator.output: i for i, operator in enumerate(graph.operators)}
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        written[operator.output] = operator
        convolutions = [written.get(tensor) for tensor in operator.inputs if uses[tensor] == 1]
        able = {
            index[conv.output]: fused for conv in convolutions if conv and (fused := _with_sum(conv, operator))
        }
        if able:
            written[operator.output] = able[max(able)]
    return remove_unused(with_operators(graph, written.values()))


def _with_sum(conv: Operator, operator: Operator) -> Operator | None:
    """Return a convolution that ends with the sum `operator` of its output; None if it cannot."""
    if len(conv.inputs) > 1:
        return None
    inputs = (conv.inputs[0], *(tensor for tensor in operator.inputs if tensor != conv.output))
    if isinstance(operator, Add) and isinstance(conv, Conv) and conv.activation == LINEAR:
        return replace(conv, inputs=inputs, output=operator.output, activation=operator.activation)
    if (
        isinstance(operator, QuantizedAdd)
        and isinstance(conv, QuantizedConv)
        and conv.bounds
        and conv.activation == LINEAR
    ):
        fused = replace(
            conv, inputs=inputs, output=operator.output, own_bounds=conv.bounds, bounds=operator.bounds
        )
        return replace(fused, factors=operator.factors, is_first=operator.inputs[0] == conv.output)
    return None
