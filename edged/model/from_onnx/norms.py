"""Convert norms that are computed anew for each picture: of its vectors, groups of channels, or channels."""

import math
from dataclasses import replace

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import InvalidNodeError, Scope
from edged.model.from_onnx.views import as_shape
from edged.model.graph import Float32, GroupNorm, LayerNorm


def layer_norm(node: OnnxNode, scope: Scope) -> None:
    """Convert LayerNormalization over the axes from `axis` on."""
    if node.writes_several:
        raise ModelError("writes mean or deviation; supported is the norm alone")
    value = scope.floats(node.input(0))
    dims = value.dims
    axis = node.integer("axis", -1)
    if not -len(dims) <= axis < len(dims):
        raise InvalidNodeError(f"is over the axes from {axis} of {len(dims)}")
    axis %= len(dims)
    normal = dims[axis:]
    size = math.prod(normal)
    factor = _by_value(scope.weights(node.input(1)), normal)
    offset = _by_value(scope.weights(node.input(2)), normal) if node.input(2) else np.zeros(size, np.float32)
    vectors = as_shape(scope, value, (*dims[:axis], size))
    tensor = scope.joined(vectors)
    scope.add(LayerNorm(node.output, (tensor,), node.output, factor, offset, node.real("epsilon", 1e-5)))
    scope.define(node.output, as_shape(scope, scope.seen_joined(node.output, vectors.dims), dims))


def instance_norm(node: OnnxNode, scope: Scope) -> None:
    """Convert InstanceNormalization; exporters write that of groups as one of channels that are groups."""
    scale, bias = (scope.weights(node.input(index)) for index in (1, 2))
    _push_groups(node, scope, scale.size, scale, bias)


def group_norm(node: OnnxNode, scope: Scope) -> None:
    """Convert GroupNormalization: up to operator set 20 it has one factor for each group."""
    scale, bias = (scope.weights(node.input(index)) for index in (1, 2))
    _push_groups(node, scope, node.integer("num_groups", 0), scale, bias)


def _push_groups(node: OnnxNode, scope: Scope, groups: int, scale: Float32, bias: Float32) -> None:
    value = scope.floats(node.input(0))
    channels = value.dims[1] if value.has_batch else 0
    if groups < 1 or not channels or channels % groups or scale.size not in (groups, channels):
        raise InvalidNodeError(f"has {groups} groups and {scale.size} factors for a tensor of shape {value.dims}")
    value = scope.in_order(value)
    tensor, own = value.tensor, scope.shapes[value.tensor]
    if len(own) != 3 or own[0] % groups or (scale.size != groups and own[0] != channels):
        columns = math.prod(value.shape[2:])
        tensor = scope.rearranged(value, value.frame, (channels, *value.shape[1:2], columns)[:3])
        own = scope.shapes[tensor]
    if scale.size != bias.size:
        raise InvalidNodeError(f"has {scale.size} factors and {bias.size} offsets")
    factor, offset = (np.repeat(each.reshape(-1), own[0] // each.size) for each in (scale, bias))
    scope.add(GroupNorm(node.output, (tensor,), node.output, groups, factor, offset, node.real("epsilon", 1e-5)))
    scope.define(node.output, replace(value, tensor=node.output))


def _by_value(constant: Float32, normal: tuple[int, ...]) -> Float32:
    try:
        return np.broadcast_to(constant, normal).reshape(-1).copy()
    except ValueError:
        raise InvalidNodeError(
            f"has a constant of shape {constant.shape} for vectors of {normal} values"
        ) from None
