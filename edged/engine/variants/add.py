"""Element-wise sum of two tensors."""

from edged.engine.launch import Launch
from edged.engine.variants.activate import activation_defines
from edged.engine.variants.pixelwise import pixelwise
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Add


def _launches(site: Site[Add], parameters: Parameters) -> tuple[Launch, ...]:
    return (pixelwise("add", site, activation_defines(site.operator.activation)),)


ADD = Variant("add", _launches)
