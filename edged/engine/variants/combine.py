"""Arithmetic of two tensors, or of a tensor and a constant, by element."""

import numpy as np

from edged.engine.launch import Launch, Weights
from edged.engine.layout import Tensor, image_shape, to_memory
from edged.engine.variants.pixelwise import pixelwise, same_blocks, with_constants
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Combine, Float32
from edged.model.reference import COMBINATIONS

NUMBERS = {kind: number for number, kind in enumerate(COMBINATIONS)}  # as `combine.cl` has them


def _launches(site: Site[Combine], parameters: Parameters) -> tuple[Launch, ...]:
    combine, constant = site.operator, site.operator.constant
    defines = {
        "COMBINATION": NUMBERS[combine.kind],
        "REVERSED": int(combine.is_reversed),
        "RESIDUAL_FRAMES": site.output.frames,
    }
    if constant is None:
        return (pixelwise("combine", site, defines),)
    tensor = _tensor_of(constant, site.output)
    defines |= tensor.defines("RESIDUAL") | {"RESIDUAL_FRAMES": 1}
    return (with_constants("combine", site, Weights(lambda: _packed(constant, tensor)), defines),)


def _tensor_of(constant: Float32, output: Tensor) -> Tensor:
    """Return the layout of a constant that is the same for each frame."""
    return Tensor("constant", 1, *image_shape(constant.shape), block=output.block)


def _packed(constant: Float32, tensor: Tensor) -> Float32:
    return np.asarray(to_memory(tensor, constant[np.newaxis]), np.float32)


COMBINE = Variant("combine", _launches, can_compute=same_blocks)
