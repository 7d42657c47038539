"""Reference of forward and backward passes of each operator, in float64."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.gradients.without_weights import salt_of, threshold_of
from edged.model import graph
from edged.model.activations import LINEAR, Activation, apply
from edged.model.graph import Operator, Pads, Pair
from edged.model.reference import Array, compute
from edged.model.shapes import extent
from edged.train.training_operators import Dropout, TrainedNorm

Bits = NDArray[np.uint32]

Window = tuple[slice, slice]


def random_bits(seed: int, step: int, count: int) -> Bits:
    """Return 32 random bits for each of `count` places."""
    within = mixed(np.uint32(step) ^ mixed(np.arange(count, dtype=np.uint32)))
    return mixed(np.uint32(seed) ^ within)


def mixed(bits: Any) -> Bits:
    """Apply the last part of MurmurHash3 (Appleby)."""
    bits = (bits ^ bits >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    bits = (bits ^ bits >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return np.asarray(bits ^ bits >> np.uint32(16), np.uint32)


@singledispatch
def forward(operator: Operator, *inputs: Array) -> Array:
    """Return the output of `operator` in training for its inputs: for most, the same as in inference."""
    return compute(operator, *inputs)


@forward.register
def _norm_forward(operator: TrainedNorm, x: Array) -> Array:
    """Normalise with the statistics of the batch."""
    scale, offset = (by_channel(values, x) for values in (operator.scale, operator.offset))
    y = np.asarray(normalized(operator, x) * scale + offset)
    return apply(operator.activation, y)


def normalized(norm: TrainedNorm, x: Array) -> Array:
    """Return (x − mean) ÷ √(variance + epsilon), with the batch's statistics."""
    mean, variance = (by_channel(values, x) for values in statistics(x))
    return np.asarray((x - mean) / np.sqrt(variance + norm.epsilon))


def statistics(x: Array) -> tuple[Array, Array]:
    """Return mean and (biased) variance of each channel over frames and pixels."""
    return x.mean(axis=over(x)), x.var(axis=over(x))


def running(norm: TrainedNorm, x: Array) -> tuple[Array, Array]:
    """Return `norm.mean` and `norm.variance` after a batch x.

    The unbiased variance of a single value counts as 0.
    """
    mean, variance = statistics(x)
    count = x.size // x.shape[1]
    unbiased = variance * count / max(count - 1, 1)
    keep = 1 - norm.momentum
    return keep * norm.mean + norm.momentum * mean, keep * norm.variance + norm.momentum * unbiased


def over(x: Array) -> tuple[int, ...]:
    """Return all axes but that of the channels."""
    return (0, *range(2, x.ndim))


def by_channel(values: Array, x: Array) -> Array:
    """Reshape one value per channel to broadcast over x."""
    return values.reshape((-1,) + (1,) * (x.ndim - 2))


@forward.register
def _dropout_forward(operator: Dropout, x: Array) -> Array:
    return x * _kept(operator, x)


def _kept(operator: Dropout, x: Array) -> Array:
    """Return what each value is multiplied by: 0, or the factor that makes up for the zeros.

    Vectors of features are drawn as the device has them: the frames are the pixels of one image.
    """
    bits = random_bits(operator.seed ^ salt_of(operator.name), operator.step, x.size)
    drawn = bits.reshape(x.shape[::-1]).T if x.ndim == 2 else bits.reshape(x.shape)
    return np.asarray((drawn >= threshold_of(operator.share)) / (1 - operator.share))


@dataclass(frozen=True)
class Gradients:
    """Gradients of the inputs, in order, and of the operator's own arrays by name."""

    inputs: tuple[Array, ...]
    arrays: Mapping[str, Array] = field(default_factory=dict)


@singledispatch
def backward(operator: Operator, gradient: Array, output: Array, *inputs: Array) -> Gradients:
    """Return the gradients. `gradient`: of `output`, which `operator` wrote for `inputs` in training."""
    raise NotImplementedError(type(operator).__name__)


@backward.register
def _conv(operator: graph.Conv, gradient: Array, output: Array, x: Array, *residual: Array) -> Gradients:
    """Return the gradients tap by tap: each reads the input at every stride-th place."""
    gradient = _through(operator.activation, gradient, output)
    n, groups = len(x), operator.groups
    weight = operator.weight.astype(np.float64).reshape(groups, -1, *operator.weight.shape[1:])
    by_group = gradient.reshape(n, groups, -1, *gradient.shape[2:])
    padded = pad(x, operator.pads, 0).reshape(n, groups, -1, *padded_size(x, operator.pads))
    to_input, to_weight = np.zeros_like(padded), np.zeros_like(weight)
    kernel: Pair = (weight.shape[3], weight.shape[4])
    for (ky, kx), seen in taps(kernel, operator.strides, operator.dilations, gradient):
        to_weight[..., ky, kx] = np.einsum("ngohw,ngihw->goi", by_group, padded[..., *seen])
        to_input[..., *seen] += np.einsum("goi,ngohw->ngihw", weight[..., ky, kx], by_group)
    arrays = {"weight": to_weight.reshape(operator.weight.shape), "bias": gradient.sum(axis=(0, 2, 3))}
    own = unpad(to_input.reshape(n, -1, *padded.shape[3:]), x, operator.pads)
    return Gradients((own, *(gradient for _ in residual)), arrays)


