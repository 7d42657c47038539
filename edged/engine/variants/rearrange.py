"""Values in another order, by a table of where each one lies."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from edged.engine.launch import Launch, Weights
from edged.engine.layout import Tensor
from edged.engine.variants.pixelwise import with_constants
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Rearrange
from edged.model.reference import sources

Places = NDArray[np.int32]


def _launches(site: Site[Rearrange], parameters: Parameters) -> tuple[Launch, ...]:
    operator, source, target = site.operator, site.inputs[0], site.output
    is_whole = _moves_blocks(operator, source, target)

    def pack() -> Places:
        table = _table(operator, source, target)
        return np.ascontiguousarray(table[..., 0] if is_whole else table)

    constants = Weights(pack, whole=np.int32)
    return (with_constants("rearrange", site, constants, {"WHOLE_BLOCKS": int(is_whole)}),)


@lru_cache(maxsize=1024)
def _moves_blocks(operator: Rearrange, source: Tensor, target: Tensor) -> bool:
    """Return whether the channels of each block of the output are those of a block of the input."""
    table = _table(operator, source, target)
    in_a_row = table[..., :1] + np.arange(target.block, dtype=np.int32)
    return bool(
        source.block == target.block and (table[..., 0] % target.block == 0).all() and (table == in_a_row).all()
    )


def _table(operator: Rearrange, source: Tensor, target: Tensor) -> Places:
    """Return where each value of the output lies in a frame of the input, [block, y, x, channel of the block].

    Beyond the last channel −1.
    """
    flat = sources(operator).reshape(target.channels, target.height, target.width)
    channel, pixel = np.divmod(flat, source.height * source.width)
    y, x = np.divmod(pixel, source.width)
    block, lane = np.divmod(channel, source.block)
    row = (block * source.rows + source.halo.top + y) * source.pitch + source.halo.left + x
    places = np.full((target.blocks * target.block, target.height, target.width), -1, np.int32)
    places[: target.channels] = row * source.block + lane
    split = places.reshape(target.blocks, target.block, target.height, target.width)
    return np.ascontiguousarray(split.transpose(0, 2, 3, 1))


REARRANGE = Variant("rearrange", _launches)
