"""3 × 3 convolution with fewer multiplications, for CPUs with wide vectors: Winograd's minimal filtering."""

import math

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.engine.launch import Launch, Weights
from edged.engine.layout import Tensor
from edged.engine.variants.convolution import convolution_defines, frame_by_frame, halo_of_window, pack_bias
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Conv, Float32

POINTS = {2: (0.0, 1.0, -1.0), 4: (0.0, math.sqrt(0.5), -math.sqrt(0.5), math.sqrt(2), -math.sqrt(2))}
"""Where `winograd.cl` multiplies polynomials, by outputs in a row; ∞ is one more point."""

# All costs are counted in multiply-adds of one vector, on all cores, for one input channel and one output block.
OVERHEAD = 1.5  # to load a weight and to count
LATENCY = 8  # sums in flight that keep two multiply-add units busy for their four cycles
WAIT = 16  # until a vector of weights arrives from memory; half for half-stored ones
TRANSFORM = {2: 60, 4: 250}  # for one tile of one block, of the input or of the output
LAUNCH = 60_000  # to start one more kernel; independent of the channels


def can_compute(site: Site[Conv]) -> bool:
    """Return whether it is a 3 × 3 convolution without gaps, on an image with room for a tile."""
    conv, target = site.operator, site.output
    plain = conv.strides == conv.dilations == (1, 1) and conv.groups == 1
    same_block = site.inputs[0].block == target.block > 1
    return conv.weight.shape[2:] == (3, 3) and plain and same_block and min(target.height, target.width) >= 2


def is_profitable(site: Site[Conv]) -> bool:
    """Return whether it is faster than direct convolution: saved multiplications against transforms and weights.

    There are 16/9 or 4 times as many weights. A small image uses each too rarely to hide its latency.
    """
    direct = 9 * max(1.1 * site.pixels * site.output.frames, _wait(site))
    return _cost(site, _parameters(site)[0]) < direct


def _parameters(site: Site[Conv]) -> tuple[Parameters, ...]:
    """Return groups of tiles that fill the registers: many small tiles, or few large ones."""
    most = (16 if site.output.block == 8 else 32) - 2  # registers left beside a weight and a float of the input
    fitting = [
        {"OUTPUT": output, "TILES": tiles}
        for output in POINTS
        if output <= min(site.output.height, site.output.width)
        for tiles in range(1, min(_count(site, output), most) + 1)
    ]
    return tuple(sorted(fitting, key=lambda parameters: _cost(site, parameters)))


def _cost(site: Site[Conv], parameters: Parameters) -> float:
    """Estimate the cost: products of all frequencies, transforms, which other channels share, and a launch."""
    source, target, output, tiles = site.inputs[0], site.output, parameters["OUTPUT"], parameters["TILES"]
    groups = ceil_div(_count(site, output), tiles) * target.frames
    products = (output + 2) ** 2 * max(groups * (max(tiles, LATENCY) + OVERHEAD), _wait(site))
    transforms = groups * tiles * TRANSFORM[output] * (1 / source.channels + 1 / target.channels)
    return products + transforms + LAUNCH / (source.channels * target.blocks)


def _wait(site: Site[Conv]) -> float:
    return WAIT / 2 if site.half_weights else WAIT


def _count(site: Site[Conv], output: int) -> int:
    """Count the tiles of the image."""
    return ceil_div(site.output.height, output) * ceil_div(site.output.width, output)


def _launches(site: Site[Conv], parameters: Parameters) -> tuple[Launch, ...]:
    (source, *residual), target, name = site.inputs, site.output, site.operator.name
    output, tiles = parameters["OUTPUT"], parameters["TILES"]
    groups = ceil_div(_count(site, output), tiles)
    frequencies = Tensor(
        f"{name}.frequencies", source.frames, source.channels, (output + 2) ** 2, groups * tiles, source.block
    )
    weights = Weights(lambda: pack_weights(site, output), site.half_weights)
    bias = Weights(lambda: pack_bias(site))
    defines = {**convolution_defines(site), **parameters}
    return (
        Launch("conv_winograd_input", name, defines, (source, frequencies), groups, source.blocks),
        Launch(
            "conv_winograd",
            name,
            defines,
            (frequencies, weights, bias, target, *residual),
            groups,
            target.blocks,
            frames_last=frame_by_frame(site),
        ),
    )


def pack_weights(site: Site[Conv], output: int) -> Float32:
    """Pack weights, G w Gᵀ, as [out block][frequency][input channel][channel of out block], with zeros added."""
    values = window_values(output)
    weight = site.operator.weight.astype(np.float64)
    outputs, inputs, source, target = *weight.shape[:2], site.inputs[0], site.output
    packed = np.zeros((target.blocks * target.block, source.blocks * source.block, (output + 2) ** 2), np.float32)
    packed[:outputs, :inputs] = (values @ weight @ values.T).reshape(outputs, inputs, -1)
    split = packed.reshape(target.blocks, target.block, -1, (output + 2) ** 2)
    return np.ascontiguousarray(split.transpose(0, 3, 2, 1))


def window_values(output: int) -> NDArray[np.float64]:
    """Return G of the paper, [point][x]: a window's row as a polynomial at the points.

    At ∞ it is the highest coefficient. It is divided by the denominators of Lagrange's formula.
    """
    points = POINTS[output]
    rows = [[p**i / math.prod(p - q for q in points if q != p) for i in range(3)] for p in points]
    return np.array([*rows, [0.0, 0.0, 1.0]])


CONV_WINOGRAD = Variant("conv_winograd", _launches, _parameters, halo_of_window, can_compute)
