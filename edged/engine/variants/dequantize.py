"""Values of steps."""

from edged.engine.launch import Launch
from edged.engine.layout import float_bits
from edged.engine.variants.pixelwise import pixelwise
from edged.engine.variants.steps import bounds_defines
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Dequantize


def _launches(site: Site[Dequantize], parameters: Parameters) -> tuple[Launch, ...]:
    return (pixelwise("dequantize", site, {**bounds_defines(None), "SCALE": float_bits(site.operator.scale)}),)


DEQUANTIZE = Variant("dequantize", _launches)
