"""Reference of a network's loss (softmax with cross-entropy), its gradients, augmentation, an optimizer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.model.graph import Graph, Softmax
from edged.model.reference import Array
from edged.model.shapes import make_graph
from edged.train.optimizer import Adam, Optimizer, Sgd
from edged.train.training_operators import Dropout
from tests.train.reference.backward import backward, forward, random_bits


def cross_entropy(scores: Array, labels: NDArray[np.int32], smoothing: float = 0.0) -> tuple[float, Array]:
    """Return the mean loss of scores [n, classes] before their softmax, and its gradient.

    The target is 1 − smoothing for the label, and smoothing divided evenly among all classes (Szegedy et al.,
    2016).
    """
    n, classes = scores.shape
    shifted = scores - scores.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    wanted = np.full((n, classes), smoothing / classes)
    wanted[np.arange(n), labels] += 1 - smoothing
    return float(-(wanted * logs).sum() / n), (np.exp(logs) - wanted) / n


@dataclass(frozen=True)
class Passed:
    """The results of a batch's forward and backward pass.

    `tensors` and `gradients` by tensor; `arrays` are gradients by operator and by the name of its array.
    """

    loss: float
    right: int
    tensors: Mapping[str, Array]
    gradients: Mapping[str, Array]
    arrays: Mapping[str, Mapping[str, Array]]


def train_forward(graph: Graph, x: Array) -> dict[str, Array]:
    """Return every tensor of the network in training by name."""
    tensors: dict[str, Array] = {graph.input: x.astype(np.float64)}
    for operator in graph.operators:
        tensors[operator.output] = forward(operator, *(tensors[name] for name in operator.inputs))
    return tensors


def scores_of(graph: Graph) -> str:
    """Return the tensor that the loss reads: the input of a last Softmax, else the output."""
    last = next(operator for operator in graph.operators if operator.output == graph.output)
    return last.inputs[0] if isinstance(last, Softmax) else graph.output


def forward_and_back(graph: Graph, x: Array, labels: NDArray[np.int32], smoothing: float = 0.0) -> Passed:
    """Compute loss and gradients of inputs [n, channels, height, width] with labels [n], in training mode."""
    tensors, end = train_forward(graph, x), scores_of(graph)
    scores = tensors[end].reshape(len(x), -1)
    loss, gradient = cross_entropy(scores, labels, smoothing)
    gradients: dict[str, Array] = {end: gradient.reshape(tensors[end].shape)}
    arrays: dict[str, Mapping[str, Array]] = {}
    for operator in reversed(graph.operators):
        if operator.output not in gradients:  # after the scores, or without readers
            continue
        inputs = [tensors[name] for name in operator.inputs]
        found = backward(operator, gradients[operator.output], tensors[operator.output], *inputs)
        arrays[operator.name] = found.arrays
        for name, one in zip(operator.inputs, found.inputs, strict=True):
            gradients[name] = gradients.get(name, 0) + one
    return Passed(loss, int((scores.argmax(axis=1) == labels).sum()), tensors, gradients, arrays)


def augment(images: NDArray[np.uint8], seed: int, step: int, *, flip: bool, shift: int) -> NDArray[np.uint8]:
    """Return images [n, height, width, channels], some mirrored, each moved by up to `shift` pixels each way.

    Pixels from outside are black. The changes depend on seed, step and place in the batch only.
    """
    random = random_bits(seed, step, len(images))
    reach = np.uint32(2 * shift + 1)
    down = (random >> np.uint32(1) & np.uint32(0x7FFF)) % reach - np.int64(shift)
    right = (random >> np.uint32(16)) % reach - np.int64(shift)
    flips = flip * (random & np.uint32(1))
    return np.stack([_moved(*one) for one in zip(images, down, right, flips, strict=True)])


def _moved(image: NDArray[np.uint8], down: Any, right: Any, flip: Any) -> NDArray[np.uint8]:
    height, width = image.shape[:2]
    image = image[:, ::-1] if flip else image
    rows, columns = np.arange(height) - down, np.arange(width) - right
    there = np.ix_((rows >= 0) & (rows < height), (columns >= 0) & (columns < width))
    moved = np.zeros_like(image)
    moved[there] = image[rows.clip(0, height - 1)][:, columns.clip(0, width - 1)][there]
    return moved


def at_step(graph: Graph, seed: int, step: int) -> Graph:
    """Return the network in which the reference drops the values that a device drops in this step."""
    operators = [
        replace(each, seed=seed, step=step) if isinstance(each, Dropout) else each for each in graph.operators
    ]
    return make_graph(graph.name, graph.input, graph.shapes[graph.input], operators, graph.output)


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
