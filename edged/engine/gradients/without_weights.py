"""Backward passes of operators without weights: pools, flattening, dropout; forward passes that training changes.

Dropout draws the values that it drops twice, and never stores them. Its operator is a `Dropout` of
`train.training_operators`, which this layer must not import.
"""

import zlib
from dataclasses import replace
from typing import Any

from edged.engine.gradients.slope import Slope, gradient_run
from edged.engine.launch import Launch, Scalar
from edged.engine.layout import Defines, float_bits
from edged.engine.variants.elementwise import activation_defines
from edged.engine.variants.pixelwise import Runs, pixelwise
from edged.engine.variants.pool import pool_defines
from edged.engine.variants.variant import Site
from edged.model.activations import LINEAR
from edged.model.graph import AveragePool, Flatten, MaxPool

DRAWN = (Scalar("seed"), Scalar("step"))


def average_pool_gradient(slope: Slope[AveragePool]) -> tuple[Launch, ...]:
    """Give each pixel of the window an equal share."""
    if slope.input_gradient is None:
        return ()
    defines = pool_defines(slope.operator) | {"COUNT_PADDING": int(slope.operator.count_include_pad)}
    return (gradient_run("average_pool_gradient", slope, slope.input_gradient, (), defines),)


def max_pool_gradient(slope: Slope[MaxPool]) -> tuple[Launch, ...]:
    """Give the whole gradient to the largest pixel; of equal ones to the first."""
    if slope.input_gradient is None:
        return ()
    seen = slope.source.defines("SOURCE") | slope.output.defines("OUTPUT")
    defines = pool_defines(slope.operator) | seen
    reads = slope.source, slope.output
    launch = gradient_run("max_pool_gradient", slope, slope.input_gradient, reads, defines)
    pool, source, output = slope.operator, slope.source, slope.output
    covered = output.height * pool.kernel[0], output.width * pool.kernel[1]
    # each pixel lies in just one window
    apart = pool.strides == pool.kernel and not any(pool.pads) and covered == (source.height, source.width)
    return (_by_window(slope, launch) if apart else launch,)


def _by_window(slope: Slope[MaxPool], launch: Launch) -> Launch:
    runs = Runs(slope.output_gradient, slope.device)
    return replace(
        launch,
        kernel="max_pool_apart_gradient",
        defines={**launch.defines, "RUN": runs.length},
        items=runs.count,
        group=runs.group,
    )


def flatten_batch(site: Site[Flatten]) -> tuple[Launch, ...]:
    """Convert in the forward pass: the vectors of all frames are the pixels of one image."""
    runs = Runs(site.output, site.device)
    return (
        Launch(
            kernel="flatten_batch",
            operator=site.operator.name,
            defines={**site.tensor_defines(), "RUN": runs.length},
            arguments=(*site.inputs, site.output),
            items=runs.count,
            planes=site.output.blocks,
            group=runs.group,
        ),
    )


def flatten_batch_gradient(slope: Slope[Flatten]) -> tuple[Launch, ...]:
    """Move each value back to its place."""
    return (
        (gradient_run("flatten_batch_gradient", slope, slope.input_gradient, (), {}),)
        if slope.input_gradient
        else ()
    )


def dropout(site: Site[Any]) -> tuple[Launch, ...]:
    """Drop values in training. Scalars: `seed` and `step`, uint32."""
    launch = pixelwise("dropout", site, _dropout_defines(site.operator))
    return (replace(launch, arguments=(*launch.arguments, *DRAWN), frames=site.output.frames),)


def dropout_use(site: Site[Any]) -> tuple[Launch, ...]:
    """Copy all values: nothing is dropped after training."""
    return (replace(pixelwise("activate", site, activation_defines(LINEAR)), frames=site.output.frames),)


def dropout_gradient(slope: Slope[Any]) -> tuple[Launch, ...]:
    """Drop the gradients of the values that were dropped."""
    if slope.input_gradient is None:
        return ()
    return (
        gradient_run("dropout_gradient", slope, slope.input_gradient, DRAWN, _dropout_defines(slope.operator)),
    )


def salt_of(name: str) -> int:
    """Return 32 bits by which operators of different names drop different values."""
    return zlib.crc32(name.encode())


def threshold_of(share: float) -> int:
    """Return the number below which 32 random bits drop a value."""
    return round(share * 2**32)


def _dropout_defines(operator: Any) -> Defines:
    scale = float_bits(1 / (1 - operator.share))
    return {"THRESHOLD": threshold_of(operator.share), "SCALE": scale, "SALT": salt_of(operator.name)}
