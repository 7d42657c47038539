"""Convert the operators with a window, Conv and the pools; read its kernel, strides and pads."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from onnx import AttributeProto, helper

from edged.arithmetic import ceil_div
from edged.errors import ModelError
from edged.model.activations import RELU
from edged.model.from_onnx import quantized
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import NO_PADS, InvalidNodeError, Scope
from edged.model.from_onnx.views import as_shape
from edged.model.graph import Activate, AveragePool, Conv, MaxPool, Operator, Pads, Pair
from edged.model.shapes import extent

Converter = Callable[[OnnxNode, Scope], None]

NEVER_LARGEST = float(np.finfo(np.float16).min)  # the largest number that exporters write in place of −∞
MAX_STEP = 2**16  # largest kernel, stride, dilation or pad
CONV_ATTRIBUTES = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
_POOL_ATTRIBUTES = ("auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides")
AVERAGE_POOL_ATTRIBUTES = (*_POOL_ATTRIBUTES, "count_include_pad")
MAX_POOL_ATTRIBUTES = (*_POOL_ATTRIBUTES, "storage_order")


def pair(node: OnnxNode, name: str, default: Pair | None) -> Pair:
    numbers = node.integers(name) or default
    if numbers is None:
        raise ModelError(f"attribute {name} is missing")
    first, second = _numbers(node, name, numbers, 2, least=1)
    return first, second


def padding(node: OnnxNode, size: Pair, extent: Pair, strides: Pair) -> Pads:
    """Return explicit pads, or those of `auto_pad` (ONNX operator specification, Conv)."""
    auto = node.text("auto_pad", "NOTSET")
    if auto == "NOTSET":
        pads = _numbers(node, "pads", node.integers("pads") or NO_PADS, 4, least=0)
        return pads[0], pads[1], pads[2], pads[3]
    if auto == "VALID":
        return NO_PADS
    if auto not in {"SAME_UPPER", "SAME_LOWER"}:
        raise ModelError(f"attribute auto_pad is {auto}; supported are NOTSET, SAME_UPPER, SAME_LOWER and VALID")
    rows, columns = (same_padding(auto, size[i], extent[i], strides[i]) for i in (0, 1))
    return rows[0], columns[0], rows[1], columns[1]


def same_padding(auto: str, size: int, reach: int, stride: int) -> Pair:
    """Return the pads before and after an axis for SAME_UPPER or SAME_LOWER, with windows of `reach` pixels."""
    total = (ceil_div(size, stride) - 1) * stride + reach - size
    if total < -1:  # half of it would be cut off at the beginning
        raise InvalidNodeError(
            f"attribute auto_pad is {auto} with a stride of {stride} beyond the window of {reach}"
        )
    less = max(0, total) // 2
    more = max(0, total) - less
    return (less, more) if auto == "SAME_UPPER" else (more, less)


def last_window(size: int, kernel: int, stride: int, before: int, after: int) -> int:
    """Return the padding for one more, partial window; none if that window would begin beyond the image."""
    left_over = (size + before + after - kernel) % stride
    begin = size + before + after - kernel - left_over + stride
    return stride - left_over if left_over and begin < size + before else 0


def _numbers(node: OnnxNode, name: str, numbers: tuple[int, ...], count: int, least: int) -> tuple[int, ...]:
    if len(numbers) != count or not all(least <= number <= MAX_STEP for number in numbers):
        raise ModelError(
            f"attribute {name} is {numbers}; supported are {count} numbers from {least} to {MAX_STEP}"
        )
    return numbers


def sum_of(*several: Pads) -> Pads:
    """Add pads element by element."""
    top, left, bottom, right = (sum(side) for side in zip(*several, strict=True))
    return top, left, bottom, right


def in_one_row(convert: Converter) -> Converter:
    """Return a converter that also takes tensors of one length, [n, channels, length]: as images of one row."""

    def convert_either(node: OnnxNode, scope: Scope) -> None:
        value = scope.raw_value(node.input(0))
        if len(value.dims) != 3 or value.dims[0] != 1:
            convert(node, scope)
            return
        image, *rest = (_in_one_row(scope, name) if name else "" for name in node.inputs[:2])
        widened = {name: _widened(each) for name, each in node.attributes.items()}
        output = f"{node.output}/row"
        inputs, outputs = (image, *rest, *node.inputs[2:]), (output, *node.outputs[1:])
        convert(replace(node, inputs=inputs, outputs=outputs, attributes=widened), scope)
        written = scope.view_of(output)
        scope.define(node.output, as_shape(scope, written, (*written.dims[:2], written.dims[3])))

    return convert_either


def _in_one_row(scope: Scope, name: str) -> str:
    """Return the name of a tensor or of weights of three axes, with an axis of 1 before the last one."""
    row = f"{name}/row"
    if scope.known(row) is None and scope.constant(row) is None:
        constant = scope.constant(name)
        if constant is None:
            value = scope.floats(name)
            *lead, length = value.dims
            scope.define(row, as_shape(scope, value, (*lead, 1, length)))
        else:
            scope.define(row, constant[..., np.newaxis, :])
    return row


def _widened(attribute: AttributeProto) -> AttributeProto:
    """Return an attribute of one length for rows and columns."""
    given = list(attribute.ints)
    match attribute.name, given:
        case (("kernel_shape" | "strides" | "dilations"), [along]):
            return helper.make_attribute(attribute.name, [1, along])
        case "pads", [before, after]:
            return helper.make_attribute(attribute.name, [0, before, 0, after])
    return attribute


def conv(node: OnnxNode, scope: Scope) -> None:
    weight = scope.weights(node.input(1))
    if weight.ndim != 4 or weight.size == 0:
        raise ModelError(f"has weights of shape {weight.shape}; supported is 2-D: (out, in, height, width)")
    kernel: Pair = (weight.shape[2], weight.shape[3])
    if pair(node, "kernel_shape", kernel) != kernel:
        raise ModelError(f"attribute kernel_shape is not {kernel}, the shape of its weights")
    bias = scope.weights(node.input(2)) if node.input(2) else np.zeros(len(weight), np.float32)
    tensor, around = scope.padded_image(node.input(0))
    strides, dilations = pair(node, "strides", (1, 1)), pair(node, "dilations", (1, 1))
    size = scope.padded_size(tensor, around)
    pads = sum_of(around, padding(node, size, extent(kernel, dilations), strides))
    groups = node.integer("group", 1)
    if not 1 <= groups <= len(weight):
        raise ModelError(f"attribute group is {groups}; supported is 1 to {len(weight)}, its output channels")
    name = node.output
    operator = Conv(name, (tensor,), name, weight, bias, strides, pads, dilations, groups)
    layer = quantized.layer_of(node, scope, tensor)
    scope.push(quantized.conv(operator, layer) if layer else operator)


def max_pool(node: OnnxNode, scope: Scope) -> None:
    if node.integer("storage_order", 0):
        raise ModelError("attribute storage_order is supported only as 0")
    filler = scope.raw_value(node.input(0)).filler
    never_wins = filler <= NEVER_LARGEST
    tensor, around = scope.padded_image(node.input(0), filler if never_wins else 0.0)
    if any(around) and not (never_wins or _is_relu(scope.writer(tensor))):
        tensor, around = scope.image(node.input(0)), NO_PADS
    kernel, strides, pads, extra = _pool_window(node, scope, tensor, around)
    scope.push(MaxPool(node.output, (tensor,), node.output, kernel, strides, sum_of(around, pads, extra)))


def _is_relu(writer: Operator | None) -> bool:
    return isinstance(writer, Activate) and writer.activation == RELU


def average_pool(node: OnnxNode, scope: Scope) -> None:
    tensor, around = scope.padded_image(node.input(0))
    kernel, strides, pads, extra = _pool_window(node, scope, tensor, around)
    counted = bool(node.integer("count_include_pad", 0)) and any(pads)
    if any(around) and (any(extra) or (any(pads) and not counted)):
        tensor, around = scope.image(node.input(0)), NO_PADS
    if counted and any(extra):  # whose pads never count
        tensor, pads, counted = scope.with_border(tensor, pads), NO_PADS, False
    counted = counted or any(around)
    all_pads = sum_of(around, pads, extra)
    scope.push(AveragePool(node.output, (tensor,), node.output, kernel, strides, all_pads, counted))


def global_pool(kind: type[AveragePool] | type[MaxPool]) -> Callable[[OnnxNode, Scope], None]:
    """Return the converter of GlobalAveragePool or GlobalMaxPool."""

    def convert(node: OnnxNode, scope: Scope) -> None:
        tensor = scope.image(node.input(0))
        _, height, width = scope.shapes[tensor]
        scope.push(kind(node.output, (tensor,), node.output, (height, width)))

    return convert


def _pool_window(node: OnnxNode, scope: Scope, tensor: str, around: Pads) -> tuple[Pair, Pair, Pads, Pads]:
    """Return kernel, strides, pads, and the extra pads of ceil_mode at the bottom and the right."""
    if pair(node, "dilations", (1, 1)) != (1, 1):
        raise ModelError("attribute dilations is supported only as 1")
    kernel, strides = pair(node, "kernel_shape", None), pair(node, "strides", (1, 1))
    size = scope.padded_size(tensor, around)
    pads = padding(node, size, kernel, strides)
    if not node.integer("ceil_mode", 0):
        return kernel, strides, pads, NO_PADS
    bottom = last_window(size[0], kernel[0], strides[0], pads[0], pads[2])
    right = last_window(size[1], kernel[1], strides[1], pads[1], pads[3])
    return kernel, strides, pads, (0, 0, bottom, right)
