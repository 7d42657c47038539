"""Some of a tensor's channels, or all, in another order."""

import numpy as np

from edged.engine.launch import Launch, Weights
from edged.engine.variants.pixelwise import same_blocks, with_constants
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import SelectChannels


def _launches(site: Site[SelectChannels], parameters: Parameters) -> tuple[Launch, ...]:
    order = site.operator.order
    is_in_a_row = same_blocks(site) and order == tuple(range(order[0], order[0] + len(order)))
    defines = {"FIRST_CHANNEL": order[0] if is_in_a_row else -1}
    return (with_constants("select_channels", site, Weights(lambda: np.array(order, np.float32)), defines),)


SELECT_CHANNELS = Variant("select_channels", _launches)
