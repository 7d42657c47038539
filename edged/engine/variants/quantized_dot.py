"""Convolution of steps in bytes by dot products of a CPU: a tile of pixels in registers, four channels a time."""

import numpy as np

from edged.arithmetic import ceil_div
from edged.engine.instructions import AVX512_VNNI, AVX_VNNI, LANES, NUMBERS
from edged.engine.launch import Launch, Weights
from edged.engine.layout import Element
from edged.engine.variants.convolution import (
    frame_by_frame,
    halo_of_window,
    pack_by_channel,
    pack_weights,
    window_defines,
)
from edged.engine.variants.prefetch import prefetch
from edged.engine.variants.steps import bounds_defines
from edged.engine.variants.tiles import count, tiles
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Int8, Int32, QuantizedConv

MOST_OUTS = 2
BLOCKS = (4, 8, 16)  # channels that this kernel takes side by side
FOUR = 4  # bytes that are multiplied and summed at a time
PORTABLE = 0


def _can_compute(site: Site[QuantizedConv]) -> bool:
    source, target = site.inputs[0], site.output
    return (
        source.element is Element.BYTE
        and site.operator.weight.dtype == np.int8
        and source.block in BLOCKS
        and target.block in BLOCKS
    )


def _parameters(site: Site[QuantizedConv]) -> tuple[Parameters, ...]:
    target = site.output
    several = range(1, min(MOST_OUTS, target.blocks) + 1) if site.operator.groups == 1 else range(1, 2)
    return tuple(
        {"OUTS": outs, "TILE_H": height, "TILE_W": width, **prefetch(site, outs, (height, width), 1)}
        for outs in reversed(several)
        for height, width in tiles(target.height, target.width, target.block, outs)
    )


def _launches(site: Site[QuantizedConv], parameters: Parameters) -> tuple[Launch, ...]:
    conv, target = site.operator, site.output
    dot = {"DOT": _dot(site), "FOURS": _fours(site)}
    return (
        Launch(
            kernel="quantized_dot",
            operator=conv.name,
            defines={**window_defines(site), **bounds_defines(conv.bounds), **dot, **parameters},
            arguments=(
                site.inputs[0],
                Weights(lambda: pack_fours(site), whole=np.int8),
                Weights(lambda: pack_by_channel(site, _bias(site)), whole=np.int32),
                Weights(lambda: pack_by_channel(site, conv.factor)),
                target,
            ),
            items=count(target.height, target.width, (parameters["TILE_H"], parameters["TILE_W"])),
            planes=ceil_div(target.blocks, parameters["OUTS"]),
            frames_last=frame_by_frame(site),
        ),
    )


def _dot(site: Site[QuantizedConv]) -> int:
    """Return how the kernel multiplies: by an instruction of the device whose vectors hold a block."""
    usable = [name for name in (AVX512_VNNI, AVX_VNNI) if name in site.device.instructions]
    return next((NUMBERS[name] for name in usable if site.output.block <= LANES[name]), PORTABLE)


def _fours(site: Site[QuantizedConv]) -> int:
    """Return how many fours of a block's channels are multiplied: of a single block those that hold channels."""
    source = site.inputs[0]
    return ceil_div(min(source.channels, source.block) if source.blocks == 1 else source.block, FOUR)


def _bias(site: Site[QuantizedConv]) -> Int32:
    """Return the bias plus what the bytes lack: the step of a byte of 0 times all weights of a channel."""
    conv = site.operator
    sums = conv.weight.reshape(len(conv.weight), -1).sum(axis=1, dtype=np.int32)
    return np.asarray(conv.bias + np.int32(site.inputs[0].lowest) * sums, np.int32)


def pack_fours(site: Site[QuantizedConv]) -> Int8:
    """Pack weights as [out block][SPAN in blocks][ky][kx][four in channels][channel of out block][4]."""
    packed = pack_weights(site)
    fours = packed.reshape(*packed.shape[:4], packed.shape[4] // FOUR, FOUR, packed.shape[5])
    return np.ascontiguousarray(fours[:, :, :, :, : _fours(site)].swapaxes(5, 6), np.int8)


QUANTIZED_DOT = Variant("quantized_dot", _launches, _parameters, halo_of_window, _can_compute)
