"""Softmax over the channels of each pixel, or its logarithm."""

from edged.engine.launch import Launch
from edged.engine.variants.pixelwise import across_channels, same_blocks
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Softmax


def _launches(site: Site[Softmax], parameters: Parameters) -> tuple[Launch, ...]:
    return (across_channels("softmax", site, {"LOG": int(site.operator.is_log)}),)


SOFTMAX = Variant("softmax", _launches, can_compute=same_blocks)
