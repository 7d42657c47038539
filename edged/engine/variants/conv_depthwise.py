"""Convolution of each channel by itself, a vector of channels at a time."""

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.engine.launch import Argument, Launch, Weights
from edged.engine.layout import Defines
from edged.engine.variants.convolution import convolution_defines, halo_of_window, pack_bias
from edged.engine.variants.tiles import registers
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Conv, QuantizedConv

AnyConv = Site[Conv] | Site[QuantizedConv]

GPU_TILES = (1, 2, 4)
LATENCY = 4  # sums under way that keep a CPU's multiply-add units busy, beside those of the next tile
OVERHEAD = 1.5  # in multiply-adds: to load a weight and to count
ITEMS_PER_CORE = 16  # work-items that share the work evenly; more of them only cost their start


def is_depthwise(site: AnyConv) -> bool:
    """Return whether each input channel has one output channel, both in blocks of one size."""
    source, target = site.inputs[0], site.output
    return site.operator.groups == source.channels == target.channels and source.block == target.block


def depthwise_parameters(site: AnyConv) -> tuple[Parameters, ...]:
    """Return the tiles by their estimated cost, and how many rows a work-item computes: on a GPU one."""
    width, height = site.output.width, site.output.height
    if site.device.kind != "cpu":
        return tuple({"TILE": tile, "BAND": 1} for tile in GPU_TILES if tile <= width)
    fitting = range(1, min(width, registers(site.output.block) - 4) + 1)
    tiles = sorted(fitting, key=lambda tile: (ceil_div(width, tile) * (max(tile, LATENCY) + OVERHEAD), tile))
    wanted = ceil_div(ITEMS_PER_CORE * site.device.compute_units, site.output.blocks * site.output.frames)
    # first the most rows that leave enough work-items for all cores
    bands = dict.fromkeys((max(1, height // wanted), 1, ceil_div(height, 4), height))
    return tuple({"TILE": tile, "BAND": band} for tile, band in product(tiles[:4], bands))


def _launches(site: Site[Conv], parameters: Parameters) -> tuple[Launch, ...]:
    (source, *residual), target = site.inputs, site.output
    weights, bias = Weights(lambda: pack_depthwise(site), site.half_weights), Weights(lambda: pack_bias(site))
    arguments: tuple[Argument, ...] = (source, weights, bias, target, *residual)
    return (depthwise_launch("conv_depthwise", site, parameters, convolution_defines(site), arguments),)


def depthwise_launch(
    kernel: str, site: AnyConv, parameters: Parameters, defines: Defines, arguments: tuple[Argument, ...]
) -> Launch:
    """Return the launch of a kernel that includes `depthwise_tile.cl`."""
    is_cpu, target = site.device.kind == "cpu", site.output
    run = target.width if is_cpu else parameters["TILE"]
    items = ceil_div(target.height, parameters["BAND"]) * ceil_div(target.width, run)
    return Launch(
        kernel=kernel,
        operator=site.operator.name,
        defines={**defines, **parameters, "RUN": run, "IS_CPU": int(is_cpu)},
        arguments=arguments,
        items=items,
        planes=target.blocks,
        group=1 if is_cpu else min(WORK_GROUP, items),
    )


def pack_depthwise(site: AnyConv) -> NDArray[Any]:
    """Pack weights as [block][ky][kx][channel of the block], zero beyond the last channel."""
    weight, target = site.operator.weight, site.output
    packed = np.zeros((target.blocks * target.block, *weight.shape[2:]), weight.dtype)
    packed[: len(weight)] = weight[:, 0]
    split = packed.reshape(target.blocks, target.block, *weight.shape[2:])
    return np.ascontiguousarray(split.transpose(0, 2, 3, 1))


CONV_DEPTHWISE = Variant("conv_depthwise", _launches, depthwise_parameters, halo_of_window, is_depthwise)
