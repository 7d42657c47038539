"""Fold constants: nodes whose inputs are all known while the file is read, as exporters write around shapes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import helper

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import MAX_INTEGERS, Constant, Scope
from edged.model.from_onnx.tensors import array_of

Folding = Callable[[OnnxNode, Sequence[Constant]], Constant]

OF_AXES = {"Reshape", "Slice", "Squeeze", "Unsqueeze"}  # kinds whose inputs but the first are lists of axes


def constant(node: OnnxNode) -> Constant:
    tensor = node.tensor("value")
    if tensor is not None:
        return array_of(tensor)
    for name in ("value_int", "value_ints", "value_float", "value_floats"):
        if name in node.attributes:
            value = helper.get_attribute_value(node.attributes[name])
            return np.array(value, np.int64 if "int" in name else np.float32)
    raise ModelError("has no value of a supported kind: tensor, integers or floats")


def fold(node: OnnxNode, inputs: Sequence[Constant], scope: Scope) -> Constant:
    """Return the value of a node of a kind in `FOLDED`. Raises ModelError for inputs that it cannot have."""
    try:
        _require_few_axes(node, inputs)
        scope.reserve_constant(_size(node, inputs), node.output)
        return np.asarray(FOLDED[node.kind](node, inputs))
    except (ValueError, IndexError, TypeError, KeyError, MemoryError, OverflowError, ZeroDivisionError) as error:
        raise ModelError(f"cannot be computed: {error}") from None


def _require_few_axes(node: OnnxNode, inputs: Sequence[Constant]) -> None:
    lists = inputs if node.kind == "ConstantOfShape" else inputs[1:] if node.kind in OF_AXES else ()
    longest = max((each.size for each in lists), default=0)
    if longest > MAX_INTEGERS:
        raise ValueError(f"it names {longest} axes")


def _size(node: OnnxNode, inputs: Sequence[Constant]) -> int:
    """Return the number of values that the node writes; 0 if it only changes the view of its input."""
    match node.kind:
        case "Dropout" | "Identity" | "Shape" | "Slice" | "Squeeze" | "Transpose" | "Unsqueeze":
            return 0
        case "Concat":
            return sum(each.size for each in inputs)
        case "ConstantOfShape":
            return _product([max(0, int(size)) for size in inputs[0].tolist()])
        case "Gather":
            return int(inputs[1].size * (inputs[0].size // max(1, inputs[0].shape[node.integer("axis", 0)])))
        case "Add" | "Div" | "Mul" | "Sub":
            return _product(np.broadcast_shapes(inputs[0].shape, inputs[1].shape))
    return inputs[0].size  # BatchNormalization, Cast, Reshape


def _axes(node: OnnxNode, inputs: Sequence[Constant]) -> tuple[int, ...] | None:
    given = inputs[1].reshape(-1).tolist() if len(inputs) > 1 else node.integers("axes")
    return None if given is None else tuple(given)


def _batch_norm(node: OnnxNode, inputs: Sequence[Constant]) -> Constant:
    """Normalize by the given mean and variance, or in training by those of the numbers themselves, by channel.

    Exporters write the standardization of a convolution's weights (Qiao et al., 2019) as a training of one frame.
    Computed in float64.
    """
    if node.writes_several or node.integer("spatial", 1) != 1:
        raise ValueError("supported are one output, the normalized numbers, and spatial of 1")
    x, scale, bias, mean, variance = (each.astype(np.float64) for each in inputs)
    if node.integer("training_mode", 0) or (node.opset < 14 and node.declared_outputs > 1):
        rest = tuple(axis for axis in range(x.ndim) if axis != 1)
        mean, variance = x.mean(axis=rest), x.var(axis=rest)
    by_channel = (-1, *(1 for _ in x.shape[2:]))
    scale, bias, mean, variance = (each.reshape(by_channel) for each in (scale, bias, mean, variance))
    with np.errstate(all="ignore"):  # infinities are rejected where weights are read
        y = (x - mean) / np.sqrt(variance + node.real("epsilon", 1e-5)) * scale + bias
    return np.asarray(y, inputs[0].dtype)


def _dropout(node: OnnxNode, inputs: Sequence[Constant]) -> Constant:
    if len(inputs) > 2 and inputs[2].any() and inputs[1].any():
        raise ValueError("it is in training mode; supported is inference")
    return inputs[0]


def _constant_of_shape(node: OnnxNode, inputs: Sequence[Constant]) -> Constant:
    dims = [int(size) for size in inputs[0].tolist()]
    if any(size < 0 for size in dims):
        raise ValueError(f"shape {dims}")
    tensor = node.tensor("value")
    return np.full(dims, 0.0 if tensor is None else array_of(tensor).reshape(()), None if tensor else np.float32)


def _product(numbers: Sequence[int]) -> int:
    product = 1
    for number in numbers:
        product *= number
    return product


def _reshape(node: OnnxNode, inputs: Sequence[Constant]) -> Constant:
    wanted = [inputs[0].shape[i] if size == 0 else int(size) for i, size in enumerate(inputs[1].tolist())]
    return inputs[0].reshape(wanted)


def _shape(node: OnnxNode, inputs: Sequence[Constant]) -> Constant:
    dims = inputs[0].shape
    return np.array(dims[node.integer("start", 0) : node.integer("end", len(dims))], np.int64)


def _slice_lists(node: OnnxNode, inputs: Sequence[Constant]) -> list[list[int]]:
    """Return starts, ends and, where they are given, axes and steps. Up to operator set 9 they are attributes."""
    if node.opset >= 10:
        return [given.reshape(-1).tolist() for given in inputs]
    given = (node.integers(name) for name in ("starts", "ends", "axes"))
    return [list(numbers) for numbers in given if numbers is not None]


def _slice(node: OnnxNode, inputs: Sequence[Constant]) -> Constant:
    starts, ends, *rest = _slice_lists(node, inputs[1:])
    axes = rest[0] if rest else range(len(starts))
    steps = rest[1] if len(rest) > 1 else [1] * len(starts)
    places: list[slice] = [slice(None)] * inputs[0].ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        stop = None if step < 0 and end < -inputs[0].shape[axis] else end
        places[axis] = slice(start, stop, step)
    return inputs[0][tuple(places)]


def _binary(
    function: Callable[[Constant, Constant], Constant],
) -> Callable[[OnnxNode, Sequence[Constant]], Constant]:
    def apply(node: OnnxNode, inputs: Sequence[Constant]) -> Constant:
        with np.errstate(all="ignore"):  # infinities are rejected where weights are read
            return np.asarray(function(inputs[0], inputs[1]))

    return apply


def _divide(a: NDArray[Any], b: NDArray[Any]) -> Constant:
    """Divide; integers are rounded towards zero, as in C."""
    if not np.issubdtype(a.dtype, np.integer):
        return np.asarray(np.true_divide(a, b), a.dtype)
    if not b.all():
        raise ZeroDivisionError("it divides integers by 0")
    down = np.floor_divide(a, b)
    return np.asarray(down + ((down * b != a) & ((a < 0) != (b < 0))), a.dtype)


FOLDED: Mapping[str, Folding] = {
    "Add": _binary(np.add),
    "BatchNormalization": _batch_norm,
    "Cast": lambda node, inputs: inputs[0].astype(helper.tensor_dtype_to_np_dtype(node.integer("to", 0))),
    "Concat": lambda node, inputs: np.concatenate(inputs, axis=node.integer("axis", 0)),
    "ConstantOfShape": _constant_of_shape,
    "Div": _binary(_divide),
    "Dropout": _dropout,
    "Gather": lambda node, inputs: np.take(inputs[0], inputs[1].astype(np.int64), axis=node.integer("axis", 0)),
    "Identity": lambda node, inputs: inputs[0],
    "Mul": _binary(np.multiply),
    "Reshape": _reshape,
    "Shape": _shape,
    "Slice": _slice,
    "Squeeze": lambda node, inputs: np.squeeze(inputs[0], _axes(node, inputs)),
    "Sub": _binary(np.subtract),
    "Transpose": lambda node, inputs: np.transpose(inputs[0], node.integers("perm")),
    "Unsqueeze": lambda node, inputs: np.expand_dims(inputs[0], _axes(node, inputs) or ()),
}
