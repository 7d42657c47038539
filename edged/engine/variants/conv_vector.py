"""A tile of pixels in the registers of a CPU with wide vectors: direct convolution, one work-item a work-group."""

import math

from edged.engine.launch import Launch
from edged.engine.variants.convolution import frame_by_frame, halo_of_window, packed, span, window_defines
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Conv

Tile = tuple[int, int]

OVERHEAD = 1.5  # in multiply-adds: to load a weight and to count
LATENCY = 8  # sums in flight that keep two multiply-add units busy for their four cycles
DRAM_BOUND_PIXELS = 256  # images up to this size use each weight too rarely to hide the wait for it
LINE_BYTES = 64
LINES_AHEAD = 96  # how far a single tile asks ahead in its own stream of weights


def _parameters(site: Site[Conv]) -> tuple[Parameters, ...]:
    """Tiles that fill the registers first, with the rule for prefetching that goes with each."""
    return tuple(
        {"TILE_H": height, "TILE_W": width, **_prefetch(site, (height, width))}
        for height, width in sorted(_tiles(site), key=lambda tile: _cost(site, tile))
    )


def _tiles(site: Site[Conv]) -> list[Tile]:
    """Those that fit into the image and into the registers."""
    height, width = site.output.height, site.output.width
    most = _registers(site) - 2
    return [(h, w) for h in range(1, min(height, 6) + 1) for w in range(1, min(width, most) + 1) if h * w <= most]


def _registers(site: Site[Conv]) -> int:
    """Vector registers of the instruction set with this width: AVX has 16, AVX-512 and 64-bit NEON have 32."""
    return 16 if site.output.block == 8 else 32


def _cost(site: Site[Conv], tile: Tile) -> tuple[float, int, int]:
    """Instructions for one channel of the whole image; where equal, the flattest tile.

    A tile of n pixels takes n multiply-adds, one load of a weight, and some overhead that it shares among them.
    """
    height, width = tile
    return _count(site, tile) * (max(height * width, LATENCY) + OVERHEAD), height, width


def _count(site: Site[Conv], tile: Tile) -> int:
    return -(-site.output.height // tile[0]) * -(-site.output.width // tile[1])


def _prefetch(site: Site[Conv], tile: Tile) -> Parameters:
    """How `conv_vector.cl` asks for weights ahead of use."""
    source = site.inputs[0]
    if site.device.kind != "cpu" or source.block == 1 or site.pixels > DRAM_BOUND_PIXELS:
        return {"PREFETCH": 0, "AHEAD": 0, "SHARE": 0}
    tiles = _count(site, tile) * (1 if frame_by_frame(site) else site.output.frames)
    lines = -(-source.block * site.output.block * (2 if site.half_weights else 4) // LINE_BYTES)
    if tiles == 1:
        return {"PREFETCH": lines, "AHEAD": LINES_AHEAD, "SHARE": 0}
    steps = span(site) * math.prod(site.operator.weight.shape[2:])
    each = -(-lines // tiles)
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
