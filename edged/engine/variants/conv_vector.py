"""A tile of pixels in the registers of a CPU with wide vectors: direct convolution, one work-item a work-group."""

import math

from edged.arithmetic import ceil_div
from edged.engine.launch import Launch
from edged.engine.variants.convolution import frame_by_frame, halo_of_window, packed, span, window_defines
from edged.engine.variants.tiles import Tile, cost, count, registers, tiles
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Conv

DRAM_BOUND_PIXELS = 256  # images up to this size use each weight too rarely to hide the wait for it
LINE_BYTES = 64
SCATTERED_BLOCKS = 16  # of the input, from which on pixels are prefetched; measured: fewer gain nothing
MOST_OUTS = 4  # output blocks; more leave too few registers for pixels
LINES_AHEAD = 96  # prefetch distance of a single tile in its own stream of weights


def _parameters(site: Site[Conv]) -> tuple[Parameters, ...]:
    """Return the tiles that fill the registers first, each with its rule for prefetching."""
    target = site.output
    shapes = [
        (outs, tile) for outs in _outs(site) for tile in tiles(target.height, target.width, target.block, outs)
    ]
    shapes.sort(key=lambda shape: _cost(site, *shape))
    return tuple(
        {"OUTS": outs, "TILE_H": height, "TILE_W": width, **_prefetch(site, outs, (height, width))}
        for outs, (height, width) in shapes
    )


def _outs(site: Site[Conv]) -> range:
    """Return how many output blocks may share what they read of the input."""
    return range(1, min(MOST_OUTS, site.output.blocks) + 1) if site.operator.groups == 1 else range(1, 2)


def _cost(site: Site[Conv], outs: int, tile: Tile) -> tuple[bool, float]:
    """Estimate the cost; several output blocks are for few registers alone, unless a tuner measures otherwise."""
    times = _count(site, tile) * ceil_div(site.output.blocks, outs)
    return outs > 1 and registers(site.output.block) > 16, times * cost(tile, site.output.block, outs)


def _count(site: Site[Conv], tile: Tile) -> int:
    return count(site.output.height, site.output.width, tile)


def _prefetch(site: Site[Conv], outs: int, tile: Tile) -> Parameters:
    """Return how `conv_vector.cl` prefetches weights and pixels."""
    if site.device.kind != "cpu" or site.inputs[0].block == 1:
        return {"PREFETCH": 0, "AHEAD": 0, "SHARE": 0, "NEXT_PIXELS": 0}
    return {**_prefetch_weights(site, outs, tile), "NEXT_PIXELS": int(_is_scattered(site))}


def _is_scattered(site: Site[Conv]) -> bool:
    """Return whether a tile reads few pixels in each of many places."""
    return site.operator.weight.shape[2:] == (1, 1) and span(site) >= SCATTERED_BLOCKS


def _prefetch_weights(site: Site[Conv], outs: int, tile: Tile) -> Parameters:
    source = site.inputs[0]
    if site.pixels > DRAM_BOUND_PIXELS:
        return {"PREFETCH": 0, "AHEAD": 0, "SHARE": 0}
    of_all = _count(site, tile) * (1 if frame_by_frame(site) else site.output.frames)
    lines = ceil_div(source.block * site.output.block * (2 if site.half_weights else 4), LINE_BYTES)
    if of_all == 1:
        return {"PREFETCH": lines, "AHEAD": LINES_AHEAD, "SHARE": 0}
    steps = span(site) * math.prod(site.operator.weight.shape[2:])
    each = ceil_div(lines, of_all)
    return {"PREFETCH": each, "AHEAD": outs * steps * lines, "SHARE": steps * each}


def _launches(site: Site[Conv], parameters: Parameters) -> tuple[Launch, ...]:
    (source, *residual), target = site.inputs, site.output
    return (
        Launch(
            kernel="conv_vector",
            operator=site.operator.name,
            defines={**window_defines(site), **parameters},
            arguments=(source, *packed(site), target, *residual),
            items=_count(site, (parameters["TILE_H"], parameters["TILE_W"])),
            planes=ceil_div(target.blocks, parameters["OUTS"]),
            frames_last=frame_by_frame(site),
        ),
    )


CONV_VECTOR = Variant("conv_vector", _launches, _parameters, halo_of_window)
