"""Implicit matrix product with many work-items: every convolution on every device, best for GPUs."""

from edged.engine.launch import Launch
from edged.engine.variants.convolution import packed, window_defines
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Conv


def _parameters(site: Site[Conv]) -> tuple[Parameters, ...]:
    """More pixels a work-item save weight reads; fewer keep a small image's work-items many."""
    enough = site.pixels * site.output.blocks // (4 * WORK_GROUP * site.device.compute_units)
    guess = 4 if enough >= 4 else 2 if enough >= 2 else 1
    return tuple({"TILE": tile} for tile in sorted((1, 2, 4, 8), key=lambda tile: (tile != guess, tile)))


def _launches(site: Site[Conv], parameters: Parameters) -> tuple[Launch, ...]:
    (source, *residual), target = site.inputs, site.output
    items = target.height * -(-target.width // parameters["TILE"])
    return (
        Launch(
            kernel="conv_general",
            operator=site.operator.name,
            defines={**window_defines(site), **parameters},
            arguments=(source, *packed(site), target, *residual),
            items=items,
            planes=target.blocks,
            group=min(WORK_GROUP, items),
        ),
    )


CONV_GENERAL = Variant("conv_general", _launches, _parameters)
