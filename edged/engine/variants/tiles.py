"""How many pixels a work-item keeps in the registers of a CPU with wide vectors."""

from edged.arithmetic import ceil_div
from edged.engine.layout import Tensor
from edged.engine.variants.variant import Parameters, Site
from edged.model.graph import Conv, QuantizedConv

Tile = tuple[int, int]

OVERHEAD = 1.5  # in multiply-adds: to load a weight and to count
LATENCY = 8  # sums in flight that keep two multiply-add units busy for their four cycles
LOAD = 0.5  # in multiply-adds: to broadcast a float of the input, or load one more weight
ITEMS_PER_CORE = 32  # work-items that share a layer evenly
AVX = 8  # floats in a vector from which on a multiply-add takes no lane of another vector: NEON's does


def tiles(height: int, width: int, block: int, outs: int = 1) -> list[Tile]:
    """Return the (rows, columns) that fit into the image and, for `outs` output blocks, into the registers.

    The fastest come first; of equal ones the flattest tile is first.
    """
    most = (registers(block) - 1 - outs) // outs
    fitting = [
        (h, w) for h in range(1, min(height, 6) + 1) for w in range(1, min(width, most) + 1) if h * w <= most
    ]
    return sorted(fitting, key=lambda tile: (count(height, width, tile) * cost(tile, block, outs), *tile))


def cost(tile: Tile, block: int, outs: int = 1) -> float:
    """Estimate the multiply-adds that a tile costs for one input channel of `outs` output blocks.

    With AVX each number of the input is broadcast from memory: once for all `outs`. Measured on Zen 5 (AVX-512):
    two output blocks at a time take 0.90 of the time in ResNet-50, 0.95 in EfficientNet-Lite0.
    """
    pixels = tile[0] * tile[1]
    loads = LOAD * (pixels + outs) if block >= AVX else 0
    return max(pixels * outs, LATENCY) + OVERHEAD + loads


def count(height: int, width: int, tile: Tile) -> int:
    """Return the number of tiles that cover an image."""
    return ceil_div(height, tile[0]) * ceil_div(width, tile[1])


def together(site: Site[Conv] | Site[QuantizedConv], outs: int, tile: Tile) -> int:
    """Return how many tiles a work-item computes one after another, at most those of a row.

    As many as leave enough work-items of `outs` output blocks for all cores of a CPU.
    """
    if site.device.kind != "cpu":
        return 1
    target = site.output
    tiles_of_all = count(target.height, target.width, tile) * ceil_div(target.blocks, outs) * target.frames
    enough = ITEMS_PER_CORE * site.device.compute_units
    return max(1, min(ceil_div(target.width, tile[1]), tiles_of_all // enough))


def work_items(target: Tensor, parameters: Parameters) -> int:
    """Return how many work-items compute the tiles of a plane of `target`: see `tiles.cl`."""
    tile = parameters["TILE_H"], parameters["TILE_W"]
    return ceil_div(count(target.height, target.width, tile), parameters["TILE_RUN"])


def registers(block: int) -> int:
    """Return the number of vector registers of this width: AVX has 16, AVX-512 and 64-bit NEON have 32."""
    return 16 if block == 8 else 32
