"""Images one below the other or side by side, of which one may be constant."""

from itertools import accumulate

import numpy as np

from edged.engine.launch import Launch, Weights
from edged.engine.layout import Tensor, image_shape, to_memory
from edged.engine.variants.pixelwise import Runs, same_blocks
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Float32, Join


def _launches(site: Site[Join], parameters: Parameters) -> tuple[Launch, ...]:
    """Return a copy for each part, in their order: see `join.cl`."""
    join, parts = site.operator, list(site.inputs)
    if join.constant is not None:
        parts.insert(join.place, Tensor("constant", 1, *image_shape(join.constant.shape), block=site.output.block))
    sides = [tensor.height if join.axis == 1 else tensor.width for tensor in parts]
    firsts = accumulate(sides, initial=0)
    return tuple(_copy(site, tensor, first) for tensor, first in zip(parts, firsts, strict=False))


def _copy(site: Site[Join], part: Tensor, first: int) -> Launch:
    constant, runs = site.operator.constant, Runs(part, site.device)
    is_constant = constant is not None and part not in site.inputs
    begin = {"FIRST_ROW": first if site.operator.axis == 1 else 0}
    begin |= {"FIRST_COLUMN": first if site.operator.axis == 2 else 0}
    frames = 1 if is_constant else site.output.frames
    return Launch(
        kernel="join",
        operator=site.operator.name,
        defines={
            **part.defines("IN"),
            **site.output.defines("OUT"),
            **begin,
            "RUN": runs.length,
            "IN_FRAMES": frames,
        },
        arguments=(_packed(constant, part) if constant is not None and is_constant else part, site.output),
        items=runs.count,
        planes=part.blocks,
        group=runs.group,
    )


def _packed(constant: Float32, tensor: Tensor) -> Weights:
    return Weights(lambda: np.asarray(to_memory(tensor, constant[np.newaxis]), np.float32))


JOIN = Variant("join", _launches, can_compute=same_blocks)
