"""Convolution of steps, one work-item for each output element: right on any layout."""

import numpy as np

from edged.engine.launch import Launch, Weights
from edged.engine.variants.convolution import window_defines
from edged.engine.variants.steps import bounds_defines
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import QuantizedConv


def _launches(site: Site[QuantizedConv], parameters: Parameters) -> tuple[Launch, ...]:
    conv, target = site.operator, site.output
    return (
        Launch(
            kernel="quantized_naive",
            operator=conv.name,
            defines={**window_defines(site), **bounds_defines(conv.bounds)},
            arguments=(
                site.inputs[0],
                Weights(lambda: conv.weight, whole=np.int16),
                Weights(lambda: conv.bias, whole=np.int32),
                Weights(lambda: conv.factor),
                target,
            ),
            items=site.pixels,
            planes=target.blocks * target.block,
            group=min(WORK_GROUP, site.pixels),
        ),
    )


QUANTIZED_NAIVE = Variant("quantized_naive", _launches)
