"""The norm of groups of channels of an image: statistics of each channel first."""

from dataclasses import replace

import numpy as np

from edged.engine.launch import Launch, Weights
from edged.engine.layout import Element, Tensor, float_bits
from edged.engine.variants.convolution import pack_by_channel
from edged.engine.variants.pixelwise import pixelwise, same_blocks
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Float32, GroupNorm


def _launches(site: Site[GroupNorm], parameters: Parameters) -> tuple[Launch, ...]:
    norm, source, target = site.operator, site.inputs[0], site.output
    statistics = Tensor(
        f"{norm.name}.statistics", source.frames, source.channels, 1, 2, source.block, element=Element.FLOAT32
    )
    defines = {"GROUP_CHANNELS": source.channels // norm.groups, "EPSILON": float_bits(norm.epsilon)}
    launch = pixelwise("group_norm", site, {**statistics.defines("RESIDUAL"), **defines})
    return (
        Launch(
            kernel="group_statistics",
            operator=norm.name,
            defines={**source.defines("IN"), **statistics.defines("OUT")},
            arguments=(source, statistics),
            items=1,
            planes=source.blocks,
        ),
        replace(launch, arguments=(source, statistics, Weights(lambda: _packed(site)), target)),
    )


def _packed(site: Site[GroupNorm]) -> Float32:
    """Pack factor and offset as [out block][factor, offset][channel of the block]."""
    numbers = [pack_by_channel(site, each) for each in (site.operator.factor, site.operator.offset)]
    blocks = [each.reshape(-1, site.output.block) for each in numbers]
    return np.ascontiguousarray(np.stack(blocks, axis=1), np.float32)


GROUP_NORM = Variant("group_norm", _launches, can_compute=same_blocks)
