"""Steps of the sum of two quantized tensors."""

from edged.engine.launch import Launch
from edged.engine.variants.pixelwise import pixelwise
from edged.engine.variants.steps import bounds_defines, sum_defines
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import QuantizedAdd


def _launches(site: Site[QuantizedAdd], parameters: Parameters) -> tuple[Launch, ...]:
    defines = {**bounds_defines(site.operator.bounds), **sum_defines(site.operator.factors)}
    return (pixelwise("quantized_add", site, defines),)


QUANTIZED_ADD = Variant("quantized_add", _launches)
