"""Dropout: in training each value is zero with a probability; a trained network has none.

Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", 2014. Values that stay are
scaled up in training, so that nothing is scaled afterwards.
"""

from dataclasses import dataclass, replace

from edged.model.graph import Graph, Operator
from edged.model.reference import Array, compute
from edged.model.shapes import make_graph


@dataclass(frozen=True, eq=False)
class Dropout(Operator):
    """In training, each value is 0 with the probability `share`, else it is divided by 1 − share.

    seed, step: which values those are, for the reference; a device gets them with each step.
    """

    share: float
    seed: int = 0
    step: int = 0


@compute.register
def _compute(operator: Dropout, x: Array) -> Array:
    return x


def at_step(graph: Graph, seed: int, step: int) -> Graph:
    """Return the network in which the reference drops the values that a device drops in this step."""
    operators = [
        replace(each, seed=seed, step=step) if isinstance(each, Dropout) else each for each in graph.operators
    ]
    return make_graph(graph.name, graph.input, graph.shapes[graph.input], operators, graph.output)


def without_dropout(graph: Graph) -> Graph:
    """Return the network for inference, in which what read an output of Dropout reads its input."""
    same: dict[str, str] = {}
    kept: list[Operator] = []
    for operator in graph.operators:
        inputs = tuple(same.get(name, name) for name in operator.inputs)
        if isinstance(operator, Dropout):
            same[operator.output] = inputs[0]
        else:
            kept.append(replace(operator, inputs=inputs))
    output = same.get(graph.output, graph.output)
    return make_graph(graph.name, graph.input, graph.shapes[graph.input], kept, output)
