"""Train convolutions of groups as ones of all channels, whose weights between groups stay zero."""

from dataclasses import replace

import numpy as np

from edged.engine.gradients.slope import Slope
from edged.engine.gradients.update import update
from edged.engine.launch import Launch, Weights
from edged.engine.variants.convolution import pack_weights
from edged.engine.variants.variant import Site
from edged.model.graph import Conv


def ungrouped(conv: Conv) -> Conv:
    """Return the same convolution with one group: weights [out, in, kernel height, kernel width]."""
    outputs, inputs, *kernel = conv.weight.shape
    weight = np.zeros((conv.groups, outputs // conv.groups, conv.groups, inputs, *kernel), conv.weight.dtype)
    for group, own in enumerate(np.split(conv.weight, conv.groups)):
        weight[group, :, group] = own
    return replace(conv, weight=weight.reshape(outputs, -1, *kernel), groups=1)


def within_groups(conv: Conv, slope: Slope[Conv]) -> Launch:
    """Return the launch that sets gradients of weights between the groups of `conv` to zero.

    slope: of `conv` without groups. A weight that begins as zero then stays zero.
    """
    gradient, device = slope.gradients["weight"], slope.device
    site = Site(ungrouped(replace(conv, weight=np.ones_like(conv.weight))), (slope.source,), slope.output, device)
    own = Weights(lambda: pack_weights(site))
    return update("within_groups", (gradient, own), 0, gradient.nbytes // 4, device, {})
