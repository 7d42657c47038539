"""Shared by the convolution variants: packed weights, and the macros of `convolution.cl`."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.engine.launch import Weights
from edged.engine.layout import Halo, window_defines
from edged.engine.variants.elementwise import activation_defines
from edged.engine.variants.variant import Parameters, Site
from edged.model.graph import Conv, Dense, Float32, QuantizedConv

SMALL_IMAGE = 32  # pixels; measured: 7×7 gains by frames last, 4×4 loses


def convolution_defines(site: Site[Conv] | Site[QuantizedConv]) -> dict[str, int]:
    """Return every macro of `convolution.cl`, including those of the tensors."""
    conv = site.operator
    outputs, group_inputs, high, wide = conv.weight.shape
    return {
        **site.tensor_defines(),
        **window_defines((high, wide), conv.strides, conv.pads, conv.dilations),
        "GROUP_INPUTS": group_inputs,
        "GROUP_OUTPUTS": outputs // conv.groups,
        "SPAN": span(site),
        **activation_defines(conv.activation),
        "WEIGHTS_TYPE": int(site.half_weights),
        "WITH_RESIDUAL": int(len(site.inputs) > 1),
    }


def halo_of_window(site: Site[Conv] | Site[QuantizedConv], parameters: Parameters) -> Halo:
    """Return the area outside the image that the windows of all output pixels cover."""
    conv, (source, *_), target = site.operator, site.inputs, site.output
    bottom = _last_covered(conv, 0, target.height) - (source.height - 1)
    right = _last_covered(conv, 1, target.width) - (source.width - 1)
    return Halo(conv.pads[0], conv.pads[1], max(0, bottom), max(0, right))


def _last_covered(conv: Conv | QuantizedConv, axis: int, outputs: int) -> int:
    window: int = (conv.weight.shape[2 + axis] - 1) * conv.dilations[axis]
    return (outputs - 1) * conv.strides[axis] - conv.pads[axis] + window


def frame_by_frame(site: Site[Conv] | Site[QuantizedConv]) -> bool:
    """Return whether to finish one frame before the next.

    Each output block reads its whole input again, from the cache if it is one frame's. For a small image it is
    better to read the weights once for all frames.
    """
    return site.output.frames > 1 and site.pixels >= SMALL_IMAGE


def packed(site: Site[Conv]) -> tuple[Weights, Weights]:
    """Return weights and bias as `convolution.cl` reads them."""
    return Weights(lambda: pack_weights(site), site.half_weights), Weights(lambda: pack_bias(site))


def pack_weights(site: Site[Conv] | Site[QuantizedConv]) -> NDArray[Any]:
    """Pack weights as [out block][SPAN in blocks][ky][kx][channel of in block][channel of out block].

    Missing ones are zero.
    """
    conv, source, target = site.operator, site.inputs[0], site.output
    outputs, group_inputs, *kernel = conv.weight.shape
    firsts, blocks = first_blocks(site), span(site)
    packed = np.zeros((target.blocks, target.block, blocks * source.block, *kernel), conv.weight.dtype)
    for group in range(conv.groups):
        for channel in range(group * outputs // conv.groups, (group + 1) * outputs // conv.groups):
            block, lane = divmod(channel, target.block)
            start = group * group_inputs - firsts[block] * source.block
            packed[block, lane, start : start + group_inputs] = conv.weight[channel]
    split = packed.reshape(target.blocks, target.block, blocks, source.block, *kernel)
    return np.ascontiguousarray(split.transpose(0, 2, 4, 5, 3, 1))


def pack_bias(site: Site[Conv] | Site[Dense]) -> Float32:
    """Pack a bias as [out block][channel of out block], zero beyond the last channel."""
    return pack_by_channel(site, site.operator.bias)


def pack_by_channel(site: Site[Any], numbers: NDArray[Any]) -> NDArray[Any]:
    """Pack a number for each channel as [out block][channel of out block], zero beyond the last channel."""
    packed = np.zeros(site.output.blocks * site.output.block, numbers.dtype)
    packed[: len(numbers)] = numbers
    return packed


def span(site: Site[Conv] | Site[QuantizedConv]) -> int:
    """Return how many input blocks each output block reads: enough for any one's groups."""
    return max(end - first for first, end in map(partial(_read_by, site), range(site.output.blocks)))


def first_blocks(site: Site[Conv] | Site[QuantizedConv]) -> list[int]:
    """Return the first input block that each output block reads: FIRST_BLOCK of `convolution.cl`."""
    last_start = site.inputs[0].blocks - span(site)
    return [min(_read_by(site, block)[0], last_start) for block in range(site.output.blocks)]


def _read_by(site: Site[Conv] | Site[QuantizedConv], block: int) -> tuple[int, int]:
    """Return the first input block with a channel of an output block's groups, and the one after the last."""
    outputs, group_inputs = site.operator.weight.shape[:2]
    group_outputs = outputs // site.operator.groups
    first_channel, last_channel = block * site.output.block, min((block + 1) * site.output.block, outputs) - 1
    first_input = first_channel // group_outputs * group_inputs
    end_input = (last_channel // group_outputs + 1) * group_inputs
    return first_input // site.inputs[0].block, ceil_div(end_input, site.inputs[0].block)
