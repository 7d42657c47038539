"""Convert nodes of quantized files: QuantizeLinear and DequantizeLinear, and the layers between them.

Tensors of integers become tensors of steps (see `model.graph`). A convolution between a DequantizeLinear and its
quantized weights is one of whole numbers; `model.quantized_passes` fuses the QuantizeLinear behind it.
Formulas are those of the ONNX operator specification (https://onnx.ai/onnx/operators/).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import Constant, Grid, InvalidNodeError, Scope, Value
from edged.model.from_onnx.tensors import type_name
from edged.model.graph import (
    Combine,
    Conv,
    Dense,
    Dequantize,
    Flatten,
    Float32,
    Int32,
    Quantize,
    QuantizedConv,
    QuantizedDense,
    Steps,
)

STEP_TYPES = ("int8", "uint8")
MOST_STEPS = 255  # from zero
LARGEST_SUM = 2**31 - 1


def quantize(node: OnnxNode, scope: Scope) -> None:
    """Convert QuantizeLinear of a tensor that the network computes, with one scale."""
    scale, zero, dtype = _scalar_grid(node, scope, 1, 2)
    declared = node.integer("output_dtype", 0)
    if declared and type_name(declared).lower() != dtype:
        raise ModelError(f"attribute output_dtype is supported only as the type of the zero point, {dtype}")
    value = scope.floats(node.input(0))
    has_channels = value.has_batch and len(value.shape) in {1, 3}  # which layers read in this order
    value = scope.in_order(value) if has_channels and not scope.is_whole(value) else scope.elements(value)
    limits = np.iinfo(dtype)
    bounds = int(limits.min) - zero, int(limits.max) - zero
    operator = Quantize(node.output, (value.tensor,), node.output, scale, bounds)
    scope.push_seen(operator, replace(value, tensor=node.output, dtype=dtype, zero=zero))


def dequantize(node: OnnxNode, scope: Scope) -> None:
    """Convert DequantizeLinear of steps, or of quantized weights."""
    numbers = scope.constant(node.input(0))
    if numbers is not None:
        _define_weights(node, scope, numbers)
        return
    scale, zero, _ = _scalar_grid(node, scope, 1, 2)
    value = scope.view_of(node.input(0))
    if value.dtype not in STEP_TYPES:
        raise ModelError(f"input {node.input(0)} is of type {value.dtype}; supported are int8 and uint8")
    steps = _from_zero(scope, value if value.zero is not None else scope.elements(value), zero)
    operator = Dequantize(node.output, (steps.tensor,), node.output, scale)
    scope.push_seen(operator, replace(steps, tensor=node.output, dtype="float32", zero=None))


def integers_of(scope: Scope, value: Value) -> Value:
    """Return the integers of the file in place of steps, for what reads them as numbers; other values alike."""
    if value.zero is None:
        return value
    return replace(_from_zero(scope, value, 0), zero=None)


def _define_weights(node: OnnxNode, scope: Scope, numbers: Constant) -> None:
    """Define the floats of quantized weights, and remember their steps."""
    scale, zero = scope.constant(node.input(1)), scope.constant(node.input(2))
    if numbers.dtype.name not in (*STEP_TYPES, "int32") or node.integer("block_size", 0):
        supported = "int8, uint8 and int32, with scales that are not by block"
        raise ModelError(f"weights are of type {numbers.dtype}; supported are {supported}")
    if scale is None or (node.input(2) and zero is None):
        raise ModelError("scale and zero point are supported only as constants")
    grid = _grid(numbers, scale, zero, node.integer("axis", 1))
    scope.reserve_constant(numbers.size)
    scope.define(node.output, grid.values)
    scope.grids[node.output] = grid


@dataclass(frozen=True)
class QuantizedLayer:
    """What makes a layer one of whole numbers: its input as steps, their scale, and weights and bias."""

    steps: str
    scale: float
    weight: Grid
    bias: Grid | None

    def with_turned_weights(self) -> "QuantizedLayer":
        """Return the same with a transposed matrix of weights."""
        turned = replace(
            self.weight, steps=self.weight.steps.T, values=self.weight.values.T, axis=1 - self.weight.axis
        )
        return replace(self, weight=turned)


def layer_of(node: OnnxNode, scope: Scope, tensor: str) -> QuantizedLayer | None:
    """Return the whole numbers of a layer that reads `tensor` of the graph; None if it is one of floats."""
    weight = scope.grids.get(node.input(1))
    if weight is None or np.abs(weight.steps).max(initial=0) > MOST_STEPS:
        return None
    writer = scope.writer(tensor)
    source = scope.writer(writer.inputs[0]) if isinstance(writer, Flatten) else writer
    if not isinstance(source, Dequantize):
        return None
    steps = source.inputs[0]
    if isinstance(writer, Flatten):
        steps = scope.flat(steps)
    return QuantizedLayer(steps, source.scale, weight, scope.grids.get(node.input(2)))


def conv(operator: Conv, layer: QuantizedLayer) -> QuantizedConv:
    """Return a convolution of whole numbers in place of `operator`. Raises ModelError."""
    return QuantizedConv(
        *(operator.name, (layer.steps,), operator.output, *_numbers(layer, operator.bias)),
        *(operator.strides, operator.pads, operator.dilations, operator.groups),
    )


def dense(operator: Dense, layer: QuantizedLayer) -> QuantizedDense:
    """Return a layer of whole numbers in place of `operator`. Raises ModelError."""
    return QuantizedDense(operator.name, (layer.steps,), operator.output, *_numbers(layer, operator.bias))


def _numbers(layer: QuantizedLayer, bias: Float32) -> tuple[Steps, Int32, Float32]:
    """Return weight, bias and factor. Raises ModelError if the sums may overflow."""
    weight, out = layer.weight, len(layer.weight.steps)
    if weight.scale.size > 1 and weight.axis != 0:
        raise ModelError("has weights with a scale for other channels than those of the output")
    factor = np.broadcast_to(weight.scale.reshape(-1) * np.float32(layer.scale), (out,)).astype(np.float32)
    steps = _bias_steps(layer, bias, factor)
    products = MOST_STEPS * np.abs(weight.steps).reshape(out, -1).sum(axis=1, dtype=np.float64)
    largest = products + np.abs(steps)
    if not largest.max(initial=0) <= LARGEST_SUM:
        is_bias = products.max() <= LARGEST_SUM
        why = "its bias is too large for its scales" if is_bias else "an output sums too many large weights"
        raise InvalidNodeError(f"could reach sums of {largest.max():.2g}, which int32 does not hold: {why}")
    numbers, limits = weight.steps, np.iinfo(np.int8)
    fits = limits.min <= numbers.min(initial=0) and numbers.max(initial=0) <= limits.max
    smallest = np.ascontiguousarray(numbers, np.int8) if fits else np.ascontiguousarray(numbers, np.int16)
    return smallest, steps.astype(np.int32), factor


def _bias_steps(layer: QuantizedLayer, bias: Float32, factor: Float32) -> NDArray[np.float64]:
    """Return the bias in steps of the sums: the file's integers if they are that, else the nearest ones."""
    grid = layer.bias
    if grid is not None and np.allclose(grid.scale, factor, rtol=1e-6, atol=0):
        return grid.steps.astype(np.float64).reshape(bias.shape)
    return np.rint(bias.astype(np.float64) / factor)


