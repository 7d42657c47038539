"""Convolution of steps in bytes by dot products of a CPU: a tile of pixels in registers, four channels a time."""

import numpy as np

from edged.arithmetic import ceil_div
from edged.engine.instructions import LOWEST, OF_BYTES
from edged.engine.launch import Launch, Weights
from edged.engine.layout import Element
from edged.engine.variants.convolution import frame_by_frame, halo_of_window, pack_by_channel
from edged.engine.variants.dot import dot_defines, dot_parameters, fits_words, instruction, pack_words
from edged.engine.variants.steps import end_defines
from edged.engine.variants.tiles import work_items
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Int32, QuantizedConv


def _can_compute(site: Site[QuantizedConv]) -> bool:
    has_bytes = site.inputs[0].element is Element.BYTE and site.operator.weight.dtype == np.int8
    return has_bytes and fits_words(site)


def _launches(site: Site[QuantizedConv], parameters: Parameters) -> tuple[Launch, ...]:
    conv, (source, *residual), target = site.operator, site.inputs, site.output
    dot = dot_defines(site, OF_BYTES)
    return (
        Launch(
            kernel="quantized_dot",
            operator=conv.name,
            defines={**dot, **end_defines(conv), **parameters},
            arguments=(
                source,
                Weights(lambda: pack_words(site), whole=np.int8),
                Weights(lambda: pack_by_channel(site, _bias(site)), whole=np.int32),
                Weights(lambda: pack_by_channel(site, conv.factor)),
                target,
                *residual,
            ),
            items=work_items(target, parameters),
            planes=ceil_div(target.blocks, parameters["OUTS"]),
            frames_last=frame_by_frame(site),
        ),
    )


def _bias(site: Site[QuantizedConv]) -> Int32:
    """Return the bias plus what bytes lack: the step of one that is multiplied as 0, times all weights."""
    conv = site.operator
    sums = conv.weight.reshape(len(conv.weight), -1).sum(axis=1, dtype=np.int32)
    lacking = site.inputs[0].lowest - LOWEST.get(instruction(site, OF_BYTES) or "", 0)
    return np.asarray(conv.bias + np.int32(lacking) * sums, np.int32)


QUANTIZED_DOT = Variant("quantized_dot", _launches, dot_parameters, halo_of_window, _can_compute)
