"""Shared by the convolutions by dot products: tiles, and weights in words, as `dot_tiles.cl` reads them.

A word is 32 bits: four bytes, or two bfloat16.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.engine.instructions import LANES, NUMBERS
from edged.engine.variants.convolution import convolution_defines, pack_weights
from edged.engine.variants.prefetch import prefetch
from edged.engine.variants.tiles import tiles, together
from edged.engine.variants.variant import Parameters, Site
from edged.model.graph import Conv, QuantizedConv

BLOCKS = (4, 8, 16)  # channels that the kernels take side by side
MOST_OUTS = 2  # output blocks; each input is broadcast by an instruction of its own, for all of them
WORD_BYTES = 4
PLAIN = 0  # DOT of plain OpenCL C

AnyConv = Site[Conv] | Site[QuantizedConv]


def fits_words(site: AnyConv) -> bool:
    """Return whether words lie side by side in both tensors."""
    return site.inputs[0].block in BLOCKS and site.output.block in BLOCKS


def dot_parameters(site: AnyConv) -> tuple[Parameters, ...]:
    """Return the tiles that fill the registers first, each with its rule for prefetching."""
    target = site.output
    several = range(1, min(MOST_OUTS, target.blocks) + 1) if site.operator.groups == 1 else range(1, 2)
    element_bytes = site.inputs[0].dtype.itemsize
    return tuple(
        {
            "OUTS": outs,
            "TILE_H": height,
            "TILE_W": width,
            "TILE_RUN": together(site, outs, (height, width)),
            **prefetch(site, outs, (height, width), element_bytes),
        }
        for outs in reversed(several)
        for height, width in tiles(target.height, target.width, target.block, outs)
    )


def dot_defines(site: AnyConv, instructions: Sequence[str]) -> dict[str, int]:
    """Return the macros of `dot_tiles.cl`. instructions: those that can compute the site, the best one first."""
    name = instruction(site, instructions)
    return {**convolution_defines(site), "DOT": NUMBERS[name] if name else PLAIN, "WORDS": _words(site)}


def instruction(site: AnyConv, instructions: Sequence[str]) -> str | None:
    """Return the first of the instructions that the device has and whose vectors hold an output block."""
    usable = (name for name in instructions if name in site.device.instructions)
    return next((name for name in usable if site.output.block <= LANES[name]), None)


def pack_words(site: AnyConv) -> NDArray[Any]:
    """Pack weights as [out block][SPAN in blocks][ky][kx][word][channel of out block][numbers of a word]."""
    packed, numbers = pack_weights(site), _numbers(site)
    words = packed.reshape(*packed.shape[:4], packed.shape[4] // numbers, numbers, packed.shape[5])
    return np.ascontiguousarray(words[:, :, :, :, : _words(site)].swapaxes(5, 6))


def _words(site: AnyConv) -> int:
    """Return how many words of a block are multiplied: of a single block those that hold channels."""
    source = site.inputs[0]
    return ceil_div(min(source.channels, source.block) if source.blocks == 1 else source.block, _numbers(site))


def _numbers(site: AnyConv) -> int:
    return WORD_BYTES // site.inputs[0].dtype.itemsize
