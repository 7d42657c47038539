"""An optimizer as kernels, with the numbers that they want at each step."""

from collections.abc import Mapping

import numpy as np

from edged.engine.device import Device
from edged.engine.gradients.adam import adam
from edged.engine.gradients.sgd import sgd
from edged.engine.launch import Launch, Resident
from edged.train.optimizer import Optimizer, Sgd

FLOAT = np.dtype(np.float32).itemsize


def moments_of(how: Optimizer) -> int:
    """Floats that an optimizer remembers of each weight, zero before the first step."""
    if isinstance(how, Sgd):
        return 1 if how.momentum else 0
    return 2


def update_launches(how: Optimizer, decayed: int, count: int, device: Device) -> tuple[Launch, ...]:
    """Kernels that change `count` floats of the buffer `parameters`, of which the first `decayed` decay.

    They read the buffer `gradients` of as many, and `moments` of `moments_of(how)` times as many.
    """
    weights, gradients = Resident("parameters", count * FLOAT), Resident("gradients", count * FLOAT)
    moments = Resident("moments", moments_of(how) * count * FLOAT)
    if isinstance(how, Sgd):
        velocity = moments if moments.nbytes else None
        return (sgd(weights, gradients, velocity, decayed, device, nesterov=how.nesterov),)
    return (adam(weights, gradients, moments, decayed, device, decoupled=how.decoupled),)


def update_scalars(how: Optimizer, step: int, rate: float) -> Mapping[str, np.float32]:
    """The numbers of step `step`, counted from 1."""
    if isinstance(how, Sgd):
        return _floats(rate=rate, decay=how.weight_decay, momentum=how.momentum)
    return _floats(
        rate=rate / (1 - how.beta1**step),
        root=(1 - how.beta2**step) ** -0.5,
        beta1=how.beta1,
        beta2=how.beta2,
        epsilon=how.epsilon,
        decay=how.weight_decay * (rate if how.decoupled else 1),
    )


def _floats(**numbers: float) -> Mapping[str, np.float32]:
    return {name: np.float32(number) for name, number in numbers.items()}
