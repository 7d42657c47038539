"""The loss of a whole network, and its gradient of every weight."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edged.model.graph import Graph, Softmax
from edged.model.reference import Array
from edged.train.reference.backward import backward
from edged.train.reference.forward import forward
from edged.train.reference.loss import cross_entropy


@dataclass(frozen=True)
class Passed:
    """A batch that went through the network and back.

    `tensors` and `gradients` by tensor; `arrays` are gradients by operator and by the name of its array.
    """

    loss: float
    right: int
    tensors: Mapping[str, Array]
    gradients: Mapping[str, Array]
    arrays: Mapping[str, Mapping[str, Array]]


def train_forward(graph: Graph, x: Array) -> dict[str, Array]:
    """Every tensor of the network in training by name."""
    tensors: dict[str, Array] = {graph.input: x.astype(np.float64)}
    for operator in graph.operators:
        tensors[operator.output] = forward(operator, *(tensors[name] for name in operator.inputs))
    return tensors


def scores_of(graph: Graph) -> str:
    """The tensor that the loss takes: what a last Softmax reads, else the output."""
    last = next(operator for operator in graph.operators if operator.output == graph.output)
    return last.inputs[0] if isinstance(last, Softmax) else graph.output


def forward_and_back(graph: Graph, x: Array, labels: NDArray[np.int32], smoothing: float = 0.0) -> Passed:
    """Inputs [n, channels, height, width] and their labels [n], all operators in training."""
    tensors, end = train_forward(graph, x), scores_of(graph)
    scores = tensors[end].reshape(len(x), -1)
    loss, gradient = cross_entropy(scores, labels, smoothing)
    gradients: dict[str, Array] = {end: gradient.reshape(tensors[end].shape)}
    arrays: dict[str, Mapping[str, Array]] = {}
    for operator in reversed(graph.operators):
        if operator.output not in gradients:  # after the scores, or read by nobody
            continue
        inputs = [tensors[name] for name in operator.inputs]
        found = backward(operator, gradients[operator.output], tensors[operator.output], *inputs)
        arrays[operator.name] = found.arrays
        for name, one in zip(operator.inputs, found.inputs, strict=True):
            gradients[name] = gradients.get(name, 0) + one
    return Passed(loss, int((scores.argmax(axis=1) == labels).sum()), tensors, gradients, arrays)