@backward.register
def _dense(operator: graph.Dense, gradient: Array, output: Array, x: Array) -> Gradients:
    gradient = _through(operator.activation, gradient, output)
    arrays = {"weight": gradient.T @ x, "bias": gradient.sum(axis=0)}
    return Gradients((gradient @ operator.weight.astype(np.float64),), arrays)


@backward.register
def _norm(operator: TrainedNorm, gradient: Array, output: Array, x: Array) -> Gradients:
    """Return the gradients of a norm: Ioffe and Szegedy, section 3, simplified."""
    gradient = _through(operator.activation, gradient, output)
    hat, axes = normalized(operator, x), over(x)
    spread = np.sqrt(statistics(x)[1] + operator.epsilon)
    arrays = {"scale": (gradient * hat).sum(axis=axes), "offset": gradient.sum(axis=axes)}
    count = x.size // x.shape[1]
    taken = by_channel(arrays["offset"], x) / count + hat * by_channel(arrays["scale"], x) / count
    return Gradients((by_channel(operator.scale / spread, x) * (gradient - taken),), arrays)


@backward.register
def _max_pool(operator: graph.MaxPool, gradient: Array, output: Array, x: Array) -> Gradients:
    """Give the gradient to the largest; of equal ones to the first of the window, row by row, as PyTorch does."""
    padded = pad(x, operator.pads, -np.inf)
    to_input, taken = np.zeros_like(padded), np.zeros(output.shape, bool)
    for _, seen in taps(operator.kernel, operator.strides, (1, 1), gradient):
        wins = (padded[..., *seen] == output) & ~taken
        taken |= wins
        to_input[..., *seen] += gradient * wins
    return Gradients((unpad(to_input, x, operator.pads),))


@backward.register
def _average_pool(operator: graph.AveragePool, gradient: Array, output: Array, x: Array) -> Gradients:
    inside = pad(np.ones_like(x[:1, :1]), operator.pads, float(operator.count_include_pad))
    windows = list(taps(operator.kernel, operator.strides, (1, 1), gradient))
    shared = gradient / sum(inside[..., *seen] for _, seen in windows)
    to_input = np.zeros_like(pad(x, operator.pads, 0))
    for _, seen in windows:
        to_input[..., *seen] += shared
    return Gradients((unpad(to_input, x, operator.pads),))


@backward.register
def _add(operator: graph.Add, gradient: Array, output: Array, *inputs: Array) -> Gradients:
    gradient = _through(operator.activation, gradient, output)
    return Gradients((gradient, gradient))


@backward.register
def _activate(operator: graph.Activate, gradient: Array, output: Array, x: Array) -> Gradients:
    return Gradients((_through(operator.activation, gradient, output),))


def _through(activation: Activation, gradient: Array, output: Array) -> Array:
    """Return the gradient before an activation that wrote `output`: where it is cut off, at its bounds too, 0."""
    if activation == LINEAR:
        return gradient
    return np.asarray(gradient * _slope(activation, output))


def _slope(activation: Activation, output: Array) -> Array:
    """Return the derivative of an activation where it wrote `output`."""
    match activation.kind:
        case "relu":
            return np.asarray(output > 0)
        case "clip":
            return np.asarray((output > activation.alpha) & (output < activation.beta))
        case "sigmoid":
            return np.asarray(output * (1 - output))
    raise NotImplementedError(activation.kind)


@backward.register
def _dropout(operator: Dropout, gradient: Array, output: Array, x: Array) -> Gradients:
    return Gradients((gradient * _kept(operator, x),))


@backward.register
def _flatten(operator: graph.Flatten, gradient: Array, output: Array, x: Array) -> Gradients:
    return Gradients((gradient.reshape(x.shape),))


@backward.register
def _softmax(operator: graph.Softmax, gradient: Array, output: Array, x: Array) -> Gradients:
    along = (gradient * output).sum(axis=1, keepdims=True)
    return Gradients((output * (gradient - along),))


def taps(kernel: Pair, strides: Pair, dilations: Pair, output: Array) -> Iterator[tuple[Pair, Window]]:
    """Yield each position in the window, row by row, with the rows and columns of the input that it reads."""
    rows, columns = output.shape[2:]
    for ky in range(kernel[0]):
        for kx in range(kernel[1]):
            top, left = ky * dilations[0], kx * dilations[1]
            high, wide = extent((rows, columns), strides)
            yield (ky, kx), (slice(top, top + high, strides[0]), slice(left, left + wide, strides[1]))


def pad(x: Array, pads: Pads, value: float) -> Array:
    """Return x with `value` around its images."""
    top, left, bottom, right = pads
    return np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=value)


def padded_size(x: Array, pads: Pads) -> Pair:
    """Return rows and columns of `pad`'s images."""
    return x.shape[2] + pads[0] + pads[2], x.shape[3] + pads[1] + pads[3]


def unpad(padded: Array, x: Array, pads: Pads) -> Array:
    return padded[:, :, pads[0] : pads[0] + x.shape[2], pads[1] : pads[1] + x.shape[3]]
