"""Operators on the channels of each pixel: concatenate, select, reduce to one number, softmax."""

from itertools import accumulate

import numpy as np

from edged.arithmetic import ceil_div
from edged.engine.launch import Launch, Weights
from edged.engine.layout import Tensor
from edged.engine.variants.pixelwise import ITEMS_PER_CORE, Runs, across_channels, same_blocks, with_constants
from edged.engine.variants.variant import WORK_GROUP, Parameters, Site, Variant
from edged.model.graph import Concat, ReduceChannels, SelectChannels, Softmax
from edged.model.reference import REDUCTIONS

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
    is_in_a_row = same_blocks(site) and order == tuple(range(order[0], order[0] + len(order)))
    defines = {"FIRST_CHANNEL": order[0] if is_in_a_row else -1}
    return (with_constants("select_channels", site, Weights(lambda: np.array(order, np.float32)), defines),)


SELECT_CHANNELS = Variant("select_channels", _select_channels)


def _reduce_channels(site: Site[ReduceChannels], parameters: Parameters) -> tuple[Launch, ...]:
    return (across_channels("reduce_channels", site, {"REDUCTION": REDUCTION_NUMBERS[site.operator.kind]}),)


REDUCE_CHANNELS = Variant("reduce_channels", _reduce_channels, can_compute=same_blocks)


def _softmax(site: Site[Softmax], parameters: Parameters) -> tuple[Launch, ...]:
    return (across_channels("softmax", site, {"LOG": int(site.operator.is_log)}),)


SOFTMAX = Variant("softmax", _softmax, can_compute=same_blocks)
