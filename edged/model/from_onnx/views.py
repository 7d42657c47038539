"""Convert nodes that compute nothing: the same numbers with another shape or type."""

import math
from dataclasses import replace

import numpy as np
from onnx import NodeProto, helper

from edged.errors import ModelError
from edged.model.from_onnx.channels import require_numbers, shuffle
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.quantized import integers_of
from edged.model.from_onnx.scope import HostOnlyError, InvalidNodeError, Scope, Value
from edged.model.from_onnx.strided import ViewAxis, joined, reshaped, trailing, widened
from edged.model.from_onnx.tensors import type_name
from edged.model.graph import Shape
from edged.model.shapes import MAX_VALUES


def identity(node: OnnxNode, scope: Scope) -> None:
    """Convert Identity and Dropout, which in training keeps each value too if its ratio is 0."""
    training = scope.constant(node.input(2)) if node.input(2) else None
    ratio = scope.constant(node.input(1)) if node.input(1) else None
    if training is not None and training.any() and (ratio is None or ratio.any()):
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
        supported = "FLOAT, FLOAT16, BFLOAT16, DOUBLE, BOOL and integers of 8 bits or more"
        raise ModelError(f"casts to {target}; supported are {supported}")
    value = integers_of(scope, scope.raw_value(node.input(0)))
    scope.define(node.output, replace(value, dtype="float32"))


def as_cast(proto: NodeProto, scope: Scope) -> NodeProto:
    """Return the Cast that a CastLike means: to the type of its second input."""
    like = proto.input[1] if len(proto.input) > 1 else ""
    constant = scope.constant(like)
    dtype = scope.raw_value(like).dtype if constant is None else constant.dtype
    cast = NodeProto()
    cast.CopyFrom(proto)
    cast.op_type = "Cast"
    del cast.input[1:]
    cast.attribute.append(helper.make_attribute("to", helper.np_dtype_to_tensor_dtype(np.dtype(dtype))))
    return cast


def shape(node: OnnxNode, scope: Scope) -> None:
    """Define the shape for a batch of one as a constant."""
    dims = np.array(scope.raw_value(node.input(0)).dims, np.int64)
    scope.define(node.output, dims[node.integer("start", 0) : node.integer("end", len(dims))])


def flatten(node: OnnxNode, scope: Scope) -> None:
    dims = scope.raw_value(node.input(0)).dims
    axis = node.integer("axis", 1)
    if not -len(dims) <= axis <= len(dims):
        raise ModelError(f"has the axis {axis} of {len(dims)}")
    axis += len(dims) if axis < 0 else 0
    _see(node, scope, (math.prod(dims[:axis]), math.prod(dims[axis:])))


def reshape(node: OnnxNode, scope: Scope) -> None:
    """Convert a Reshape to a constant shape, for a batch of one."""
    value = scope.raw_value(node.input(0))
    old, shape = value.dims, scope.integers(node.input(1))
    wanted = list(shape)
    if scope.batch > 1 and value.has_batch and wanted[:1] == [scope.batch]:
        wanted[0] = 1  # each frame is a row of its own before and after
    if not node.integer("allowzero", 0):
        wanted = [old[i] if number == 0 and i < len(old) else number for i, number in enumerate(wanted)]
    rest = math.prod(number for number in wanted if number != -1)
    if wanted.count(-1) == 1 and rest > 0 and math.prod(old) % rest == 0:
        wanted[wanted.index(-1)] = math.prod(old) // rest
    if any(number < 1 for number in wanted) or math.prod(wanted) != math.prod(old):
        found = f"the file fixes a batch of {scope.batch} frames, of which edged computes one"
        hint = f". Perhaps since {found}: export it with a batch of 1, or an open one" if scope.batch > 1 else ""
        raise ModelError(f"makes {old} into {list(shape)}; supported is a shape of as many values{hint}")
    _see(node, scope, tuple(wanted))


def squeeze(node: OnnxNode, scope: Scope) -> None:
    dims = scope.raw_value(node.input(0)).dims
    axes = _axes(node, scope, len(dims))
    if axes is None:  # the batch may be more than one
        axes = {axis for axis, size in enumerate(dims) if size == 1 and axis > 0}
    if any(dims[axis] != 1 for axis in axes):
        raise ModelError(f"takes the axes {sorted(axes)} away from {dims}; supported are axes of size 1")
    _see(node, scope, tuple(size for axis, size in enumerate(dims) if axis not in axes))


