"""Operators by element: sums, arithmetic with broadcasting, activations that are not fused into another one."""

import numpy as np

from edged.engine.launch import Launch, Weights
from edged.engine.layout import Defines, Tensor, float_bits, image_shape, to_memory
from edged.engine.variants.pixelwise import pixelwise, same_blocks, with_constants
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.activations import FUNCTIONS, Activation
from edged.model.graph import Activate, Add, Combine
from edged.model.reference import COMBINATIONS

ACTIVATION_NUMBERS = {kind: number for number, kind in enumerate(FUNCTIONS)}  # as `activation.cl` has them
COMBINATION_NUMBERS = {kind: number for number, kind in enumerate(COMBINATIONS)}  # as `combine.cl` has them


def activation_defines(activation: Activation) -> Defines:
    """Return the macros of `activation.cl`."""
    return {
        "ACTIVATION": ACTIVATION_NUMBERS[activation.kind],
        "ACTIVATION_ALPHA": float_bits(activation.alpha),
        "ACTIVATION_BETA": float_bits(activation.beta),
    }


def _activate(site: Site[Activate], parameters: Parameters) -> tuple[Launch, ...]:
    return (pixelwise("activate", site, activation_defines(site.operator.activation)),)


ACTIVATE = Variant("activate", _activate)


def _add(site: Site[Add], parameters: Parameters) -> tuple[Launch, ...]:
    return (pixelwise("add", site, activation_defines(site.operator.activation)),)


ADD = Variant("add", _add)


def _combine(site: Site[Combine], parameters: Parameters) -> tuple[Launch, ...]:
    combine, constant = site.operator, site.operator.constant
    defines = {
        "COMBINATION": COMBINATION_NUMBERS[combine.kind],
        "REVERSED": int(combine.is_reversed),
        "RESIDUAL_FRAMES": site.output.frames,
    }
    if constant is None:
        return (pixelwise("combine", site, defines),)
    tensor = Tensor("constant", 1, *image_shape(constant.shape), block=site.output.block)
    packed = Weights(lambda: np.asarray(to_memory(tensor, constant[np.newaxis]), np.float32))
    defines |= tensor.defines("RESIDUAL") | {"RESIDUAL_FRAMES": 1}
    return (with_constants("combine", site, packed, defines),)


COMBINE = Variant("combine", _combine, can_compute=same_blocks)
