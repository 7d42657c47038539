"""Dropout in training, forward and backward: the values that are dropped are drawn twice, and never stored.

The operator is a `train.dropout.Dropout`, which this layer must not import.
"""

import zlib
from dataclasses import replace
from typing import Any

from edged.engine.gradients.slope import Slope, gradient_run
from edged.engine.launch import Launch, Scalar
from edged.engine.layout import Defines, float_bits
from edged.engine.variants.elementwise import activation_defines
from edged.engine.variants.pixelwise import pixelwise
from edged.engine.variants.variant import Site
from edged.model.activations import LINEAR

DRAWN = (Scalar("seed"), Scalar("step"))


def dropout(site: Site[Any]) -> tuple[Launch, ...]:
    """Drop values in training. Scalars: `seed` and `step`, uint32."""
    launch = pixelwise("dropout", site, _defines(site.operator))
    return (replace(launch, arguments=(*launch.arguments, *DRAWN), frames=site.output.frames),)


def dropout_use(site: Site[Any]) -> tuple[Launch, ...]:
    """Copy all values: nothing is dropped after training."""
    return (replace(pixelwise("activate", site, activation_defines(LINEAR)), frames=site.output.frames),)


def dropout_gradient(slope: Slope[Any]) -> tuple[Launch, ...]:
    """Drop the gradients of the values that were dropped."""
    if slope.wanted is None:
        return ()
    return (gradient_run("dropout_gradient", slope, slope.wanted, DRAWN, _defines(slope.operator)),)


def salt_of(name: str) -> int:
    """Return 32 bits by which operators of different names drop different values."""
    return zlib.crc32(name.encode())


def threshold_of(share: float) -> int:
    """Return the number below which 32 random bits drop a value."""
    return round(share * 2**32)


def _defines(operator: Any) -> Defines:
    scale = float_bits(1 / (1 - operator.share))
    return {"THRESHOLD": threshold_of(operator.share), "SCALE": scale, "SALT": salt_of(operator.name)}
