"""Convolution of bfloat16 by the dot products of a CPU: a tile of pixels in registers, two channels at a time."""

import numpy as np

from edged.arithmetic import ceil_div
from edged.engine.instructions import AVX512_BF16
from edged.engine.launch import Launch, Weights
from edged.engine.layout import Element, bfloat16_bits
from edged.engine.variants.convolution import frame_by_frame, halo_of_window, pack_bias
from edged.engine.variants.dot import dot_defines, dot_parameters, fits_words, pack_words
from edged.engine.variants.tiles import work_items
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Conv


def _can_compute(site: Site[Conv]) -> bool:
    return site.inputs[0].element is Element.BFLOAT16 and fits_words(site)


def _launches(site: Site[Conv], parameters: Parameters) -> tuple[Launch, ...]:
    (source, *residual), target = site.inputs, site.output
    return (
        Launch(
            kernel="conv_bfloat16",
            operator=site.operator.name,
            defines={**dot_defines(site, (AVX512_BF16,)), **parameters},
            arguments=(
                source,
                Weights(lambda: bfloat16_bits(pack_words(site)), whole=np.uint16),
                Weights(lambda: pack_bias(site)),
                target,
                *residual,
            ),
            items=work_items(target, parameters),
            planes=ceil_div(target.blocks, parameters["OUTS"]),
            frames_last=frame_by_frame(site),
        ),
    )


CONV_BFLOAT16 = Variant("conv_bfloat16", _launches, dot_parameters, halo_of_window, _can_compute)