def _scalar_grid(node: OnnxNode, scope: Scope, scale_at: int, zero_at: int) -> tuple[float, int, str]:
    """Return scale, zero point and type of the integers."""
    if node.integer("block_size", 0) or node.integer("precision", 0):
        raise ModelError("attributes block_size and precision are supported only as 0")
    scale, zero = scope.constant(node.input(scale_at)), scope.constant(node.input(zero_at))
    if scale is None or (node.input(zero_at) and zero is None):
        raise ModelError("scale and zero point are supported only as constants")
    if scale.size != 1 or scale.dtype.name != "float32":
        raise ModelError("is by channel, or not in float32; supported is one scale in float32")
    dtype = "uint8" if zero is None else zero.dtype.name
    if dtype not in STEP_TYPES or (zero is not None and zero.size != 1):
        raise ModelError(f"writes {dtype}; supported are int8 and uint8 with one zero point")
    _check_scale(scale)
    return float(scale.reshape(-1)[0]), 0 if zero is None else int(zero.reshape(-1)[0]), dtype


def _check_scale(scale: Constant) -> None:
    numbers = scale.astype(np.float64)
    if not np.isfinite(numbers).all() or (numbers <= 0).any():
        raise InvalidNodeError(f"has a scale of {numbers.min():g}; expected numbers above 0")


def _from_zero(scope: Scope, value: Value, zero: int) -> Value:
    """Return steps from another zero point."""
    if value.zero == zero:
        return value
    value = scope.elements(value)
    tensor = f"{value.tensor}/from {zero}"
    shifted = replace(value, tensor=tensor, zero=zero)
    if tensor not in scope.shapes:
        offset = np.full((1,) * len(scope.shapes[value.tensor]), (value.zero or 0) - zero, np.float32)
        scope.push_seen(Combine(tensor, (value.tensor,), tensor, "add", offset), shifted)
    return shifted


def _grid(numbers: Constant, scale: Constant, zero: Constant | None, axis: int) -> Grid:
    """Return quantized weights. Raises ModelError if scale and zero point do not fit them."""
    _check_scale(scale)
    if zero is not None and (zero.dtype != numbers.dtype or zero.size not in (1, scale.size)):
        raise InvalidNodeError(
            f"has a zero point of type {zero.dtype} with {zero.size} numbers for {scale.size} scales of "
            f"{numbers.dtype}"
        )
    axis = axis + numbers.ndim if axis < 0 else axis
    if scale.size > 1 and (axis >= numbers.ndim or scale.shape != (numbers.shape[axis],)):
        raise InvalidNodeError(f"has {scale.size} scales along axis {axis} of weights of shape {numbers.shape}")
    by_axis = tuple(-1 if each == axis else 1 for each in range(numbers.ndim)) if scale.size > 1 else ()
    offset = (
        np.zeros((), np.int64) if zero is None else zero.astype(np.int64).reshape(by_axis if zero.size > 1 else ())
    )
    steps = numbers.astype(np.int64) - offset
    values = (steps.astype(np.float32) * scale.astype(np.float32).reshape(by_axis)).astype(np.float32)
    return Grid(steps, scale.astype(np.float32), axis, values)
