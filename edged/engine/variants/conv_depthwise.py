"""Convolution of each channel by itself, a vector of channels at a time."""

import numpy as np

from edged.engine.launch import Launch, Weights
from edged.engine.variants.convolution import pack_bias, window_defines
from edged.engine.variants.pixelwise import Runs
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Conv, Float32


def _can_compute(site: Site[Conv]) -> bool:
    """Return whether each input channel has one output channel, both in blocks of one size."""
    source, target = site.inputs[0], site.output
    return site.operator.groups == source.channels == target.channels and source.block == target.block


def _launches(site: Site[Conv], parameters: Parameters) -> tuple[Launch, ...]:
    (source, *residual), target = site.inputs, site.output
    weights, bias = Weights(lambda: _pack_weights(site), site.half_weights), Weights(lambda: pack_bias(site))
    runs = Runs(target, site.device)
    return (
        Launch(
            kernel="conv_depthwise",
            operator=site.operator.name,
            defines={**window_defines(site), "RUN": runs.length},
            arguments=(source, weights, bias, target, *residual),
            items=runs.count,
            planes=target.blocks,
            group=runs.group,
        ),
    )


def _pack_weights(site: Site[Conv]) -> Float32:
    """Pack weights as [block][ky][kx][channel of the block], zero beyond the last channel."""
    weight, target = site.operator.weight, site.output
    packed = np.zeros((target.blocks * target.block, *weight.shape[2:]), np.float32)
    packed[: len(weight)] = weight[:, 0]
    split = packed.reshape(target.blocks, target.block, *weight.shape[2:])
    return np.ascontiguousarray(split.transpose(0, 2, 3, 1))


CONV_DEPTHWISE = Variant("conv_depthwise", _launches, can_compute=_can_compute)
