"""Convolution of steps of each channel by itself, a vector of channels at a time, in floats that are exact."""

import numpy as np

from edged.engine.launch import Argument, Launch, Weights
from edged.engine.variants.conv_depthwise import (
    depthwise_launch,
    depthwise_parameters,
    is_depthwise,
    pack_depthwise,
)
from edged.engine.variants.convolution import convolution_defines, halo_of_window, pack_by_channel
from edged.engine.variants.steps import end_defines
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import QuantizedConv

LARGEST_EXACT = 2**24  # of whole numbers in float32
MOST_STEPS = 255  # of a weight, and of the input, from zero


def _can_compute(site: Site[QuantizedConv]) -> bool:
    conv = site.operator
    *_, height, width = conv.weight.shape
    largest = height * width * MOST_STEPS**2 + int(np.abs(conv.bias.astype(np.int64)).max(initial=0))
    return is_depthwise(site) and largest <= LARGEST_EXACT


def _launches(site: Site[QuantizedConv], parameters: Parameters) -> tuple[Launch, ...]:
    conv, (source, *residual), target = site.operator, site.inputs, site.output
    defines = {**convolution_defines(site), **end_defines(conv), "WEIGHTS_TYPE": 0}
    arguments: tuple[Argument, ...] = (
        source,
        Weights(lambda: pack_depthwise(site)),
        Weights(lambda: pack_by_channel(site, conv.bias)),
        Weights(lambda: pack_by_channel(site, conv.factor)),
        target,
        *residual,
    )
    return (depthwise_launch("quantized_depthwise", site, parameters, defines, arguments),)


QUANTIZED_DEPTHWISE = Variant("quantized_depthwise", _launches, depthwise_parameters, halo_of_window, _can_compute)
