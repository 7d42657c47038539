"""Read layers that quantize their input picture by picture as layers of floats, with the weights of the file.

onnxruntime's `quantize_dynamic`, and so Optimum and transformers.js (`model_quantized.onnx`), write a layer as
DynamicQuantizeLinear, ConvInteger or MatMulInteger, Cast, and a Mul with the product of both scales. What eight
bits take from the input, by other steps for each picture, is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from edged.errors import ModelError
from edged.model.from_onnx.tensors import array_of
from edged.model.graph import Float32

KINDS = {"ConvInteger": "Conv", "MatMulInteger": "MatMul"}
STEPS = "DynamicQuantizeLinear"
STEPS_OUTPUTS = 3  # the steps, their scale, their zero point
MATRIX = 2  # axes

Writers = Mapping[str, NodeProto]
Constants = Mapping[str, TensorProto]


def with_float_layers(model: ModelProto) -> tuple[ModelProto, int]:
    """Return a model with such layers as layers of floats, and their number; as it is if it has none."""
    if not any(node.op_type == STEPS for node in model.graph.node):
        return model, 0
    changed = ModelProto()
    changed.CopyFrom(model)
    writers = {name: node for node in model.graph.node for name in node.output}
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    count = 0
    for node in changed.graph.node:
        if layer := _layer_before(node, writers, constants):
            weights = numpy_helper.from_array(layer.weights, f"{node.output[0]}/weights")
            changed.graph.initializer.append(weights)
            floats = helper.make_node(
                KINDS[layer.sums.op_type], [layer.source, weights.name], node.output, node.name
            )
            floats.attribute.extend(layer.sums.attribute)
            node.CopyFrom(floats)
            count += 1
    return changed, count


@dataclass(frozen=True, eq=False)
class _IntegerLayer:
    """`sums`: the node that computes with integers. `source`: its input in floats. `weights`: likewise."""

    sums: NodeProto
    source: str
    weights: Float32


def _layer_before(scaled: NodeProto, writers: Writers, constants: Constants) -> _IntegerLayer | None:
    """Return the layer that a node ends by scaling its sums; None for another node."""
    if scaled.op_type != "Mul" or len(scaled.input) != 2:
        return None
    for one, other in (scaled.input, reversed(scaled.input)):
        cast, scales = writers.get(one), writers.get(other)
        if cast and scales and (cast.op_type, scales.op_type) == ("Cast", "Mul"):
            sums = writers.get(_read(cast, 0))
            steps = writers.get(_read(sums, 0)) if sums and sums.op_type in KINDS else None
            if sums and steps and steps.op_type == STEPS and len(steps.output) == STEPS_OUTPUTS:
                weights = _weights(sums, [name for name in scales.input if name != steps.output[1]], constants)
                return None if weights is None else _IntegerLayer(sums, _read(steps, 0), weights)
    return None


def _read(node: NodeProto, index: int) -> str:
    """Return the name of an input, empty where it is omitted."""
    return node.input[index] if index < len(node.input) else ""


def _weights(sums: NodeProto, scales: list[str], constants: Constants) -> Float32 | None:
    """Return the weights of a layer in floats; None if they, their scale or zero point are computed or damaged."""
    names = [_read(sums, 1), *scales, *filter(None, [_read(sums, 3)])]
    if len(scales) != 1 or any(name not in constants for name in names):
        return None
    try:
        steps, *numbers = (array_of(constants[name]) for name in names)
    except ModelError:  # where its node is read, the error has a place
        return None
    axis = 0 if sums.op_type == "ConvInteger" else steps.ndim - 1
    if steps.ndim < MATRIX or any(each.size not in {1, steps.shape[axis]} for each in numbers):
        return None
    by_output = [-1 if index == axis else 1 for index in range(steps.ndim)]
    scale, *zero = (each.astype(np.float32).reshape(by_output) for each in numbers)
    return np.asarray((steps.astype(np.float32) - (zero[0] if zero else 0)) * scale, np.float32)
