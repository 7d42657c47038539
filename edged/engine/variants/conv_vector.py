"""A tile of pixels in the registers of a CPU with wide vectors: direct convolution, one work-item a work-group."""

import math

from edged.arithmetic import ceil_div
from edged.engine.launch import Launch
from edged.engine.variants.convolution import frame_by_frame, halo_of_window, packed, span, window_defines
from edged.engine.variants.tiles import Tile, count, tiles
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Conv

DRAM_BOUND_PIXELS = 256  # images up to this size use each weight too rarely to hide the wait for it
LINE_BYTES = 64
LINES_AHEAD = 96  # prefetch distance of a single tile in its own stream of weights


def _parameters(site: Site[Conv]) -> tuple[Parameters, ...]:
    """Return the tiles that fill the registers first, each with its rule for prefetching."""
    return tuple(
        {"TILE_H": height, "TILE_W": width, **_prefetch(site, (height, width))}
        for height, width in tiles(site.output.height, site.output.width, site.output.block)
    )


def _count(site: Site[Conv], tile: Tile) -> int:
    return count(site.output.height, site.output.width, tile)


def _prefetch(site: Site[Conv], tile: Tile) -> Parameters:
    """Return how `conv_vector.cl` prefetches weights."""
    source = site.inputs[0]
    if site.device.kind != "cpu" or source.block == 1 or site.pixels > DRAM_BOUND_PIXELS:
        return {"PREFETCH": 0, "AHEAD": 0, "SHARE": 0}
    of_all = _count(site, tile) * (1 if frame_by_frame(site) else site.output.frames)
    lines = ceil_div(source.block * site.output.block * (2 if site.half_weights else 4), LINE_BYTES)
    if of_all == 1:
        return {"PREFETCH": lines, "AHEAD": LINES_AHEAD, "SHARE": 0}
    steps = span(site) * math.prod(site.operator.weight.shape[2:])
    each = ceil_div(lines, of_all)
    return {"PREFETCH": each, "AHEAD": steps * lines, "SHARE": steps * each}


def _launches(site: Site[Conv], parameters: Parameters) -> tuple[Launch, ...]:
    (source, *residual), target = site.inputs, site.output
    return (
        Launch(
            kernel="conv_vector",
            operator=site.operator.name,
            defines={**window_defines(site), **parameters},
            arguments=(source, *packed(site), target, *residual),
            items=_count(site, (parameters["TILE_H"], parameters["TILE_W"])),
            planes=target.blocks,
            frames_last=frame_by_frame(site),
        ),
    )


CONV_VECTOR = Variant("conv_vector", _launches, _parameters, halo_of_window)
