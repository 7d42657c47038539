"""The norm of the channels of each pixel."""

from edged.engine.launch import Launch, Weights
from edged.engine.layout import float_bits
from edged.engine.variants.convolution import pack_by_channel
from edged.engine.variants.pixelwise import across_channels, same_blocks
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import LayerNorm


def _launches(site: Site[LayerNorm], parameters: Parameters) -> tuple[Launch, ...]:
    norm = site.operator
    constants = (
        Weights(lambda: pack_by_channel(site, norm.factor)),
        Weights(lambda: pack_by_channel(site, norm.offset)),
    )
    return (across_channels("layer_norm", site, {"EPSILON": float_bits(norm.epsilon)}, constants),)


LAYER_NORM = Variant("layer_norm", _launches, can_compute=same_blocks)
