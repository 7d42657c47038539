"""Maximum over a window."""

from edged.engine.launch import Launch
from edged.engine.variants.pixelwise import pixelwise, pool_defines
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import MaxPool


def _launches(site: Site[MaxPool], parameters: Parameters) -> tuple[Launch, ...]:
    return (pixelwise("max_pool", site, pool_defines(site.operator)),)


MAX_POOL = Variant("max_pool", _launches)
