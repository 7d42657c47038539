"""Kernels whose work-items each write one pixel of one block: what their launches share."""

from typing import Any

from edged.engine.launch import Launch
from edged.engine.layout import Defines
from edged.engine.variants.variant import WORK_GROUP, Site
from edged.model.graph import AveragePool, MaxPool


def pixelwise(kernel: str, site: Site[Any], defines: Defines | None = None) -> Launch:
    """A launch of `kernel` that takes the inputs and the output of `site` as its arguments."""
    return Launch(
        kernel=kernel,
        operator=site.operator.name,
        defines={**site.tensor_defines(), **(defines or {})},
        arguments=(*site.inputs, site.output),
        items=site.pixels,
        planes=site.output.blocks,
        group=min(WORK_GROUP, site.pixels),
    )


def pool_defines(pool: MaxPool | AveragePool) -> dict[str, int]:
    """The macros of `window.cl`."""
    return {
        "KERNEL_H": pool.kernel[0],
        "KERNEL_W": pool.kernel[1],
        "STRIDE_H": pool.strides[0],
        "STRIDE_W": pool.strides[1],
        "PAD_TOP": pool.pads[0],
        "PAD_LEFT": pool.pads[1],
    }
