"""Convert Conv."""

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx import quantized
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import Scope
from edged.model.from_onnx.window import padding, pair, sum_of
from edged.model.graph import Conv, Pair
from edged.model.shapes import extent

ATTRIBUTES = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")


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
