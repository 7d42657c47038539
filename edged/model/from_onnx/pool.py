"""Convert pools."""

from collections.abc import Callable

from edged.errors import ModelError
from edged.model.activations import RELU
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import NO_PADS, Scope
from edged.model.from_onnx.window import last_window, padding, pair, sum_of
from edged.model.graph import Activate, AveragePool, MaxPool, Operator, Pads, Pair

_BOTH = ("auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides")
AVERAGE_ATTRIBUTES = (*_BOTH, "count_include_pad")
MAX_ATTRIBUTES = (*_BOTH, "storage_order")


def max_pool(node: OnnxNode, scope: Scope) -> None:
    if node.integer("storage_order", 0):
        raise ModelError("attribute storage_order is supported only as 0")
    tensor, around = scope.padded_image(node.input(0))
    if any(around) and not _is_relu(scope.writer(tensor)):
        raise ModelError("reads what a Pad node writes; supported where that pads the output of Relu")
    kernel, strides, pads, extra = _pool_window(node, scope, tensor, around)
    scope.push(MaxPool(node.output, (tensor,), node.output, kernel, strides, sum_of(around, pads, extra)))


def _is_relu(writer: Operator | None) -> bool:
    return isinstance(writer, Activate) and writer.activation == RELU


def average_pool(node: OnnxNode, scope: Scope) -> None:
    tensor, around = scope.padded_image(node.input(0))
    kernel, strides, pads, extra = _pool_window(node, scope, tensor, around)
    counted = bool(node.integer("count_include_pad", 0)) and any(pads)
    if any(around) and any(pads) and not counted:
        raise ModelError("has pads and reads what a Pad node writes; supported is one of both")
    counted = counted or any(around)
    if counted and any(extra):
        raise ModelError("attribute ceil_mode is not supported where padding counts and the last window is cut")
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
