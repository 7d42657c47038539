"""The backward pass of a convolution; a Dense layer is one of 1×1 over the frames of a batch."""

from itertools import product

from edged.arithmetic import ceil_div
from edged.engine.gradients.grouped_conv import depthwise_gradient, is_depthwise
from edged.engine.gradients.slope import Slope, group, in_shares
from edged.engine.gradients.winograd_weights import input_gradient_site, is_faster, winograd_gradient
from edged.engine.launch import Launch
from edged.engine.layout import Halo, Tensor
from edged.engine.variants.convolution import convolution_defines
from edged.engine.variants.tiles import OVERHEAD, registers, tiles
from edged.engine.variants.variant import Site
from edged.model.graph import Conv

SPARE = 8  # registers of a CPU that hold no sums; with fewer its compiler spills some sums (measured)
IN_FLIGHT = 6  # sums that keep a multiply-add unit busy
SUMS_ON_GPU = 16  # vectors of four that leave a GPU's registers enough work-items at once
PIXELS_ON_GPU = 8


def conv_gradient(slope: Slope[Conv]) -> tuple[Launch, ...]:
    """Return the gradients of weights, bias and, if wanted, of the input."""
    if is_depthwise(Site(slope.operator, (slope.source,), slope.output, slope.device)):
        return depthwise_gradient(slope)
    return *_weight_gradient(slope), *(
        _input_gradient(slope, slope.input_gradient) if slope.input_gradient else ()
    )


def halo_of_given(conv: Conv, source: Tensor, output: Tensor) -> Halo:
    """Return the halo of zeros that the gradient of the input reads around the gradient of the output."""
    (top, bottom), (left, right) = (
        _outside(conv, axis, size, outputs)
        for axis, (size, outputs) in enumerate(((source.height, output.height), (source.width, output.width)))
    )
    return Halo(top, left, bottom, right)


def _outside(conv: Conv, axis: int, size: int, outputs: int) -> tuple[int, int]:
    """Return how far the first and the last pixel of an axis reach beyond the first and last output."""
    window = (conv.weight.shape[2 + axis] - 1) * conv.dilations[axis]
    before = (window - conv.pads[axis]) // conv.strides[axis]
    return max(0, before), max(0, (size - 1 + conv.pads[axis]) // conv.strides[axis] - (outputs - 1))


def _input_gradient(slope: Slope[Conv], input_gradient: Tensor) -> tuple[Launch, ...]:
    weight, launch = _turned_weights(slope, input_gradient)
    site = input_gradient_site(slope, input_gradient)
    if site and is_faster(site):
        return launch, *winograd_gradient(slope, site, weight)
    return launch, _by_phases(slope, input_gradient, weight)


def _turned_weights(slope: Slope[Conv], input_gradient: Tensor) -> tuple[Tensor, Launch]:
    """Return the weights with inputs and outputs exchanged, and the launches that compute them."""
    conv, given = slope.operator, slope.output_gradient
    taps = conv.weight.shape[2] * conv.weight.shape[3]
    pairs = slope.source.blocks * given.blocks
    weight = Tensor(f"{conv.name}:turned", 1, pairs * taps * input_gradient.block * given.block, 1, 1, 1)
    return weight, Launch(
        kernel="turn_weights",
        operator=conv.name,
        defines={**Site(conv, (slope.source,), slope.output, slope.device).tensor_defines(), "TAPS": taps},
        arguments=(slope.parameters["weight"], weight),
        items=pairs * taps,
        group=group(slope, pairs * taps),
    )


def _by_phases(slope: Slope[Conv], input_gradient: Tensor, weight: Tensor) -> Launch:
    """Compute the gradient of the input for any stride: see `conv_input_gradient.cl`."""
    conv, given, device = slope.operator, slope.output_gradient, slope.device
    phases = min(conv.strides[0], input_gradient.height), min(conv.strides[1], input_gradient.width)
    height, width = input_gradient.height // phases[0], input_gradient.width // phases[1]
    most = registers(input_gradient.block) if device.kind == "cpu" else PIXELS_ON_GPU
    rows, columns = (
        ceil_div(input_gradient.height, phases[0]),
        ceil_div(input_gradient.width, phases[1]),
    )  # of the largest phase
    fitting = (
        tile for tile in tiles(rows, columns, input_gradient.block) if tile[0] <= height and tile[1] <= width
    )
    tile = next(tile for tile in fitting if tile[0] * tile[1] <= most)
    items = phases[0] * phases[1] * ceil_div(rows, tile[0]) * ceil_div(columns, tile[1])
    window = convolution_defines(Site(conv, (slope.source,), slope.output, device))
    geometry = input_gradient.defines("OUT") | given.defines("IN")
    shape = {"PHASES_H": phases[0], "PHASES_W": phases[1], "TILE_H": tile[0], "TILE_W": tile[1]}
    return Launch(
        kernel="conv_input_gradient",
        operator=conv.name,
        defines={**window, **geometry, **shape, **slope.ending_defines()},
        arguments=(given, weight, input_gradient, *slope.ending_arguments()),
        items=items,
        planes=input_gradient.blocks,
        group=group(slope, items),
        frames_last=input_gradient.frames > 1,
        frames=input_gradient.frames,
    )


def _weight_gradient(slope: Slope[Conv]) -> tuple[Launch, ...]:
    conv, given, source = slope.operator, slope.output_gradient, slope.source
    site = Site(conv, (source,), given, slope.device)
    kernel_h, kernel_w = conv.weight.shape[2:]
    taps_h, taps_w, part = _sums(slope)
    items = source.blocks * ceil_div(kernel_h, taps_h) * ceil_div(kernel_w, taps_w) * (source.block // part)
    by_share = Launch(
        kernel="conv_weight_gradient",
        operator=conv.name,
        defines={**convolution_defines(site), "TAPS_H": taps_h, "TAPS_W": taps_w, "PART": part},
        arguments=(source, given),
        items=items,
        planes=given.blocks,
        group=group(slope, items),
    )
    return in_shares(slope, by_share, given.blocks * source.blocks * source.block * kernel_h * kernel_w)


def _sums(slope: Slope[Conv]) -> tuple[int, int, int]:
    """Choose rows and columns of taps, and input channels, per work-item, for the fewest instructions."""
    block = slope.source.block
    high, wide = slope.operator.weight.shape[2:]
    most = registers(slope.output_gradient.block) - SPARE if slope.device.kind == "cpu" else SUMS_ON_GPU
    parts = [part for part in (1, 2, 4, 8, 16) if block % part == 0]
    shapes = [s for s in product(range(1, high + 1), range(1, wide + 1), parts) if s[0] * s[1] * s[2] <= most]

    def cost(shape: tuple[int, int, int]) -> float:
        taps_h, taps_w, part = shape
        items: int = ceil_div(high, taps_h) * ceil_div(wide, taps_w) * (block // part)
        return items * (max(taps_h * taps_w * part, IN_FLIGHT) + OVERHEAD)

    return min(shapes, key=cost)
