"""Read layers that quantize their input picture by picture as layers of floats, with the weights of the file.

onnxruntime's `quantize_dynamic`, and so Optimum and transformers.js (`model_quantized.onnx`), write a layer as
DynamicQuantizeLinear, ConvInteger or MatMulInteger, Cast, and a Mul with the product of both scales. What eight
bits take from the input, by other steps for each picture, is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from edged.model.from_onnx.tensors import array_of
from edged.model.graph import Float32

KINDS = {"ConvInteger": "Conv", "MatMulInteger": "MatMul"}
STEPS = "DynamicQuantizeLinear"

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
class _Layer:
    """`sums`: the node that computes with integers. `source`: its input in floats. `weights`: likewise."""

    sums: NodeProto
    source: str
    weights: Float32


def _layer_before(scaled: NodeProto, writers: Writers, constants: Constants) -> _Layer | None:
    """Return the layer that a node ends by scaling its sums; None for another node."""
    if scaled.op_type != "Mul":
        return None
    for one, other in (scaled.input, reversed(scaled.input)):
        cast, scales = writers.get(one), writers.get(other)
        if cast and scales and (cast.op_type, scales.op_type) == ("Cast", "Mul"):
            sums = writers.get(cast.input[0])
            steps = writers.get(sums.input[0]) if sums and sums.op_type in KINDS else None
            if sums and steps and steps.op_type == STEPS and steps.output[0] == sums.input[0]:
                weights = _weights(sums, [name for name in scales.input if name != steps.output[1]], constants)
                return None if weights is None else _Layer(sums, steps.input[0], weights)
    return None


def _weights(sums: NodeProto, scales: list[str], constants: Constants) -> Float32 | None:
    """Return the weights of a layer in floats; None if they, their scale or zero point are computed."""
    names = [sums.input[1], *scales, *sums.input[3:4]]
    if len(scales) != 1 or any(name not in constants for name in names):
        return None
    steps, scale, *zero = (array_of(constants[name]) for name in names)
    by_output = (-1, *(1 for _ in steps.shape[1:])) if sums.op_type == "ConvInteger" else (-1,)
    offset = zero[0].astype(np.int32).reshape(by_output) if zero else 0
    return np.asarray((steps.astype(np.int32) - offset) * scale.astype(np.float32).reshape(by_output), np.float32)
