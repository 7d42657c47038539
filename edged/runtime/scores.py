"""Convert a network's outputs to the top classes of each frame."""

import numpy as np
from numpy.typing import NDArray

from edged.messages import Score
from edged.model.graph import Flatten, Graph, Softmax, Unflatten

Floats = NDArray[np.float32]


def ends_in_softmax(graph: Graph) -> bool:
    """Return whether the network's outputs already are probabilities."""
    writers = {operator.output: operator for operator in graph.operators}
    last = writers.get(graph.output)
    while isinstance(last, Flatten | Unflatten):
        last = writers.get(last.inputs[0])
    return isinstance(last, Softmax)


def top_classes(probabilities: Floats, top: int) -> tuple[Score, ...]:
    """Return the `top` best of one frame's [classes], best first; of equal ones the lower index comes first."""
    best = np.argsort(-probabilities, kind="stable")[:top]
    return tuple(Score(index=int(index), score=float(probabilities[index])) for index in best)
