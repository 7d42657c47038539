"""max(x, 0), if it could not be fused into the operator before it."""

from edged.engine.launch import Launch
from edged.engine.variants.pixelwise import pixelwise
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Relu


def _launches(site: Site[Relu], parameters: Parameters) -> tuple[Launch, ...]:
    return (pixelwise("relu", site),)


RELU = Variant("relu", _launches)