def unsqueeze(node: OnnxNode, scope: Scope) -> None:
    dims = list(scope.raw_value(node.input(0)).dims)
    given = scope.integers(node.input(1)) if node.input(1) else node.integers("axes") or ()
    axes = _axes(node, scope, len(dims) + len(given))
    if axes is None:
        raise ModelError("needs axes")
    for axis in sorted(axes):
        dims.insert(axis, 1)
    _see(node, scope, tuple(dims))


def transpose(node: OnnxNode, scope: Scope) -> None:
    """Convert a Transpose to a view: the operator that reads it may take the axes in this order."""
    value = scope.view_of(node.input(0))
    rank = len(value.dims)
    order = node.integers("perm") or tuple(reversed(range(rank)))
    if sorted(order) != list(range(rank)):
        raise InvalidNodeError(f"moves axes by {order}; expected each of 0 to {rank - 1} once")
    if order == tuple(range(rank)):
        scope.define(node.output, value)
    elif value.strides is not None or not value.has_batch or not shuffle(node, scope, value, order):
        require_numbers(value)
        scope.define(node.output, scope.view(value, tuple(value.axes[axis] for axis in order), value.offset))


def expand(node: OnnxNode, scope: Scope) -> None:
    """Convert an Expand to a constant shape, in which axes of size 1 become larger."""
    value = scope.floats(node.input(0))
    if scope.constant(node.input(1)) is None:
        raise HostOnlyError("has a computed shape; supported is a constant")
    wanted = scope.integers(node.input(1))
    rank = max(len(value.dims), len(wanted))
    axes = (*(ViewAxis(1, 0) for _ in range(rank - len(value.axes))), *value.axes)
    sizes = (1,) * (rank - len(wanted)) + wanted
    if any(
        (1 not in (axis.size, size) and size != axis.size) or size < 1
        for axis, size in zip(axes, sizes, strict=True)
    ):
        raise InvalidNodeError(f"makes {value.dims} into {wanted}; expected axes of size 1 where they differ")
    if math.prod(sizes) > MAX_VALUES:
        raise InvalidNodeError(f"would write a tensor of shape {sizes}; it may hold 1 to {MAX_VALUES} values")
    scope.define(node.output, scope.view(value, widened(axes, sizes), value.offset))


def _axes(node: OnnxNode, scope: Scope, rank: int) -> set[int] | None:
    given = scope.integers(node.input(1)) if node.input(1) else node.integers("axes")
    if given is None:
        return None
    if not all(-rank <= axis < rank for axis in given):
        raise ModelError(f"has the axes {given} of {rank}")
    return {axis % rank for axis in given}


def _see(node: OnnxNode, scope: Scope, dims: Shape) -> None:
    """Define the same values with the file's shape `dims`, for a batch of one."""
    value = scope.view_of(node.input(0))
    if value.strides is not None:
        require_numbers(value)
    scope.define(node.output, as_shape(scope, value, dims))


def as_shape(scope: Scope, value: Value, dims: Shape) -> Value:
    """Return the same values in the same order with the file's shape `dims`, for a batch of one."""
    has_batch = len(dims) > 1 and dims[0] == 1
    shape = dims[1:] if has_batch else dims
    if value.strides is None:
        return replace(value, shape=shape, has_batch=has_batch)
    if axes := reshaped(value.axes, dims):
        return scope.view(value, axes, value.offset)
    begin = trailing(value.axes, dims[-1]) if dims else None
    if begin is None or not _is_joined(value.dims[begin:], dims):
        return as_shape(scope, scope.in_order(value), dims)
    axes = (*value.axes[begin:], *value.axes[:begin])
    tensor = scope.rearranged(value, axes, joined(shape))  # the graph has the last axis as channels
    return replace(scope.seen_joined(tensor, dims), dtype=value.dtype)


def _is_joined(last: Shape, dims: Shape) -> bool:
    """Return whether values that must move should have their last axis as channels, as attention reads them.

    Not the rows of an image, into which channels were moved: convolutions read those.
    """
    return len(dims) == 3 or (len(dims) == 4 and sum(size > 1 for size in last) == 1)


def last_axis(scope: Scope, value: Value, axis: int, *, back: bool = False) -> Value:
    """Return a view with an axis as its last one, or the last one at the place of that axis."""
    axes = list(value.axes)
    axes.insert(axis, axes.pop()) if back else axes.append(axes.pop(axis))
    return scope.view(value, tuple(axes), value.offset)
