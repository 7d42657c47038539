"""What a network costs, and what tells one set of weights from another."""

import hashlib
import math

from edged.model.graph import Conv, Dense, Graph


def macs(graph: Graph) -> int:
    """Multiply-accumulates of convolutions and fully connected layers for one frame."""
    total = 0
    for operator in graph.operators:
        if isinstance(operator, Conv):
            rows_and_columns = graph.shapes[operator.output][1:]
            total += operator.weight.size * math.prod(rows_and_columns)
        elif isinstance(operator, Dense):
            total += operator.weight.size
    return total


def weights_sha256(graph: Graph) -> str:
    """Hexadecimal SHA-256 of all weights and biases in order."""
    digest = hashlib.sha256()
    for operator in graph.operators:
        if isinstance(operator, Conv | Dense):
            digest.update(operator.weight.tobytes())
            digest.update(operator.bias.tobytes())
    return digest.hexdigest()
