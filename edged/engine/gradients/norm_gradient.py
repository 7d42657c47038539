"""Backward pass of a batch norm."""

from typing import Any

from edged.engine.gradients.gradient_run import gradient_run
from edged.engine.gradients.norm import batch_statistics, numbers
from edged.engine.gradients.slices import Slices
from edged.engine.gradients.slope import Slope
from edged.engine.launch import Launch


def norm_gradient(slope: Slope[Any]) -> tuple[Launch, ...]:
    """Compute the gradients of scale and offset, sums over the batch, and from them that of the input."""
    name, source, given = slope.operator.name, slope.source, slope.given
    slices, statistics = Slices(given, slope.device), batch_statistics(name, source)
    constants, seen = numbers(slope.operator), source.defines("SOURCE")
    sums = slope.gradients["scale"], slope.gradients["offset"]
    launches = (
        slices.launch("norm_sums", name, (given, source, constants, *statistics, slices.shares), seen),
        slices.merge("norm_sums_merge", name, (slices.shares, *sums)),
    )
    if slope.wanted is None:
        return launches
    reads = source, constants, slope.parameters["scale"], *statistics, *sums
    pixels = {"PIXELS": source.frames * source.height * source.width}
    return (*launches, gradient_run("norm_gradient", slope, slope.wanted, reads, {**seen, **pixels}))
