"""The form in which a network is trained: what its kernels compute, without what only answers need."""

from dataclasses import replace

from edged.errors import ModelError
from edged.model.graph import (
    Add,
    AveragePool,
    Conv,
    Dense,
    Flatten,
    Graph,
    MaxPool,
    Operator,
    Relu,
    Softmax,
)
from edged.model.passes import fuse_relu, remove_identities, remove_unused
from edged.model.shapes import make_graph
from edged.train.norm import TrainedNorm

TRAINED = (Add, AveragePool, Conv, Dense, Flatten, MaxPool, Relu, TrainedNorm)


def trained_form(graph: Graph) -> Graph:
    """`graph` without a Flatten at its start or a Softmax at its end, sums apart from convolutions, ReLU as the
    end of what comes before.

    Operators with weights keep their names. Raises ModelError for what cannot be trained.
    """
    operators: list[Operator] = []
    for operator in graph.operators:
        operators += _apart(operator)
    output = graph.output
    if operators and isinstance(operators[-1], Softmax) and operators[-1].output == output:
        output = operators.pop().inputs[0]
    form = _from_vectors(make_graph(graph.name, graph.input, graph.shapes[graph.input], operators, output))
    form = fuse_relu(remove_unused(remove_identities(form)), (Add, Conv, Dense, TrainedNorm))
    _check(form)
    return form


def _from_vectors(graph: Graph) -> Graph:
    """A network that begins by flattening images as one of vectors: whoever brings the images flattens them."""
    readers = [operator for operator in graph.operators if graph.input in operator.inputs]
    if len(readers) != 1 or not isinstance(readers[0], Flatten):
        return graph
    (flatten,) = readers
    others = [operator for operator in graph.operators if operator is not flatten]
    return make_graph(graph.name, flatten.output, graph.shapes[flatten.output], others, graph.output)


def _apart(operator: Operator) -> tuple[Operator, ...]:
    """A convolution that adds a second input, as two operators."""
    if not isinstance(operator, Conv) or len(operator.inputs) == 1:
        return (operator,)
    conv = replace(operator, inputs=operator.inputs[:1], output=f"{operator.output}:conv", relu=False)
    inputs = (conv.output, operator.inputs[1])
    return conv, Add(f"{operator.name}:sum", inputs, operator.output, operator.relu)


def _check(graph: Graph) -> None:
    for operator in graph.operators:
        if not isinstance(operator, TRAINED):
            kind = type(operator).__name__
            raise ModelError(f"{graph.name}: {operator.name} is a {kind}, which cannot be trained")
        if isinstance(operator, Conv) and operator.groups > 1:
            raise ModelError(
                f"{graph.name}: {operator.name} has {operator.groups} groups of channels; "
                "only convolutions with one group can be trained"
            )
    shape = graph.shapes[graph.output]
    if len(shape) != 1:
        raise ModelError(f"{graph.name}: its output has the shape {shape}; expected one score a class, (classes,)")
