"""Forward pass of a batch norm that is trained: statistics of the batch, then the normalisation.

The operator is a `train.norm.TrainedNorm`, which this layer must not import.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from edged.engine.gradients.slices import Slices
from edged.engine.launch import Argument, Launch, Resident, Weights
from edged.engine.layout import Tensor
from edged.engine.variants.activate import activation_defines
from edged.engine.variants.pixelwise import Runs
from edged.engine.variants.variant import Site


def norm_forward(
    site: Site[Any], parameters: Mapping[str, Resident], statistics: Mapping[str, Resident]
) -> tuple[Launch, ...]:
    """Normalise in training; `statistics` (mean, variance) of the batch stay for the backward pass.

    The running statistics follow those of the batch. parameters: scale and offset. All are float32 by channel,
    padded with zeros to whole blocks.
    """
    (source,), name = site.inputs, site.operator.name
    slices, (mean, variance) = Slices(source, site.device), batch_statistics(name, source)
    return (
        slices.launch("norm_statistics", name, (source, slices.shares), {}),
        slices.merge(
            "norm_merge",
            name,
            (slices.shares, numbers(site.operator), mean, variance, statistics["mean"], statistics["variance"]),
        ),
        _apply(site, parameters, mean, variance),
    )


def norm_use(
    site: Site[Any], parameters: Mapping[str, Resident], statistics: Mapping[str, Resident]
) -> tuple[Launch, ...]:
    """Normalise with the running statistics."""
    return (_apply(site, parameters, statistics["mean"], statistics["variance"]),)


def _apply(site: Site[Any], parameters: Mapping[str, Resident], mean: Argument, variance: Argument) -> Launch:
    (source,), target, runs = site.inputs, site.output, Runs(site.output, site.device)
    own = parameters["scale"], parameters["offset"], mean, variance
    return Launch(
        kernel="norm_apply",
        operator=site.operator.name,
        defines={**site.tensor_defines(), "RUN": runs.length, **activation_defines(site.operator.activation)},
        arguments=(source, numbers(site.operator), *own, target),
        items=runs.count,
        planes=target.blocks,
        group=runs.group,
        frames=target.frames,
    )


def batch_statistics(name: str, source: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and variance of a batch by channel.

    They live until the norm `name` has passed its gradient on.
    """
    channels, block = source.blocks * source.block, source.block
    return Tensor(f"{name}.mean", 1, channels, 1, 1, block), Tensor(f"{name}.variance", 1, channels, 1, 1, block)


def numbers(norm: Any) -> Weights:
    """Return [epsilon, momentum], as the kernels take them."""
    return Weights(lambda: np.array([norm.epsilon, norm.momentum], np.float32))
