"""What a convolution with tiles in registers has the cache fetch before it is needed, on a CPU."""

import math

from edged.arithmetic import ceil_div
from edged.engine.variants.convolution import frame_by_frame, span
from edged.engine.variants.tiles import Tile, count
from edged.engine.variants.variant import Parameters, Site
from edged.model.graph import Conv, QuantizedConv

DRAM_BOUND_PIXELS = 256  # images up to this size use each weight too rarely to hide the wait for it
LINE_BYTES = 64
SCATTERED_BLOCKS = 16  # of the input, from which on pixels are prefetched; measured: fewer gain nothing
LINES_AHEAD = 96  # prefetch distance of a single tile in its own stream of weights


def prefetch(site: Site[Conv] | Site[QuantizedConv], outs: int, tile: Tile, weight_bytes: int) -> Parameters:
    """Return how `conv_vector.cl` prefetches weights, each of so many bytes, and pixels."""
    if site.device.kind != "cpu" or site.inputs[0].block == 1:
        return {"PREFETCH": 0, "AHEAD": 0, "SHARE": 0, "NEXT_PIXELS": 0}
    # a tile reads few pixels in each of many places
    is_scattered = site.operator.weight.shape[2:] == (1, 1) and span(site) >= SCATTERED_BLOCKS
    return {**_weights(site, outs, tile, weight_bytes), "NEXT_PIXELS": int(is_scattered)}


def _weights(site: Site[Conv] | Site[QuantizedConv], outs: int, tile: Tile, weight_bytes: int) -> Parameters:
    source, target = site.inputs[0], site.output
    if site.pixels > DRAM_BOUND_PIXELS:
        return {"PREFETCH": 0, "AHEAD": 0, "SHARE": 0}
    of_all = count(target.height, target.width, tile) * (1 if frame_by_frame(site) else target.frames)
    lines = ceil_div(source.block * target.block * weight_bytes, LINE_BYTES)
    if of_all == 1:
        return {"PREFETCH": lines, "AHEAD": LINES_AHEAD, "SHARE": 0}
    steps = span(site) * math.prod(site.operator.weight.shape[2:])
    each = ceil_div(lines, of_all)
    return {"PREFETCH": each, "AHEAD": outs * steps * lines, "SHARE": steps * each}
