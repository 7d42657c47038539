"""Convolution of steps, one work-item for each output element: right on any layout."""

import numpy as np

from edged.engine.launch import Launch, Weights
from edged.engine.variants.convolution import convolution_defines
from edged.engine.variants.steps import end_defines
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import QuantizedConv


def _launches(site: Site[QuantizedConv], parameters: Parameters) -> tuple[Launch, ...]:
    conv, (source, *residual), target = site.operator, site.inputs, site.output
    return (
        Launch(
            kernel="quantized_naive",
            operator=conv.name,
            defines={**convolution_defines(site), **end_defines(conv)},
            arguments=(
                source,
                Weights(lambda: conv.weight, whole=np.int16),
                Weights(lambda: conv.bias, whole=np.int32),
                Weights(lambda: conv.factor),
                target,
                *residual,
            ),
            items=site.pixels,
            planes=target.blocks * target.block,
            group=min(WORK_GROUP, site.pixels),
        ),
    )


QUANTIZED_NAIVE = Variant("quantized_naive", _launches)
