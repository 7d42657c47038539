"""A tile of pixels in the registers of a CPU with wide vectors: direct convolution, one work-item a work-group."""

from edged.arithmetic import ceil_div
from edged.engine.launch import Launch
from edged.engine.variants.convolution import convolution_defines, frame_by_frame, halo_of_window, packed
from edged.engine.variants.prefetch import prefetch
from edged.engine.variants.tiles import AVX, Tile, cost, count, tiles, together, work_items
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Conv

MOST_OUTS = 4  # output blocks; more leave too few registers for pixels


def _parameters(site: Site[Conv]) -> tuple[Parameters, ...]:
    """Return the tiles that fill the registers first, each with its rule for prefetching."""
    target = site.output
    # output blocks that may share what they read of the input
    several = range(1, min(MOST_OUTS, target.blocks) + 1) if site.operator.groups == 1 else range(1, 2)
    shapes = [(outs, tile) for outs in several for tile in tiles(target.height, target.width, target.block, outs)]
    shapes.sort(key=lambda shape: _cost(site, *shape))
    return tuple(
        {
            "OUTS": outs,
            "TILE_H": height,
            "TILE_W": width,
            "TILE_RUN": together(site, outs, (height, width)),
            **prefetch(site, outs, (height, width), 2 if site.half_weights else 4),
        }
        for outs, (height, width) in shapes
    )


def _cost(site: Site[Conv], outs: int, tile: Tile) -> tuple[bool, float]:
    """Estimate the cost; several output blocks are for AVX alone, unless a tuner measures otherwise."""
    times = _count(site, tile) * ceil_div(site.output.blocks, outs)
    return outs > 1 and site.output.block < AVX, times * cost(tile, site.output.block, outs)


def _count(site: Site[Conv], tile: Tile) -> int:
    return count(site.output.height, site.output.width, tile)


def _launches(site: Site[Conv], parameters: Parameters) -> tuple[Launch, ...]:
    (source, *residual), target = site.inputs, site.output
    return (
        Launch(
            kernel="conv_vector",
            operator=site.operator.name,
            defines={**convolution_defines(site), **parameters},
            arguments=(source, *packed(site), target, *residual),
            items=work_items(target, parameters),
            planes=ceil_div(target.blocks, parameters["OUTS"]),
            frames_last=frame_by_frame(site),
        ),
    )


CONV_VECTOR = Variant("conv_vector", _launches, _parameters, halo_of_window)
