"""A matrix product of two computed tensors for each row: a tile of sums in registers."""

from edged.arithmetic import ceil_div
from edged.engine.launch import Launch
from edged.engine.layout import float_bits
from edged.engine.variants.pixelwise import same_blocks
from edged.engine.variants.tiles import tiles
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Product

GPU_TILES = (4, 2, 1)


def _parameters(site: Site[Product]) -> tuple[Parameters, ...]:
    """Return the tiles of one row, the best guess first."""
    width = site.output.width
    if site.device.kind != "cpu":
        return tuple({"TILE": tile} for tile in GPU_TILES if tile <= width)
    return tuple({"TILE": columns} for _, columns in tiles(1, width, site.output.block))


def _launches(site: Site[Product], parameters: Parameters) -> tuple[Launch, ...]:
    items = site.output.height * ceil_div(site.output.width, parameters["TILE"])
    return (
        Launch(
            kernel="product",
            operator=site.operator.name,
            defines={**site.tensor_defines(), **parameters, "FACTOR": float_bits(site.operator.factor)},
            arguments=(*site.inputs, site.output),
            items=items,
            planes=site.output.blocks,
            group=1 if site.device.kind == "cpu" else min(WORK_GROUP, items),
        ),
    )


PRODUCT = Variant("product", _launches, _parameters, can_compute=same_blocks)
