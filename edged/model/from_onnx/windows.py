"""Conv and the pools."""

from collections.abc import Callable

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.node import Node
from edged.model.from_onnx.scope import NO_PADS, Scope
from edged.model.graph import AveragePool, Conv, MaxPool, Pads, Pair, Relu
from edged.model.shapes import windows

MAX_STEP = 2**16  # of a kernel, stride, dilation or pad

CONV_ATTRIBUTES = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
AVERAGE_POOL_ATTRIBUTES = (
    "auto_pad",
    "ceil_mode",
    "count_include_pad",
    "dilations",
    "kernel_shape",
    "pads",
    "strides",
)
MAX_POOL_ATTRIBUTES = ("auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides")


def conv(node: Node, scope: Scope) -> None:
    weight = scope.weights(node.input(1))
    if weight.ndim != 4 or weight.size == 0:
        raise ModelError(f"has weights of shape {weight.shape}; supported is 2-D: (out, in, height, width)")
    kernel: Pair = (weight.shape[2], weight.shape[3])
    if _pair(node, "kernel_shape", kernel) != kernel:
        raise ModelError(f"attribute kernel_shape is not {kernel}, the shape of its weights")
    bias = scope.weights(node.input(2)) if node.input(2) else np.zeros(len(weight), np.float32)
    tensor, around = scope.padded_image(node.input(0))
    strides, dilations = _pair(node, "strides", (1, 1)), _pair(node, "dilations", (1, 1))
    extent = (dilations[0] * (kernel[0] - 1) + 1, dilations[1] * (kernel[1] - 1) + 1)
    pads = _sum(around, _pads(node, _size(scope, tensor, around), extent, strides))
    groups = node.integer("group", 1)
    if not 1 <= groups <= len(weight):
        raise ModelError(f"attribute group is {groups}; supported is 1 to {len(weight)}, its output channels")
    name = node.output
    scope.push(Conv(name, (tensor,), name, weight, bias, strides, pads, dilations, groups))


def max_pool(node: Node, scope: Scope) -> None:
    if node.integer("storage_order", 0):
        raise ModelError("attribute storage_order is supported only as 0")
    tensor, around = scope.padded_image(node.input(0))
    if any(around) and not _never_negative(scope, tensor):
        raise ModelError("reads what a Pad node writes; supported where that pads the output of Relu")
    kernel, strides, pads, extra = _pool_window(node, scope, tensor, around)
    scope.push(MaxPool(node.output, (tensor,), node.output, kernel, strides, _sum(around, pads, extra)))


def average_pool(node: Node, scope: Scope) -> None:
    tensor, around = scope.padded_image(node.input(0))
    kernel, strides, pads, extra = _pool_window(node, scope, tensor, around)
    counted = bool(node.integer("count_include_pad", 0)) and any(pads)
    if any(around) and any(pads) and not counted:
        raise ModelError("has pads and reads what a Pad node writes; supported is one of both")
    counted = counted or any(around)
    if counted and any(extra):
        raise ModelError("attribute ceil_mode is not supported where padding counts and the last window is cut")
    all_pads = _sum(around, pads, extra)
    scope.push(AveragePool(node.output, (tensor,), node.output, kernel, strides, all_pads, counted))


def global_pool(kind: type[AveragePool] | type[MaxPool]) -> Callable[[Node, Scope], None]:
    """GlobalAveragePool or GlobalMaxPool."""

    def convert(node: Node, scope: Scope) -> None:
        tensor = scope.image(node.input(0))
        _, height, width = scope.shapes[tensor]
        scope.push(kind(node.output, (tensor,), node.output, (height, width)))

    return convert


def reduce_mean(node: Node, scope: Scope) -> None:
    """Over height and width only: a global average pool, with the 1×1 image kept or not."""
    tensor = scope.image(node.input(0))
    axes = scope.integers(node.input(1)) if node.input(1) else node.integers("axes") or ()
    if sorted(axis % 4 for axis in axes) != [2, 3]:
        raise ModelError(f"takes the mean over the axes {axes}; supported are (2, 3), height and width")
    channels, height, width = scope.shapes[tensor]
    shape = (channels, 1, 1) if node.integer("keepdims", 1) else (channels,)
    scope.push(AveragePool(node.output, (tensor,), node.output, (height, width)), shape)


def _pool_window(node: Node, scope: Scope, tensor: str, around: Pads) -> tuple[Pair, Pair, Pads, Pads]:
    """Kernel, strides, pads, and the pads more that ceil_mode takes at the bottom and the right."""
    if _pair(node, "dilations", (1, 1)) != (1, 1):
        raise ModelError("attribute dilations is supported only as 1")
    kernel, strides = _pair(node, "kernel_shape", None), _pair(node, "strides", (1, 1))
    size = _size(scope, tensor, around)
    pads = _pads(node, size, kernel, strides)
    if not node.integer("ceil_mode", 0):
        return kernel, strides, pads, NO_PADS
    bottom = _last_window(size[0], kernel[0], strides[0], pads[0], pads[2])
    right = _last_window(size[1], kernel[1], strides[1], pads[1], pads[3])
    return kernel, strides, pads, (0, 0, bottom, right)


def _last_window(size: int, kernel: int, stride: int, before: int, after: int) -> int:
    """Padding that one more, cut window takes; none where that window would begin beyond the image."""
    left_over = (size + before + after - kernel) % stride
    begin = size + before + after - kernel - left_over + stride
    return stride - left_over if left_over and begin < size + before else 0


def _pads(node: Node, size: Pair, extent: Pair, strides: Pair) -> Pads:
    """Explicit pads, or those that `auto_pad` means (ONNX operator specification, Conv)."""
    auto = node.text("auto_pad", "NOTSET")
    if auto == "NOTSET":
        pads = _numbers(node, "pads", node.integers("pads") or NO_PADS, 4, least=0)
        return pads[0], pads[1], pads[2], pads[3]
    if auto == "VALID":
        return NO_PADS
    if auto not in {"SAME_UPPER", "SAME_LOWER"}:
        raise ModelError(f"attribute auto_pad is {auto}; supported are NOTSET, SAME_UPPER, SAME_LOWER and VALID")
    totals = [max(0, (-(-size[i] // strides[i]) - 1) * strides[i] + extent[i] - size[i]) for i in (0, 1)]
    less, more = [total // 2 for total in totals], [total - total // 2 for total in totals]
    if auto == "SAME_LOWER":
        less, more = more, less
    return less[0], less[1], more[0], more[1]


def _pair(node: Node, name: str, default: Pair | None) -> Pair:
    numbers = node.integers(name) or default
    if numbers is None:
        raise ModelError(f"attribute {name} is missing")
    first, second = _numbers(node, name, numbers, 2, least=1)
    return first, second


def _numbers(node: Node, name: str, numbers: tuple[int, ...], count: int, least: int) -> tuple[int, ...]:
    if len(numbers) != count or not all(least <= number <= MAX_STEP for number in numbers):
        raise ModelError(
            f"attribute {name} is {numbers}; supported are {count} numbers from {least} to {MAX_STEP}"
        )
    return numbers


def _size(scope: Scope, tensor: str, around: Pads) -> Pair:
    _, height, width = scope.shapes[tensor]
    return windows((height, width), (1, 1), (1, 1), around)


def _sum(*several: Pads) -> Pads:
    top, left, bottom, right = (sum(side) for side in zip(*several, strict=True))
    return top, left, bottom, right


def _never_negative(scope: Scope, tensor: str) -> bool:
    return any(isinstance(operator, Relu) and operator.output == tensor for operator in scope.operators)
