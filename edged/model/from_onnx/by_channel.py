"""Convert BatchNormalization, sums, and arithmetic with constants: one factor and one offset per channel."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from edged.errors import ModelError
from edged.model.from_onnx.node import Node
from edged.model.from_onnx.scope import Scope, as_weights
from edged.model.graph import Add, BatchNorm, Dense, Float32, Shape

Float64 = NDArray[np.float64]
Floats = Float32 | Float64
F = TypeVar("F", np.float32, np.float64)


def batch_norm(node: Node, scope: Scope) -> None:
    """Convert (x − mean) ÷ √(variance + epsilon) · scale + bias (Ioffe and Szegedy, 2015) to factor and offset."""
    if node.integer("training_mode", 0) or node.integer("spatial", 1) != 1:
        raise ModelError("training_mode is supported only as 0, spatial only as 1")
    scale, bias, mean, variance = (scope.weights(node.input(i)).astype(np.float64) for i in (1, 2, 3, 4))
    spread = variance + node.real("epsilon", 1e-5)
    if not len(scale) == len(bias) == len(mean) == len(variance) or (spread <= 0).any():
        raise ModelError("needs scale, bias, mean and variance of one length, and no negative variance")
    factor = scale / np.sqrt(spread)
    _push_batch_norm(node, scope, node.input(0), factor, bias - mean * factor)


def add(node: Node, scope: Scope) -> None:
    """Convert the sum of two computed tensors, or of one and a constant by channel."""
    if len(node.inputs) != 2:
        raise ModelError(f"adds {len(node.inputs)} tensors; supported are 2")
    x, constant = _computed_and_constant(node, scope)
    if constant is None:
        _push_sum(node, scope)
    else:
        _push_affine(node, scope, x, np.ones(1), constant)


def _push_sum(node: Node, scope: Scope) -> None:
    values = scope.plain(node.inputs[0]), scope.plain(node.inputs[1])
    tensors = values[0].tensor, values[1].tensor
    if values[0].shape != values[1].shape:
        raise ModelError(
            f"adds the shapes {values[0].shape} and {values[1].shape}; supported are two of one shape"
        )
    if scope.shapes[tensors[0]] != scope.shapes[tensors[1]]:
        tensors = scope.features(node.inputs[0]), scope.features(node.inputs[1])
    scope.push(Add(node.output, tensors, node.output), values[0].shape)


def subtract(node: Node, scope: Scope) -> None:
    x, constant = _computed_and_constant(node, scope)
    if constant is None:
        raise ModelError("supported is x − constant or constant − x")
    sign = 1.0 if x == node.inputs[0] else -1.0
    _push_affine(node, scope, x, np.full(1, sign), -sign * constant)


def multiply(node: Node, scope: Scope) -> None:
    x, constant = _computed_and_constant(node, scope)
    if constant is None:
        raise ModelError("supported is x · constant")
    _push_affine(node, scope, x, constant, np.zeros(1))


def divide(node: Node, scope: Scope) -> None:
    x, constant = _computed_and_constant(node, scope)
    if constant is None or x != node.inputs[0] or not constant.all():
        raise ModelError("supported is x ÷ constant, which is not 0")
    _push_affine(node, scope, x, 1 / constant, np.zeros(1))


def _computed_and_constant(node: Node, scope: Scope) -> tuple[str, Float64 | None]:
    """Return the name of the computed input, and the other one's values if it is constant."""
    first, second = node.input(0), node.input(1)
    if scope.constant(second) is not None:
        return first, scope.weights(second).astype(np.float64)
    if scope.constant(first) is not None:
        return second, scope.weights(first).astype(np.float64)
    return first, None


def _push_affine(node: Node, scope: Scope, x: str, factor: Float64, offset: Float64) -> None:
    """Push x · factor + offset, each one value or one per channel."""
    shape = scope.plain(x).shape
    scope.reserve(2 * shape[0])
    _push_batch_norm(node, scope, x, per_channel(factor, shape), per_channel(offset, shape))


def _push_batch_norm(node: Node, scope: Scope, x: str, factor: Floats, offset: Floats) -> None:
    """Push a BatchNorm; of features only right after Dense (or another BatchNorm), into which it can be folded."""
    is_image = len(scope.plain(x).shape) == 3
    tensor = scope.image(x) if is_image else scope.features(x)
    if not is_image and not isinstance(scope.writer(tensor), Dense | BatchNorm):
        raise ModelError("acts on features; supported is an image, or features right after Gemm or MatMul")
    factor, offset = as_weights(factor, "its factor"), as_weights(offset, "its offset")
    scope.push(BatchNorm(node.output, (tensor,), node.output, factor, offset))


def per_channel(constant: NDArray[F], shape: Shape) -> NDArray[F]:
    """Return a constant that broadcasts to (1, *shape) with one value for each channel, as [channels]."""
    channels = shape[0]
    wide = (1,) * (len(shape) + 1 - constant.ndim) + constant.shape
    if len(wide) > len(shape) + 1 or (constant.size != 1 and wide != (1, channels) + (1,) * (len(shape) - 1)):
        raise ModelError(
            f"has a constant of shape {constant.shape}; supported is one value, or one for each channel"
        )
    return np.broadcast_to(constant.reshape(-1), (channels,)).copy()
