"""The backward pass of a convolution of each channel by itself."""

from edged.arithmetic import ceil_div
from edged.engine.gradients.gradient_run import gradient_run
from edged.engine.gradients.shares import group, in_shares
from edged.engine.gradients.slope import Slope
from edged.engine.launch import Launch
from edged.engine.layout import Defines
from edged.engine.variants.conv_depthwise import CONV_DEPTHWISE
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
    if slope.wanted is None:
        return launches
    weights = (slope.parameters["weight"],)
    kernel = "depthwise_input_gradient"
    return *launches, gradient_run(kernel, slope, slope.wanted, weights, _window(slope.operator))


def _weight_gradient(slope: Slope[Conv]) -> tuple[Launch, ...]:
    """Keep the sums of as many rows of taps in registers as fit."""
    conv, source, given = slope.operator, slope.source, slope.given
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
    return {
        "KERNEL_H": conv.weight.shape[2],
        "KERNEL_W": conv.weight.shape[3],
        "STRIDE_H": conv.strides[0],
        "STRIDE_W": conv.strides[1],
        "DILATION_H": conv.dilations[0],
        "DILATION_W": conv.dilations[1],
        "PAD_TOP": conv.pads[0],
        "PAD_LEFT": conv.pads[1],
    }
