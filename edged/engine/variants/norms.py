"""Norms: of the channels of each pixel, of groups of channels of an image, and of the channels around each one."""

from dataclasses import replace

import numpy as np

from edged.engine.launch import Launch, Weights
from edged.engine.layout import Element, Tensor, float_bits
from edged.engine.variants.convolution import pack_by_channel
from edged.engine.variants.pixelwise import across_channels, pixelwise, same_blocks, with_constants
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Float32, GroupNorm, LayerNorm, LocalResponseNorm


def _layer_norm(site: Site[LayerNorm], parameters: Parameters) -> tuple[Launch, ...]:
    norm = site.operator
    constants = (
        Weights(lambda: pack_by_channel(site, norm.factor)),
        Weights(lambda: pack_by_channel(site, norm.offset)),
    )
    return (across_channels("layer_norm", site, {"EPSILON": float_bits(norm.epsilon)}, constants),)


LAYER_NORM = Variant("layer_norm", _layer_norm, can_compute=same_blocks)


def _group_norm(site: Site[GroupNorm], parameters: Parameters) -> tuple[Launch, ...]:
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


GROUP_NORM = Variant("group_norm", _group_norm, can_compute=same_blocks)


def _local_response_norm(site: Site[LocalResponseNorm], parameters: Parameters) -> tuple[Launch, ...]:
    norm = site.operator
    numbers = Weights(lambda: np.array([norm.bias, norm.alpha / norm.size, norm.beta], np.float32))
    return (with_constants("local_response_norm", site, numbers, {"SIZE": norm.size}),)


LOCAL_RESPONSE_NORM = Variant("local_response_norm", _local_response_norm)
