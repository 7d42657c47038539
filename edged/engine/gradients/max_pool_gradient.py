"""Backward pass of a maximum over a window."""

from edged.engine.gradients.gradient_run import gradient_run
from edged.engine.gradients.slope import Slope
from edged.engine.launch import Launch
from edged.engine.variants.pixelwise import pool_defines
from edged.model.graph import MaxPool


def max_pool_gradient(slope: Slope[MaxPool]) -> tuple[Launch, ...]:
    """All to the largest, of equal ones to the first."""
    if slope.wanted is None:
        return ()
    seen = slope.source.defines("SOURCE") | slope.output.defines("OUTPUT")
    defines = pool_defines(slope.operator) | seen
    reads = slope.source, slope.output
    return (gradient_run("max_pool_gradient", slope, slope.wanted, reads, defines),)
