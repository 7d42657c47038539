"""Steps of values."""

from edged.engine.launch import Launch
from edged.engine.layout import float_bits
from edged.engine.variants.pixelwise import pixelwise
from edged.engine.variants.steps import bounds_defines
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Quantize


def _launches(site: Site[Quantize], parameters: Parameters) -> tuple[Launch, ...]:
    operator = site.operator
    return (pixelwise("quantize", site, {**bounds_defines(operator.bounds), "SCALE": float_bits(operator.scale)}),)


QUANTIZE = Variant("quantize", _launches)
