"""Steps of the sum of two quantized tensors."""

from edged.engine.launch import Launch
from edged.engine.layout import float_bits
from edged.engine.variants.pixelwise import pixelwise
from edged.engine.variants.steps import bounds_defines
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import QuantizedAdd


def _launches(site: Site[QuantizedAdd], parameters: Parameters) -> tuple[Launch, ...]:
    first, second = map(float_bits, site.operator.factors)
    ratios = {"RATIO_A": first, "RATIO_B": second}
    return (pixelwise("quantized_add", site, {**bounds_defines(site.operator.bounds), **ratios}),)


QUANTIZED_ADD = Variant("quantized_add", _launches)
