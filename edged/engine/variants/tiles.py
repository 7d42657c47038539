from edged.arithmetic import ceil_div

"""How many pixels a work-item keeps in the registers of a CPU with wide vectors."""

Tile = tuple[int, int]

OVERHEAD = 1.5  # in multiply-adds: to load a weight and to count
LATENCY = 8  # sums in flight that keep two multiply-add units busy for their four cycles


def tiles(height: int, width: int, block: int) -> list[Tile]:
    """Return the (rows, columns) that fit into the image and the registers, the fastest first.

    A tile of n pixels takes n multiply-adds, one load of a weight, and some overhead for all; of equal ones the
    flattest tile is first.
    """
    most = registers(block) - 2
    fitting = [
        (h, w) for h in range(1, min(height, 6) + 1) for w in range(1, min(width, most) + 1) if h * w <= most
    ]

    def cost(tile: Tile) -> tuple[float, int, int]:
        return count(height, width, tile) * (max(tile[0] * tile[1], LATENCY) + OVERHEAD), *tile

    return sorted(fitting, key=cost)


def count(height: int, width: int, tile: Tile) -> int:
    """Return the number of tiles that cover an image."""
    return ceil_div(height, tile[0]) * ceil_div(width, tile[1])


def registers(block: int) -> int:
    """Return the number of vector registers of this width: AVX has 16, AVX-512 and 64-bit NEON have 32."""
    return 16 if block == 8 else 32
