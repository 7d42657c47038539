"""Some of a tensor's channels, or all, in another order."""

import numpy as np

from edged.engine.launch import Launch, Weights
from edged.engine.variants.pixelwise import with_constants
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import SelectChannels


def _launches(site: Site[SelectChannels], parameters: Parameters) -> tuple[Launch, ...]:
    order = site.operator.order
    return (with_constants("select_channels", site, Weights(lambda: np.array(order, np.float32))),)


SELECT_CHANNELS = Variant("select_channels", _launches)
