"""The cost of a network, and the hash that identifies a set of weights."""

import hashlib
import math

from edged.model.graph import Combine, Conv, Dense, Graph, Operator


def macs(graph: Graph) -> int:
    """Return the multiply-accumulates of convolutions and fully connected layers for one frame."""
    return sum(operator_macs(graph, operator) for operator in graph.operators)


def operator_macs(graph: Graph, operator: Operator) -> int:
    """Return the multiply-accumulates of one operator; 0 without weights."""
    if isinstance(operator, Conv):
        rows_and_columns = graph.shapes[operator.output][1:]
        return operator.weight.size * math.prod(rows_and_columns)
    return operator.weight.size if isinstance(operator, Dense) else 0


def weights_sha256(graph: Graph) -> str:
    """Return the hexadecimal SHA-256 of all weights and biases in order."""
    digest = hashlib.sha256()
    for operator in graph.operators:
        if isinstance(operator, Conv | Dense):
            digest.update(operator.weight.tobytes())
            digest.update(operator.bias.tobytes())
        elif isinstance(operator, Combine) and operator.constant is not None:
            digest.update(operator.constant.tobytes())
    return digest.hexdigest()
