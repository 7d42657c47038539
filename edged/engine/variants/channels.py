"""Operators on the channels of each pixel: concatenate, select, reduce to one number, softmax."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.engine.launch import Launch, Weights
from edged.engine.layout import Tensor
from edged.engine.variants.pixelwise import ITEMS_PER_CORE, Runs, across_channels, same_blocks, with_constants
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Concat, ReduceChannels, SelectChannels, Softmax
from edged.model.reference import REDUCTIONS

PERMUTED_BLOCKS = (8, 16)  # channels whose lanes an instruction of AVX2, or of AVX-512, permutes
MOST_SOURCES = 4  # more cost as much as channels one by one
REDUCTION_NUMBERS = {kind: number for number, kind in enumerate(REDUCTIONS)}  # as `reduce_channels.cl` has them


def _concat(site: Site[Concat], parameters: Parameters) -> tuple[Launch, ...]:
    """Return a copy for each input, in their order: see `concat.cl`."""
    firsts = accumulate((tensor.channels for tensor in site.inputs), initial=0)
    return tuple(_copy(site, tensor, first) for tensor, first in zip(site.inputs, firsts, strict=False))


def _copy(site: Site[Concat], source: Tensor, first: int) -> Launch:
    """Return a launch whose items are runs of pixels, on planes of blocks; of vectors they are the blocks."""
    is_vector = (site.output.height, site.output.width) == (1, 1)
    runs = Runs(site.output, site.device)
    together = _blocks_together(site, source, runs)
    blocks = ceil_div(source.blocks, together)
    items = blocks if is_vector else runs.count
    where = {"RUN": runs.length, "FIRST_CHANNEL": first, "TOGETHER": together, "IS_VECTOR": int(is_vector)}
    return Launch(
        kernel="concat",
        operator=site.operator.name,
        defines={**source.defines("IN"), **site.output.defines("OUT"), **where},
        arguments=(source, site.output),
        items=items,
        planes=1 if is_vector else blocks,
        group=1 if site.device.kind == "cpu" else min(WORK_GROUP, items),
    )


def _blocks_together(site: Site[Concat], source: Tensor, runs: Runs) -> int:
    """Return how many blocks a work-item copies: on a CPU many of a vector, whose blocks are a few bytes each."""
    if site.device.kind != "cpu":
        return 1
    return min(source.blocks, ceil_div(runs.count * source.blocks, ITEMS_PER_CORE * site.device.compute_units))


CONCAT = Variant("concat", _concat, can_compute=same_blocks)


def _select_channels(site: Site[SelectChannels], parameters: Parameters) -> tuple[Launch, ...]:
    order = site.operator.order
    defines = {"FIRST_CHANNEL": order[0] if _move_in_a_row(site) else -1}
    return (with_constants("select_channels", site, Weights(lambda: np.array(order, np.float32)), defines),)


def _move_in_a_row(site: Site[SelectChannels]) -> bool:
    order = site.operator.order
    return same_blocks(site) and order == tuple(range(order[0], order[0] + len(order)))


SELECT_CHANNELS = Variant("select_channels", _select_channels)


def _can_permute(site: Site[SelectChannels]) -> bool:
    """Return whether a CPU may have the instruction, and each block of the output reads few of the input's."""
    may_have_it = site.device.kind == "cpu" and site.output.block in PERMUTED_BLOCKS
    is_mixed = same_blocks(site) and not _move_in_a_row(site)
    return may_have_it and is_mixed and _most_sources(site) <= MOST_SOURCES


def _permute_channels(site: Site[SelectChannels], parameters: Parameters) -> tuple[Launch, ...]:
    table = Weights(lambda: pack_sources(site.operator.order, site.output.block), whole=np.int32)
    return (with_constants("permute_channels", site, table, {"SOURCES": _most_sources(site)}),)


def _most_sources(site: Site[SelectChannels]) -> int:
    return max(len(set(blocks)) for blocks in _blocks_read(site.operator.order, site.output.block))


def pack_sources(order: Sequence[int], block: int) -> NDArray[np.int32]:
    """Pack [blocks of the output][3][block]: lanes, which source, and the blocks that are the sources."""
    packed = np.zeros((ceil_div(len(order), block), 3, block), np.int32)
    packed[:, 1] = -1
    for (lanes, which, sources), begin, blocks in zip(
        packed, range(0, len(order), block), _blocks_read(order, block), strict=True
    ):
        found = list(dict.fromkeys(blocks))
        lanes[: len(blocks)] = [channel % block for channel in order[begin : begin + block]]
        which[: len(blocks)] = [found.index(each) for each in blocks]
        sources[: len(found)] = found
    return packed


def _blocks_read(order: Sequence[int], block: int) -> list[list[int]]:
    """Return for each block of the output the block of the input in which each channel lies."""
    return [
        [channel // block for channel in order[begin : begin + block]] for begin in range(0, len(order), block)
    ]


PERMUTE_CHANNELS = Variant("permute_channels", _permute_channels, can_compute=_can_permute)


def _reduce_channels(site: Site[ReduceChannels], parameters: Parameters) -> tuple[Launch, ...]:
    return (across_channels("reduce_channels", site, {"REDUCTION": REDUCTION_NUMBERS[site.operator.kind]}),)


REDUCE_CHANNELS = Variant("reduce_channels", _reduce_channels, can_compute=same_blocks)


def _softmax(site: Site[Softmax], parameters: Parameters) -> tuple[Launch, ...]:
    return (across_channels("softmax", site, {"LOG": int(site.operator.is_log)}),)


SOFTMAX = Variant("softmax", _softmax, can_compute=same_blocks)
