"""Convert reductions and norms: over rows and columns by pools, else over channels."""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from edged.errors import ModelError
from edged.model.activations import Activation
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import InvalidNodeError, Scope, Value
from edged.model.from_onnx.views import as_shape
from edged.model.graph import Activate, AveragePool, Combine, MaxPool, Operator, ReduceChannels, Shape
from edged.model.onnx_names import REDUCTIONS

ATTRIBUTES = ("axes", "keepdims", "noop_with_empty_axes")
# Kinds that reduce absolute values or squares, with that reduction: a mean stays within float16 longer than a sum.
NORMS: Mapping[str, str] = {
    "ReduceL1": "ReduceSum",
    "ReduceL2": "ReduceMean",
    "ReduceSumSquare": "ReduceSum",
}
POOLS: Mapping[str, type[AveragePool] | type[MaxPool]] = {"ReduceMax": MaxPool, "ReduceMean": AveragePool}


def reduce(node: OnnxNode, scope: Scope) -> None:
    """Convert a kind of node that is in `REDUCTIONS`."""
    value = scope.floats(node.input(0))
    rank = len(value.dims)
    given = scope.integers(node.input(1)) if node.input(1) else node.integers("axes")
    if not given and node.integer("noop_with_empty_axes", 0):
        scope.define(node.output, value)
        return
    given = given or tuple(range(rank))
    if not all(-rank <= axis < rank for axis in given):
        raise InvalidNodeError(f"is over the axes {given} of {rank}")
    axes = {axis % rank for axis in given}
    if 0 in axes and value.has_batch:
        raise ModelError("is over the frames of a batch; supported are axes of one frame")
    keeps = bool(node.integer("keepdims", 1))
    dims = tuple(1 if axis in axes else size for axis, size in enumerate(value.dims) if keeps or axis not in axes)
    if all(value.dims[axis] == 1 for axis in axes):
        scope.define(node.output, as_shape(scope, value, dims))
    elif node.kind in POOLS and _are_pixels(value, scope, axes):
        _, *kernel = scope.shapes[value.tensor]
        pool = POOLS[node.kind](node.output, (value.tensor,), node.output, (kernel[0], kernel[1]))
        scope.add(pool)
        scope.define(node.output, as_shape(scope, Value(node.output, scope.shapes[node.output]), dims))
    else:
        _over_channels(node, scope, value, axes, dims)


def norm(node: OnnxNode, scope: Scope) -> None:
    """Convert a kind of node that is in `NORMS`; an L2 norm is √n · √(mean of n squares)."""
    if node.integer("noop_with_empty_axes", 0):
        raise ModelError("attribute noop_with_empty_axes is supported only as 0")
    value = scope.elements(scope.floats(node.input(0)))
    powers, reduced = f"{node.output}/powers", f"{node.output}/reduced"
    power: Operator = Combine(powers, (value.tensor, value.tensor), powers, "multiply")
    if node.kind == "ReduceL1":
        power = Activate(powers, (value.tensor,), powers, Activation("absolute"))
    scope.push_seen(power, replace(value, tensor=powers))
    reduce(replace(node, kind=NORMS[node.kind], inputs=(powers, *node.inputs[1:]), outputs=(reduced,)), scope)
    found = scope.elements(scope.floats(reduced))
    if node.kind == "ReduceL2":
        count = math.prod(value.dims) // math.prod(found.dims)
        found = replace(found, tensor=_root(scope, found.tensor, node.output, count))
    scope.define(node.output, found)


def _root(scope: Scope, tensor: str, output: str, count: int) -> str:
    """Push √count · √x, and return its tensor."""
    root = f"{output}/root"
    scope.add(Activate(root, (tensor,), root, Activation("sqrt")))
    factor = np.full((1,) * len(scope.shapes[root]), math.sqrt(count), np.float32)
    scope.add(Combine(output, (root,), output, "multiply", factor))
    return output


def _are_pixels(value: Value, scope: Scope, axes: Collection[int]) -> bool:
    """Return whether these axes are all rows and columns of an image, and nothing else."""
    shape = scope.shapes[value.tensor]
    if len(shape) != 3 or not scope.is_whole(value):
        return False
    rest = [axis for index, axis in enumerate(value.axes) if index not in axes and axis.size > 1]
    pixels = math.prod(shape[1:])
    return (shape[0] == 1 and not rest) or (len(rest) == 1 and rest[0] == (shape[0], pixels))


def _over_channels(node: OnnxNode, scope: Scope, value: Value, axes: Collection[int], dims: Shape) -> None:
    """Reduce with the axes as one, whose values are channels."""
    kept = [axis for index, axis in enumerate(value.axes) if index not in axes]
    gone = [axis for index, axis in enumerate(value.axes) if index in axes]
    moved = scope.view(value, (*kept, *gone), value.offset)
    lead = tuple(axis.size for axis in kept)
    moved = as_shape(scope, moved, (*lead, math.prod(axis.size for axis in gone)))
    tensor = scope.joined(moved)
    if len(scope.shapes[tensor]) == 1:
        tensor = scope.as_image(tensor)
    scope.add(ReduceChannels(node.output, (tensor,), node.output, REDUCTIONS[node.kind]))
    written = scope.seen_joined(node.output, (*lead, 1))
    scope.define(node.output, as_shape(scope, replace(written, dtype="float32"), dims))
