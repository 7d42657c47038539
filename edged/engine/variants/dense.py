"""Fully connected layer: a matrix times a vector, each weight read once."""

import numpy as np

from edged.engine.launch import Launch
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Dense


def _parameters(site: Site[Dense]) -> tuple[Parameters, ...]:
    return tuple({"LANES": lanes} for lanes in (8, 4, 2, 1))


def _launches(site: Site[Dense], parameters: Parameters) -> tuple[Launch, ...]:
    dense, (source,), target = site.operator, site.inputs, site.output
    outputs, inputs = dense.weight.shape
    weights = np.zeros((target.blocks, target.block, source.blocks * source.block), np.float32)
    weights.reshape(-1, weights.shape[-1])[:outputs, :inputs] = dense.weight
    bias = np.zeros(target.blocks * target.block, np.float32)
    bias[:outputs] = dense.bias
    return (
        Launch(
            kernel="dense",
            operator=dense.name,
            defines={**site.tensor_defines(), "WITH_RELU": int(dense.relu), **parameters},
            arguments=(source, np.ascontiguousarray(weights.transpose(0, 2, 1)), bias, target),
            items=target.blocks,
            group=1 if site.device.kind == "cpu" else min(WORK_GROUP, target.blocks),
        ),
    )


DENSE = Variant("dense", _launches, _parameters)
