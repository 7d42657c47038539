"""Train convolutions of groups: depthwise ones by kernels of their own, others as ones of all channels."""

from dataclasses import replace

import numpy as np

from edged.arithmetic import ceil_div
from edged.engine.gradients.slope import Slope, gradient_run, group, in_shares
from edged.engine.gradients.update import update
from edged.engine.launch import Launch, Weights
from edged.engine.layout import Defines, window_defines
from edged.engine.variants.conv_depthwise import CONV_DEPTHWISE
from edged.engine.variants.convolution import pack_weights
from edged.engine.variants.tiles import registers
from edged.engine.variants.variant import Site
from edged.model.graph import Conv

SPARE = 8  # registers of a CPU that hold no sums
SUMS_ON_GPU = 16


def is_depthwise(site: Site[Conv]) -> bool:
    """Return whether a convolution is trained by the kernels of depthwise ones."""
    return site.operator.groups > 1 and CONV_DEPTHWISE.can_compute(site)


def depthwise_gradient(slope: Slope[Conv]) -> tuple[Launch, ...]:
    """Return the gradients of weights, bias and, if wanted, of the input."""
    launches = _weight_gradient(slope)
    if slope.input_gradient is None:
        return launches
    weights = (slope.parameters["weight"],)
    kernel = "depthwise_input_gradient"
    return *launches, gradient_run(kernel, slope, slope.input_gradient, weights, _window(slope.operator))


def _weight_gradient(slope: Slope[Conv]) -> tuple[Launch, ...]:
    """Keep the sums of as many rows of taps in registers as fit."""
    conv, source, given = slope.operator, slope.source, slope.output_gradient
    high, wide = conv.weight.shape[2:]
    most = registers(given.block) - SPARE if slope.device.kind == "cpu" else SUMS_ON_GPU
    rows = max(1, min(high, most // wide))
    items = ceil_div(high, rows)
    by_share = Launch(
        kernel="depthwise_weight_gradient",
        operator=conv.name,
        defines={**source.defines("IN"), **given.defines("OUT"), **_window(conv), "TAPS_H": rows},
        arguments=(source, given),
        items=items,
        planes=given.blocks,
        group=group(slope, items),
    )
    return in_shares(slope, by_share, given.blocks * high * wide)


def _window(conv: Conv) -> Defines:
    high, wide = conv.weight.shape[2:]
    return window_defines((high, wide), conv.strides, conv.pads, conv.dilations)


def ungrouped(conv: Conv) -> Conv:
    """Return the same convolution with one group: weights [out, in, kernel height, kernel width]."""
    outputs, inputs, *kernel = conv.weight.shape
    weight = np.zeros((conv.groups, outputs // conv.groups, conv.groups, inputs, *kernel), conv.weight.dtype)
    for number, own in enumerate(np.split(conv.weight, conv.groups)):
        weight[number, :, number] = own
    return replace(conv, weight=weight.reshape(outputs, -1, *kernel), groups=1)


def within_groups(conv: Conv, slope: Slope[Conv]) -> Launch:
    """Return the launch that sets gradients of weights between the groups of `conv` to zero.

    slope: of `conv` without groups. A weight that begins as zero then stays zero.
    """
    gradient, device = slope.gradients["weight"], slope.device
    site = Site(ungrouped(replace(conv, weight=np.ones_like(conv.weight))), (slope.source,), slope.output, device)
    own = Weights(lambda: pack_weights(site))
    return update("within_groups", (gradient, own), 0, gradient.nbytes // 4, device, {})
