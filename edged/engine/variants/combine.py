"""Arithmetic of two tensors, or of a tensor and a constant, by element."""

import numpy as np

from edged.engine.launch import Argument, Launch, Weights
from edged.engine.layout import Tensor, image_shape, to_memory
from edged.engine.variants.pixelwise import Runs
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Combine, Float32

COMBINATIONS = ("add", "subtract", "multiply", "divide", "minimum", "maximum", "power")  # as `combine.cl` has them


def _launches(site: Site[Combine], parameters: Parameters) -> tuple[Launch, ...]:
    combine, runs = site.operator, Runs(site.output, site.device)
    operand: Argument
    if combine.constant is None:
        source, tensor = site.inputs
        operand = tensor
    else:
        (source,) = site.inputs
        constant, tensor = combine.constant, _tensor_of(combine.constant, site.output)
        operand = Weights(lambda: _packed(constant, tensor))
    return (
        Launch(
            kernel="combine",
            operator=combine.name,
            defines={
                **source.defines("IN"),
                **tensor.defines("RESIDUAL"),
                **site.output.defines("OUT"),
                "RUN": runs.length,
                "COMBINATION": COMBINATIONS.index(combine.kind),
                "REVERSED": int(combine.is_reversed),
                "RESIDUAL_FRAMES": 1 if combine.constant is not None else site.output.frames,
            },
            arguments=(source, operand, site.output),
            items=runs.count,
            planes=site.output.blocks,
            group=runs.group,
        ),
    )


def _tensor_of(constant: Float32, output: Tensor) -> Tensor:
    """Return the layout of a constant that is the same for each frame."""
    return Tensor("constant", 1, *image_shape(constant.shape), block=output.block)


def _packed(constant: Float32, tensor: Tensor) -> Float32:
    return np.asarray(to_memory(tensor, constant[np.newaxis]), np.float32)


def _same_blocks(site: Site[Combine]) -> bool:
    return all(tensor.block == site.output.block for tensor in site.inputs)


COMBINE = Variant("combine", _launches, can_compute=_same_blocks)
