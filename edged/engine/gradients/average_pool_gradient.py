"""Backward pass of a mean over a window."""

from edged.engine.gradients.gradient_run import gradient_run
from edged.engine.gradients.slope import Slope
from edged.engine.launch import Launch
from edged.engine.variants.pixelwise import pool_defines
from edged.model.graph import AveragePool


def average_pool_gradient(slope: Slope[AveragePool]) -> tuple[Launch, ...]:
    """Give each pixel of the window an equal share."""
    if slope.wanted is None:
        return ()
    defines = pool_defines(slope.operator) | {"COUNT_PADDING": int(slope.operator.count_include_pad)}
    return (gradient_run("average_pool_gradient", slope, slope.wanted, (), defines),)
