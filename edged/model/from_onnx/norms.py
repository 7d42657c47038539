"""Convert norms that are computed anew for each picture: of its vectors, groups of channels, or channels."""

import math

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import InvalidNodeError, Scope
from edged.model.from_onnx.views import as_shape
from edged.model.graph import Float32, LayerNorm


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


def _by_value(constant: Float32, normal: tuple[int, ...]) -> Float32:
    try:
        return np.broadcast_to(constant, normal).reshape(-1).copy()
    except ValueError:
        raise InvalidNodeError(
            f"has a constant of shape {constant.shape} for vectors of {normal} values"
        ) from None
