"""Backward passes of pooling: a mean or a maximum over a window."""

from dataclasses import replace

from edged.engine.gradients.slope import Slope, gradient_run
from edged.engine.launch import Launch
from edged.engine.layout import Tensor
from edged.engine.variants.pixelwise import Runs, pool_defines
from edged.model.graph import AveragePool, MaxPool


def average_pool_gradient(slope: Slope[AveragePool]) -> tuple[Launch, ...]:
    """Give each pixel of the window an equal share."""
    if slope.wanted is None:
        return ()
    defines = pool_defines(slope.operator) | {"COUNT_PADDING": int(slope.operator.count_include_pad)}
    return (gradient_run("average_pool_gradient", slope, slope.wanted, (), defines),)


def max_pool_gradient(slope: Slope[MaxPool]) -> tuple[Launch, ...]:
    """Give the whole gradient to the largest pixel; of equal ones to the first."""
    if slope.wanted is None:
        return ()
    seen = slope.source.defines("SOURCE") | slope.output.defines("OUTPUT")
    defines = pool_defines(slope.operator) | seen
    reads = slope.source, slope.output
    launch = gradient_run("max_pool_gradient", slope, slope.wanted, reads, defines)
    return (_by_window(slope, launch) if _apart(slope.operator, slope.source, slope.output) else launch,)


def _apart(pool: MaxPool, source: Tensor, output: Tensor) -> bool:
    """Return whether each pixel lies in just one window."""
    covered = output.height * pool.kernel[0], output.width * pool.kernel[1]
    return pool.strides == pool.kernel and not any(pool.pads) and covered == (source.height, source.width)


def _by_window(slope: Slope[MaxPool], launch: Launch) -> Launch:
    runs = Runs(slope.given, slope.device)
    return replace(
        launch,
        kernel="max_pool_apart_gradient",
        defines={**launch.defines, "RUN": runs.length},
        items=runs.count,
        group=runs.group,
    )
