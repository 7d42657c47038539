"""Each value divided by what the channels around its own hold."""

import numpy as np

from edged.engine.launch import Launch, Weights
from edged.engine.variants.pixelwise import with_constants
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import LocalResponseNorm


def _launches(site: Site[LocalResponseNorm], parameters: Parameters) -> tuple[Launch, ...]:
    norm = site.operator
    numbers = Weights(lambda: np.array([norm.bias, norm.alpha / norm.size, norm.beta], np.float32))
    return (with_constants("local_response_norm", site, numbers, {"SIZE": norm.size}),)


LOCAL_RESPONSE_NORM = Variant("local_response_norm", _launches)
