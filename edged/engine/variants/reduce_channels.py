"""One number for each pixel, of its channels."""

from edged.engine.launch import Launch
from edged.engine.variants.pixelwise import across_channels, same_blocks
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import ReduceChannels
from edged.model.reference import REDUCTIONS

NUMBERS = {kind: number for number, kind in enumerate(REDUCTIONS)}  # as `reduce_channels.cl` has them


def _launches(site: Site[ReduceChannels], parameters: Parameters) -> tuple[Launch, ...]:
    return (across_channels("reduce_channels", site, {"REDUCTION": NUMBERS[site.operator.kind]}),)


REDUCE_CHANNELS = Variant("reduce_channels", _launches, can_compute=same_blocks)
