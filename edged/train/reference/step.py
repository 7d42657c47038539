"""One step of an optimizer, for one array of weights."""

from dataclasses import dataclass

import numpy as np

from edged.model.reference import Array
from edged.train.optimizer import Adam, Optimizer, Sgd


@dataclass(frozen=True)
class OptimizerMoments:
    """The moments of an optimizer for an array: zeros before the first step. SGD does not use `second`."""

    first: Array
    second: Array


def no_moments(weight: Array) -> OptimizerMoments:
    """Return the moments of an array before its first step."""
    return OptimizerMoments(np.zeros(weight.shape), np.zeros(weight.shape))


def step(
    how: Optimizer,
    weight: Array,
    gradient: Array,
    moments: OptimizerMoments,
    rate: float,
    count: int,
    *,
    decays: bool = True,
) -> tuple[Array, OptimizerMoments]:
    """Return the weights after step `count`, counted from 1, and the moments.

    `decays`: false for biases and norms.
    """
    decay = how.weight_decay if decays else 0.0
    if isinstance(how, Sgd):
        return _sgd(how, weight, gradient + decay * weight, moments, rate)
    if how.decoupled:
        return _adam(how, weight * (1 - rate * decay), gradient, moments, rate, count)
    return _adam(how, weight, gradient + decay * weight, moments, rate, count)


def _sgd(
    how: Sgd, weight: Array, gradient: Array, moments: OptimizerMoments, rate: float
) -> tuple[Array, OptimizerMoments]:
    velocity = how.momentum * moments.first + gradient
    along = gradient + how.momentum * velocity if how.nesterov else velocity
    return weight - rate * along, OptimizerMoments(velocity, moments.second)


def _adam(
    how: Adam, weight: Array, gradient: Array, moments: OptimizerMoments, rate: float, count: int
) -> tuple[Array, OptimizerMoments]:
    first = how.beta1 * moments.first + (1 - how.beta1) * gradient
    second = how.beta2 * moments.second + (1 - how.beta2) * gradient**2
    corrected = np.sqrt(second / (1 - how.beta2**count)) + how.epsilon
    return weight - rate * first / (1 - how.beta1**count) / corrected, OptimizerMoments(first, second)
