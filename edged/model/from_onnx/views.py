"""Convert nodes that compute nothing: the same numbers with another shape or type."""

import math
from dataclasses import replace

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.channels import shuffle
from edged.model.from_onnx.node import OnnxNode, type_name
from edged.model.from_onnx.scope import Scope, Value
from edged.model.graph import Shape


def identity(node: OnnxNode, scope: Scope) -> None:
    """Convert Identity and Dropout."""
    training = scope.constant(node.input(2)) if node.input(2) else None
    if training is not None and training.any():
        raise ModelError("is in training mode; supported is inference")
    value = scope.raw_value(node.input(0))
    scope.define(node.output, value)
    if node.writes_several:  # the mask of Dropout
        scope.reserve_constant(math.prod(value.dims))
        scope.define(node.outputs[1], np.ones(value.dims, np.bool_))


def cast(node: OnnxNode, scope: Scope) -> None:
    """Convert a Cast to a kind of float: everything is computed in float32, integers too."""
    target = type_name(node.integer("to", 0))
    if target not in {"FLOAT", "FLOAT16", "DOUBLE", "BFLOAT16"}:
        raise ModelError(f"casts to {target}; supported are FLOAT, FLOAT16, BFLOAT16 and DOUBLE")
    scope.define(node.output, replace(scope.raw_value(node.input(0)), dtype="float32"))


def shape(node: OnnxNode, scope: Scope) -> None:
    """Define the shape for a batch of one as a constant."""
    dims = np.array(scope.raw_value(node.input(0)).dims, np.int64)
    scope.define(node.output, dims[node.integer("start", 0) : node.integer("end", len(dims))])


def flatten(node: OnnxNode, scope: Scope) -> None:
    dims = scope.any_value(node.input(0)).dims
    axis = node.integer("axis", 1)
    if not -len(dims) <= axis <= len(dims):
        raise ModelError(f"has the axis {axis} of {len(dims)}")
    axis += len(dims) if axis < 0 else 0
    _see(node, scope, (math.prod(dims[:axis]), math.prod(dims[axis:])))


def reshape(node: OnnxNode, scope: Scope) -> None:
    """Convert a Reshape to a constant shape, for a batch of one."""
    old = scope.any_value(node.input(0)).dims
    wanted = list(scope.integers(node.input(1)))
    if not node.integer("allowzero", 0):
        wanted = [old[i] if number == 0 and i < len(old) else number for i, number in enumerate(wanted)]
    rest = math.prod(number for number in wanted if number != -1)
    if wanted.count(-1) == 1 and rest > 0 and math.prod(old) % rest == 0:
        wanted[wanted.index(-1)] = math.prod(old) // rest
    if any(number < 1 for number in wanted) or math.prod(wanted) != math.prod(old):
        raise ModelError(f"makes {old} into {wanted}; supported is a shape of as many values")
    _see(node, scope, tuple(wanted))


def squeeze(node: OnnxNode, scope: Scope) -> None:
    dims = scope.any_value(node.input(0)).dims
    axes = _axes(node, scope, len(dims))
    if axes is None:  # the batch may be more than one
        axes = {axis for axis, size in enumerate(dims) if size == 1 and axis > 0}
    if any(dims[axis] != 1 for axis in axes):
        raise ModelError(f"takes the axes {sorted(axes)} away from {dims}; supported are axes of size 1")
    _see(node, scope, tuple(size for axis, size in enumerate(dims) if axis not in axes))


def unsqueeze(node: OnnxNode, scope: Scope) -> None:
    dims = list(scope.any_value(node.input(0)).dims)
    given = scope.integers(node.input(1)) if node.input(1) else node.integers("axes") or ()
    axes = _axes(node, scope, len(dims) + len(given))
    if axes is None:
        raise ModelError("needs axes")
    for axis in sorted(axes):
        dims.insert(axis, 1)
    _see(node, scope, tuple(dims))


def transpose(node: OnnxNode, scope: Scope) -> None:
    """Convert a transpose of the network's input from (height, width, channels), TensorFlow's order.

    In the graph images are always (channels, height, width).
    """
    value = scope.raw_value(node.input(0))
    order = node.integers("perm")
    if order == (0, 3, 1, 2) and value.channels_last:
        scope.define(node.output, Value(value.tensor, scope.shapes[value.tensor]))
    elif order == tuple(range(len(value.shape) + 1)):
        scope.define(node.output, value)
    elif order is None or sorted(order) != list(range(len(value.shape) + 1)) or value.channels_last:
        raise ModelError(f"moves axes by {order}; expected each of 0 to {len(value.shape)} once")
    elif not shuffle(node, scope, scope.plain(node.input(0)), order):
        raise ModelError(
            f"moves axes by {order}; supported are axes into which channels were reshaped, "
            "and (0, 3, 1, 2) of the network's input"
        )


def _axes(node: OnnxNode, scope: Scope, rank: int) -> set[int] | None:
    given = scope.integers(node.input(1)) if node.input(1) else node.integers("axes")
    if given is None:
        return None
    if not all(-rank <= axis < rank for axis in given):
        raise ModelError(f"has the axes {given} of {rank}")
    return {axis % rank for axis in given}


def _see(node: OnnxNode, scope: Scope, dims: Shape) -> None:
    """Define the same values with the file's shape `dims`, for a batch of one."""
    has_batch = len(dims) > 1 and dims[0] == 1
    seen = replace(scope.any_value(node.input(0)), shape=dims[1:] if has_batch else dims, has_batch=has_batch)
    scope.define(node.output, seen)
