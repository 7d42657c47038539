"""Launches of kernels whose work-items each write a run of pixels of a gradient."""

from typing import Any

from edged.engine.gradients.slope import Slope
from edged.engine.launch import Argument, Launch
from edged.engine.layout import Defines, Tensor
from edged.engine.variants.pixelwise import Runs


def gradient_run(
    kernel: str, slope: Slope[Any], wanted: Tensor, reads: tuple[Argument, ...], more: Defines
) -> Launch:
    """Return a launch of `kernel` with these arguments, the tensors that it `reads`, `wanted`, and the ending."""
    runs = Runs(wanted, slope.device)
    geometry = slope.given.defines("IN") | wanted.defines("OUT")
    return Launch(
        kernel=kernel,
        operator=slope.operator.name,
        defines={**geometry, "RUN": runs.length, **slope.ending_defines(), **more},
        arguments=(slope.given, *reads, wanted, *slope.ending_arguments()),
        items=runs.count,
        planes=wanted.blocks,
        group=runs.group,
        frames=wanted.frames,
    )
