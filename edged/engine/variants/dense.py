"""Fully connected layer: a matrix times a vector, each weight read once."""

import numpy as np

from edged.engine.launch import Argument, Launch, Weights
from edged.engine.variants.convolution import pack_bias
from edged.engine.variants.elementwise import activation_defines
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Dense, Float32


def _parameters(site: Site[Dense]) -> tuple[Parameters, ...]:
    return tuple({"LANES": lanes} for lanes in (8, 4, 2, 1))


def _launches(site: Site[Dense], parameters: Parameters) -> tuple[Launch, ...]:
    blocks = site.output.blocks
    return (
        Launch(
            kernel="dense",
            operator=site.operator.name,
            defines={**dense_defines(site), **parameters},
            arguments=dense_arguments(site),
            items=blocks,
            group=1 if site.device.kind == "cpu" else min(WORK_GROUP, blocks),
        ),
    )


def dense_defines(site: Site[Dense]) -> dict[str, int]:
    """Return every macro of `fully_connected.cl`, including those of the tensors."""
    ending = activation_defines(site.operator.activation)
    return {**site.tensor_defines(), **ending, "WEIGHTS_TYPE": int(site.half_weights)}


def dense_arguments(site: Site[Dense]) -> tuple[Argument, ...]:
    """Return the arguments: input, weights and bias, output."""
    (source,) = site.inputs
    weights = Weights(lambda: _pack_weights(site), site.half_weights)
    return source, weights, Weights(lambda: pack_bias(site)), site.output


def _pack_weights(site: Site[Dense]) -> Float32:
    """Pack weights as [out block][input][channel of out block], zero for missing ones."""
    source, target = site.inputs[0], site.output
    outputs, inputs = site.operator.weight.shape
    packed = np.zeros((target.blocks * target.block, source.blocks * source.block), np.float32)
    packed[:outputs, :inputs] = site.operator.weight
    return np.ascontiguousarray(packed.reshape(target.blocks, target.block, -1).transpose(0, 2, 1))


DENSE = Variant("dense", _launches, _parameters)
