"""Convert BatchNormalization, sums, and arithmetic with constants: one factor and one offset per channel."""

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
    _push_batch_norm(node, scope, node.input(0), factor, bias - mean * factor)


def add(node: OnnxNode, scope: Scope) -> None:
    """Convert the sum of two computed tensors, or of one and a constant."""
    _affine(node, scope, lambda constant, is_reversed: (np.ones(1), constant))


def subtract(node: OnnxNode, scope: Scope) -> None:
    def affine(constant: Float64, is_reversed: bool) -> tuple[Float64, Float64]:
        sign = -1.0 if is_reversed else 1.0
        return np.full(1, sign), -sign * constant

    _affine(node, scope, affine)


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
    x, constant = _computed_and_constant(node, scope)
    value = scope.raw_value(x)
    if constant is not None and value.channels_last:
        constant = _channels_first(constant, value)
    numbers = None if constant is None else affine(constant, x != node.inputs[0])
    shape = scope.shapes[value.tensor] if value.channels_last else scope.plain(x).shape
    if numbers is None or not all(_is_by_channel(each, shape) for each in numbers):
        combine(node, scope)
        return
    scope.reserve(2 * shape[0])
    factor, offset = (per_channel(each, shape) for each in numbers)
    if value.channels_last:
        norm = _norm(node, value.tensor, factor, offset)
        scope.push_seen(norm, replace(value, tensor=node.output))
    else:
        _push_batch_norm(node, scope, x, factor, offset)


def _channels_first(constant: Float64, value: Value) -> Float64:
    """Return one number for each channel of a picture with its channels last, (channels, 1, 1), if it is that."""
    is_by_channel = constant.size == value.shape[-1] == constant.shape[-1] if constant.ndim else False
    return constant.reshape(-1, 1, 1) if is_by_channel and constant.size > 1 else constant


def _computed_and_constant(node: OnnxNode, scope: Scope) -> tuple[str, Float64 | None]:
    """Return the name of the computed input, and the other one's values if it is constant."""
    first, second = node.input(0), node.input(1)
    if scope.constant(second) is not None:
        return first, scope.weights(second).astype(np.float64)
    if scope.constant(first) is not None:
        return second, scope.weights(first).astype(np.float64)
    return first, None


def _push_batch_norm(node: OnnxNode, scope: Scope, x: str, factor: Floats, offset: Floats) -> None:
    is_image = len(scope.plain(x).shape) == 3
    tensor = scope.image(x) if is_image else scope.features(x)
    scope.push(_norm(node, tensor, factor, offset))


def _norm(node: OnnxNode, tensor: str, factor: Floats, offset: Floats) -> BatchNorm:
    factor, offset = as_weights(factor, "its factor"), as_weights(offset, "its offset")
    return BatchNorm(node.output, (tensor,), node.output, factor, offset)


def _is_by_channel(constant: Float64, shape: Shape) -> bool:
    """Return whether it broadcasts to (1, *shape) with one value for each channel."""
    wide = (1,) * (len(shape) + 1 - constant.ndim) + constant.shape
    by_channel = (1, shape[0]) + (1,) * (len(shape) - 1)
    return len(wide) == len(shape) + 1 and (constant.size == 1 or wide == by_channel)


def per_channel(constant: NDArray[F], shape: Shape) -> NDArray[F]:
    """Return a constant that broadcasts to (1, *shape) with one value for each channel, as [channels]."""
    if not _is_by_channel(np.asarray(constant, np.float64), shape):
        raise ModelError(
            f"has a constant of shape {constant.shape}; supported is one value, or one for each channel"
        )
    return np.broadcast_to(constant.reshape(-1), (shape[0],)).copy()
