"""What operators write while they are trained."""

from functools import singledispatch

import numpy as np

from edged.model.graph import Operator
from edged.model.reference import Array, compute
from edged.train.norm import TrainedNorm


@singledispatch
def forward(operator: Operator, *inputs: Array) -> Array:
    """What `operator` writes in training for batches of the tensors it reads: for most, what it always writes."""
    return compute(operator, *inputs)


@forward.register
def _norm(operator: TrainedNorm, x: Array) -> Array:
    """With the statistics of the batch itself."""
    scale, offset = (by_channel(values, x) for values in (operator.scale, operator.offset))
    y = np.asarray(normalized(operator, x) * scale + offset)
    return np.maximum(y, 0) if operator.relu else y


def normalized(norm: TrainedNorm, x: Array) -> Array:
    """(x − mean) ÷ √(variance + epsilon), with the batch's statistics."""
    mean, variance = (by_channel(values, x) for values in statistics(x))
    return np.asarray((x - mean) / np.sqrt(variance + norm.epsilon))


def statistics(x: Array) -> tuple[Array, Array]:
    """Mean and (biased) variance of each channel over frames and pixels."""
    return x.mean(axis=over(x)), x.var(axis=over(x))


def running(norm: TrainedNorm, x: Array) -> tuple[Array, Array]:
    """`norm.mean` and `norm.variance` after a batch x; a single value has no variance without bias: 0."""
    mean, variance = statistics(x)
    count = x.size // x.shape[1]
    unbiased = variance * count / max(count - 1, 1)
    keep = 1 - norm.momentum
    return keep * norm.mean + norm.momentum * mean, keep * norm.variance + norm.momentum * unbiased


def over(x: Array) -> tuple[int, ...]:
    """All axes but that of the channels."""
    return (0, *range(2, x.ndim))


def by_channel(values: Array, x: Array) -> Array:
    """One value a channel, to compute with x."""
    return values.reshape((-1,) + (1,) * (x.ndim - 2))
