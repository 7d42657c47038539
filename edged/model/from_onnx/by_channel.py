"""Convert BatchNormalization, sums, and arithmetic with constants: one factor and one offset per channel."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from edged.errors import ModelError
from edged.model.from_onnx.arithmetic import combine
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import Scope, Value, as_weights
from edged.model.graph import BatchNorm, Float32, Shape

Float64 = NDArray[np.float64]
Floats = Float32 | Float64
F = TypeVar("F", np.float32, np.float64)


def batch_norm(node: OnnxNode, scope: Scope) -> None:
    """Convert (x − mean) ÷ √(variance + epsilon) · scale + bias (Ioffe and Szegedy, 2015) to factor and offset."""
    if node.declared_outputs > 1:
        raise ModelError("has several outputs, as in training; supported is inference: export it in eval mode")
    if node.integer("training_mode", 0) or node.integer("spatial", 1) != 1:
        raise ModelError("training_mode is supported only as 0, spatial only as 1")
    scale, bias, mean, variance = (scope.weights(node.input(i)).astype(np.float64) for i in (1, 2, 3, 4))
    spread = variance + node.real("epsilon", 1e-5)
    if not len(scale) == len(bias) == len(mean) == len(variance) or (spread <= 0).any():
        raise ModelError("needs scale, bias, mean and variance of one length, and no negative variance")
    factor = scale / np.sqrt(spread)
    value = scope.floats(node.input(0))
    by_channel = (-1, *(1 for _ in value.dims[2:]))
    if not _is_by_channel(factor.reshape(by_channel), value, scope):
        value = scope.plain(node.input(0))
        tensor = scope.image(node.input(0)) if len(value.shape) == 3 else scope.features(node.input(0))
        value = Value(tensor, scope.shapes[tensor])
    _push_norm(node, scope, value, factor, bias - mean * factor)


def add(node: OnnxNode, scope: Scope) -> None:
    """Convert the sum of two computed tensors, or of one and a constant."""
    _affine(node, scope, lambda constant, is_reversed: (np.ones(1), constant))


def subtract(node: OnnxNode, scope: Scope) -> None:
    def affine(constant: Float64, is_reversed: bool) -> tuple[Float64, Float64]:
        sign = -1.0 if is_reversed else 1.0
        return np.full(1, sign), -sign * constant

    _affine(node, scope, affine)


def negate(node: OnnxNode, scope: Scope) -> None:
    _push_norm(node, scope, scope.floats(node.input(0)), np.full(1, -1.0), np.zeros(1))


def multiply(node: OnnxNode, scope: Scope) -> None:
    _affine(node, scope, lambda constant, is_reversed: (constant, np.zeros(1)))


def divide(node: OnnxNode, scope: Scope) -> None:
    def affine(constant: Float64, is_reversed: bool) -> tuple[Float64, Float64] | None:
        return None if is_reversed or not constant.all() else (1 / constant, np.zeros(1))

    _affine(node, scope, affine)


Affine = Callable[[Float64, bool], tuple[Float64, Float64] | None]


def _affine(node: OnnxNode, scope: Scope, affine: Affine) -> None:
    """Convert to x · factor + offset where that has one value or one for each channel, else to arithmetic.

    `affine`: factor and offset of a constant, which comes first where `is_reversed`; None: it is not affine.
    """
    if len(node.inputs) != 2:
        combine(node, scope)
        return
    x, constant = _computed_and_constant(node, scope)
    numbers = None if constant is None else affine(constant, x != node.inputs[0])
    value = scope.floats(x)
    if numbers is None or not all(_is_by_channel(each, value, scope) for each in numbers):
        combine(node, scope)
    else:
        _push_norm(node, scope, value, *numbers)


def _computed_and_constant(node: OnnxNode, scope: Scope) -> tuple[str, Float64 | None]:
    """Return the name of the computed input, and the other one's values if it is constant."""
    first, second = node.input(0), node.input(1)
    if scope.constant(second) is not None:
        return first, scope.weights(second).astype(np.float64)
    if scope.constant(first) is not None:
        return second, scope.weights(first).astype(np.float64)
    return first, None


def _push_norm(node: OnnxNode, scope: Scope, value: Value, factor: Floats, offset: Floats) -> None:
    """Push x · factor + offset, of one number each for each channel of the graph's tensor, or for all."""
    value = scope.elements(value)
    channels = scope.shapes[value.tensor][0]
    scope.reserve(2 * channels)
    factor, offset = as_weights(factor, "its factor"), as_weights(offset, "its offset")
    wide = [np.broadcast_to(each.reshape(-1), (channels,)).copy() for each in (factor, offset)]
    norm = BatchNorm(node.output, (value.tensor,), node.output, wide[0], wide[1])
    scope.push_seen(norm, replace(value, tensor=node.output))


def _is_by_channel(constant: Floats, value: Value, scope: Scope) -> bool:
    """Return whether a constant is one number, or one for each channel of the tensor that `value` is a view of."""
    dims = value.dims
    if constant.ndim > len(dims):
        return False
    if constant.size == 1:
        return True
    channels, *pixels = scope.shapes[value.tensor]
    wide = (1,) * (len(dims) - constant.ndim) + constant.shape
    along = [index for index, size in enumerate(wide) if size > 1]
    if len(along) != 1 or not scope.is_whole(value):
        return False
    return value.axes[along[0]] == (channels, math.prod(pixels)) and wide[along[0]] == channels


def per_channel(constant: NDArray[F], shape: Shape) -> NDArray[F]:
    """Return a constant that broadcasts to (1, *shape) with one value for each channel, as [channels]."""
    wide = (1,) * (len(shape) + 1 - constant.ndim) + constant.shape
    by_channel = (1, shape[0]) + (1,) * (len(shape) - 1)
    if len(wide) != len(by_channel) or not (constant.size == 1 or wide == by_channel):
        raise ModelError(
            f"has a constant of shape {constant.shape}; supported is one value, or one for each channel"
        )
    return np.broadcast_to(constant.reshape(-1), (shape[0],)).copy()
