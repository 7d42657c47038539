"""Implicit matrix product with many work-items: computes every convolution on every device, best for GPUs."""

import re
from itertools import product

from edged.arithmetic import ceil_div
from edged.engine.device import Device
from edged.engine.launch import Launch
from edged.engine.variants.convolution import convolution_defines, halo_of_window, packed
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Conv

TILES = (1, 2, 4, 8)
TILES_OF_EIGHT = (1, 2, 3, 4, 8)  # pixels of eight channels
OUTS = (1, 2, 4)
GROUPS = (WORK_GROUP, 16, 32, 128, 256)
# vectors of sums that leave a GPU's registers enough work-items at once; more are for the tuner only
MOST_SUMS = 8
# Largest tiles, TILE×OUTS, of blocks of so many channels, that Mesa's compilers keep in registers of Midgard, of
# Bifrost and Valhall, and of VideoCore, and that cost fewest cycles there (docs/explanation/mali.md). No board has
# run them.
TILES_IN_REGISTERS = (
    (r"mali-t", 4, ((4, 1),)),
    (r"mali-g", 4, ((8, 1), (4, 2))),
    (r"mali-", 8, ((3, 1),)),
    (r"^v3d ", 4, ((4, 1),)),
)
# Work-items that keep one compute unit busy while others wait for memory. Midgard's registers hold no more of such
# tiles; Bifrost and Valhall compute on a step of so many for longer than a load takes (docs/explanation/mali.md).
IN_FLIGHT = 4 * WORK_GROUP
IN_FLIGHT_OF_FAMILY = ((r"mali-t", WORK_GROUP), (r"mali-g", 2 * WORK_GROUP))


def _parameters(site: Site[Conv]) -> tuple[Parameters, ...]:
    """Return the tile shapes by their estimated cost, then all again by work-group."""
    outs = OUTS if site.operator.groups == 1 else (1,)
    tiles = TILES_OF_EIGHT if site.output.block == 8 else TILES
    shapes = [(t, o) for t, o in product(tiles, outs) if t <= site.output.width and o <= site.output.blocks]
    shapes.sort(key=lambda shape: _cost(site, *shape))
    return tuple({"TILE": t, "OUTS": o, "GROUP": group} for group in GROUPS for t, o in shapes)


def _cost(site: Site[Conv], tile: int, outs: int) -> tuple[bool, float]:
    """Estimate the cost: rounds of work-items on the device × instructions of one for four input channels."""
    at_once = _in_flight(site.device) * site.device.compute_units
    rounds = max(1.0, _items(site, tile, outs) * site.output.frames / at_once)
    multiplications, loads = 4 * tile * outs, tile + 4 * outs
    return not fits_registers(site, tile, outs), rounds * (multiplications + loads)


def _in_flight(device: Device) -> int:
    name = device.name.casefold()
    return next((number for family, number in IN_FLIGHT_OF_FAMILY if re.search(family, name)), IN_FLIGHT)


def fits_registers(site: Site[Conv], tile: int, outs: int) -> bool:
    """Return whether the sums of a tile leave the GPU's registers enough room."""
    for name, block, largest in TILES_IN_REGISTERS:
        if block == site.output.block and re.search(name, site.device.name.casefold()):
            return any(tile <= widest and outs <= most_outs for widest, most_outs in largest)
    return tile * outs <= MOST_SUMS


def accesses(site: Site[Conv], parameters: Parameters, steps: int) -> int:
    """Count the loads of pixels and weight vectors in `steps` steps of all work-items of a frame."""
    tile, outs = parameters["TILE"], parameters["OUTS"]
    return _items(site, tile, outs) * steps * (tile + outs * site.output.block)


def _items(site: Site[Conv], tile: int, outs: int) -> int:
    return site.output.height * ceil_div(site.output.width, tile) * ceil_div(site.output.blocks, outs)


def _launches(site: Site[Conv], parameters: Parameters) -> tuple[Launch, ...]:
    (source, *residual), target = site.inputs, site.output
    shape = {name: parameters[name] for name in ("TILE", "OUTS")}
    items = _items(site, shape["TILE"], shape["OUTS"])
    return (
        Launch(
            kernel="conv_general",
            operator=site.operator.name,
            defines={**convolution_defines(site), **shape},
            arguments=(source, *packed(site), target, *residual),
            items=items,
            group=min(parameters["GROUP"], items),
        ),
    )


CONV_GENERAL = Variant("conv_general", _launches, _parameters, halo_of_window)
