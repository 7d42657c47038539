"""Winograd's convolution with weights that change at each step: the device transforms them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from edged.engine.gradients.slope import Slope
from edged.engine.launch import Argument, Launch, Weights
from edged.engine.layout import Defines, Tensor
from edged.engine.variants.conv_winograd import CONV_WINOGRAD, is_profitable, window_values
from edged.engine.variants.variant import Parameters, Site
from edged.model.graph import Conv

CHUNK_BYTES = 2**22  # bytes of frequencies: still in the cache when they are read


def is_faster(site: Site[Conv]) -> bool:
    """Return whether Winograd is the faster way to compute `site`."""
    return site.device.kind == "cpu" and CONV_WINOGRAD.can_compute(site) and is_profitable(site)


def winograd_forward(
    site: Site[Conv], weight: Argument, bias: Argument, parameters: Parameters | None = None
) -> tuple[Launch, ...]:
    """`weight`, `bias`: as `convolution.packed` has them."""
    parameters = parameters or CONV_WINOGRAD.parameters(site)[0]
    of_input, product = CONV_WINOGRAD.launches(site, parameters)
    transformed = _transformed(site, parameters)
    frequencies, _, _, target = product.arguments
    product = replace(product, arguments=(frequencies, transformed, bias, target))
    return _weights(site, parameters, weight, transformed, {}), *_in_chunks(site, of_input, product)


def input_gradient_site(slope: Slope[Conv], input_gradient: Tensor) -> Site[Conv] | None:
    """Return the convolution that computes the gradient of the input from that of the output.

    None if there is none.
    """
    conv = slope.operator
    high, wide = conv.weight.shape[2:]
    pads = tuple(size - 1 - pad for size, pad in zip((high, wide) * 2, conv.pads, strict=True))
    if (high, wide) != (3, 3) or not conv.strides == conv.dilations == (1, 1) or conv.groups > 1 or min(pads) < 0:
        return None
    weight, none = conv.weight.transpose(1, 0, 2, 3), np.zeros(conv.weight.shape[1], np.float32)
    back: Any = pads
    operator = Conv(
        f"{conv.name}:back", (slope.output_gradient.name,), input_gradient.name, weight, none, pads=back
    )
    return Site(operator, (slope.output_gradient,), input_gradient, slope.device)


def winograd_gradient(
    slope: Slope[Conv], site: Site[Conv], weight: Argument, parameters: Parameters | None = None
) -> tuple[Launch, ...]:
    """Return the gradient of the input.

    `site`: as `turned` gives it; `weight`: turned, as `turn_weights.cl` has it.
    """
    parameters = parameters or CONV_WINOGRAD.parameters(site)[0]
    of_input, product = CONV_WINOGRAD.launches(site, parameters)
    transformed = _transformed(site, parameters)
    frequencies, _, _, target = product.arguments
    product = replace(
        product,
        defines={**product.defines, **slope.ending_defines(), "WITH_BIAS": 0},
        arguments=(frequencies, transformed, target, *slope.ending_arguments()),
    )
    return _weights(site, parameters, weight, transformed, {"FLIPPED": 1}), *_in_chunks(site, of_input, product)


def _transformed(site: Site[Conv], parameters: Parameters) -> Tensor:
    """Return the transformed weights, one after the other, as long as the step needs them."""
    source, target, side = site.inputs[0], site.output, parameters["OUTPUT"] + 2
    vectors = target.blocks * side**2 * source.blocks * source.block
    return Tensor(f"{site.operator.name}.transformed", 1, vectors * target.block, 1, 1, 1)


def _weights(
    site: Site[Conv], parameters: Parameters, weight: Argument, transformed: Tensor, how: Defines
) -> Launch:
    values = window_values(parameters["OUTPUT"]).astype(np.float32)
    return Launch(
        kernel="winograd_weights",
        operator=site.operator.name,
        defines={**site.tensor_defines(), **parameters, **how},
        arguments=(weight, Weights(lambda: values), transformed),
        items=site.output.blocks * site.inputs[0].blocks * site.inputs[0].block,
    )


def _in_chunks(site: Site[Conv], of_input: Launch, product: Launch) -> Iterator[Launch]:
    """Yield both kernels for as many frames at a time as have their frequencies in the cache."""
    whole = next(argument for argument in product.arguments if isinstance(argument, Tensor))
    frames = site.output.frames
    kept = max(1, min(frames, CHUNK_BYTES * frames // whole.nbytes))
    frequencies = replace(whole, frames=kept)
    for first in range(0, frames, kept):
        for launch in (of_input, product):
            yield replace(
                launch,
                defines={**launch.defines, "KEPT_FRAMES": kept},
                arguments=tuple(frequencies if each is whole else each for each in launch.arguments),
                frames=min(kept, frames - first),
                first_frame=first,
            )
