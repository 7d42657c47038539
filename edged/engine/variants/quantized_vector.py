"""Convolution of steps on a CPU with wide vectors: a tile of pixels in registers, two input channels at a time."""

import numpy as np

from edged.arithmetic import ceil_div
from edged.engine.launch import Launch, Weights
from edged.engine.layout import Element
from edged.engine.variants.convolution import (
    convolution_defines,
    frame_by_frame,
    halo_of_window,
    pack_by_channel,
    pack_weights,
)
from edged.engine.variants.prefetch import prefetch
from edged.engine.variants.steps import end_defines
from edged.engine.variants.tiles import tiles, together, work_items
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Int16, QuantizedConv

MOST_OUTS = 2
BLOCKS = (4, 8, 16)  # channels that this kernel takes side by side
LANES = 8  # sums in a vector, at most
WEIGHT_BYTES = 2


def _can_compute(site: Site[QuantizedConv]) -> bool:
    source = site.inputs[0]
    return source.element is Element.SHORT and source.block in BLOCKS and site.output.block in BLOCKS


def _parameters(site: Site[QuantizedConv]) -> tuple[Parameters, ...]:
    target = site.output
    several = range(1, min(MOST_OUTS, target.blocks) + 1) if site.operator.groups == 1 else range(1, 2)
    return tuple(
        {
            "OUTS": outs,
            "TILE_H": height,
            "TILE_W": width,
            "TILE_RUN": together(site, outs, (height, width)),
            **prefetch(site, outs, (height, width), WEIGHT_BYTES),
        }
        for outs in reversed(several)
        for height, width in tiles(
            target.height, target.width, min(target.block, LANES), outs * ceil_div(target.block, LANES)
        )
    )


def _launches(site: Site[QuantizedConv], parameters: Parameters) -> tuple[Launch, ...]:
    conv, (source, *residual), target = site.operator, site.inputs, site.output
    return (
        Launch(
            kernel="quantized_vector",
            operator=conv.name,
            defines={**convolution_defines(site), **end_defines(conv), **parameters},
            arguments=(
                source,
                Weights(lambda: pack_pairs(site), whole=np.int16),
                Weights(lambda: pack_by_channel(site, conv.bias), whole=np.int32),
                Weights(lambda: pack_by_channel(site, conv.factor)),
                target,
                *residual,
            ),
            items=work_items(target, parameters),
            planes=ceil_div(target.blocks, parameters["OUTS"]),
            frames_last=frame_by_frame(site),
        ),
    )


def pack_pairs(site: Site[QuantizedConv]) -> Int16:
    """Pack weights as [out block][SPAN in blocks][ky][kx][pair of in channels][channel of out block][2]."""
    packed = pack_weights(site)
    pairs = packed.reshape(*packed.shape[:4], packed.shape[4] // 2, 2, packed.shape[5])
    return np.ascontiguousarray(pairs.swapaxes(5, 6), np.int16)


QUANTIZED_VECTOR = Variant("quantized_vector", _launches, _parameters, halo_of_window, _can_compute)
