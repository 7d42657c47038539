"""Optimizers and learning rates: the update of weights, as values and as kernels."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from edged.engine.device import Device
from edged.engine.gradients.update import adam, sgd
from edged.engine.launch import Launch, Resident
from edged.model.graph import Float32
from edged.train.config import Learning

FLOAT = np.dtype(np.float32).itemsize


@dataclass(frozen=True)
class Sgd:
    """Stochastic gradient descent: v = momentum · v + g, w = w − rate · v; g includes weight_decay · w.

    nesterov: w = w − rate · (g + momentum · v) with the new v (Sutskever et al., 2013, as PyTorch writes it).
    Biases and norms do not decay.
    """

    momentum: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0


@dataclass(frozen=True)
class Adam:
    """Kingma and Ba, "Adam", 2015, algorithm 1; weights decay apart from the gradient (AdamW: Loshchilov and
    Hutter, 2019) if `decoupled`, else as a part of it. Biases and norms do not decay.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    decoupled: bool = True


Optimizer = Sgd | Adam


def moments_of(how: Optimizer) -> int:
    """Return the number of floats that an optimizer stores for each weight, zero before the first step."""
    if isinstance(how, Sgd):
        return 1 if how.momentum else 0
    return 2


def update_launches(how: Optimizer, decayed: int, count: int, device: Device) -> tuple[Launch, ...]:
    """Return kernels that update `count` floats of the buffer `parameters`, of which the first `decayed` decay.

    They read the buffer `gradients` of as many, and `moments` of `moments_of(how)` times as many.
    """
    weights, gradients = Resident("parameters", count * FLOAT), Resident("gradients", count * FLOAT)
    moments = Resident("moments", moments_of(how) * count * FLOAT)
    if isinstance(how, Sgd):
        velocity = moments if moments.nbytes else None
        return (sgd(weights, gradients, velocity, decayed, device, nesterov=how.nesterov),)
    return (adam(weights, gradients, moments, decayed, device, decoupled=how.decoupled),)


def update_scalars(how: Optimizer, step: int, rate: float) -> Mapping[str, np.float32]:
    """Return the numbers of step `step`, counted from 1."""
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


def rates(learning: Learning, first: int, count: int, steps: int) -> Float32:
    """Return the rates of `count` steps from step `first` (from 0) on, of `steps` in all: float32 [count]."""
    step = np.arange(first, first + count, dtype=np.float64)
    share = np.full(count, 1.0)
    if learning.schedule == "inverse":
        share = 1 / (1 + learning.decay * step)
    elif learning.schedule == "cosine":  # Loshchilov and Hutter, "SGDR", 2017, without restarts
        share = 0.5 + 0.5 * np.cos(np.pi * step / steps)
    warm = learning.warm_up * steps
    if warm:
        share = share * np.minimum(1.0, (step + 1) / warm)
    return np.asarray(learning.rate * share, np.float32)
