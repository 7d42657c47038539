"""Operators that compute something else in training than after it: dropout and batch normalisation.

Dropout: Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", 2014. Values that
stay are scaled up in training, so that nothing is scaled afterwards. Batch normalisation: Ioffe and Szegedy,
"Batch Normalization", 2015, algorithms 1 and 2; it is folded into other operators after training.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from edged.model.activations import LINEAR, Activation, apply
from edged.model.graph import Activate, BatchNorm, Float32, Graph, Operator, Shape
from edged.model.passes import fold_batch_norm
from edged.model.reference import Array, output_of
from edged.model.shapes import make_graph, output_shape, shape_error


@dataclass(frozen=True, eq=False)
class Dropout(Operator):
    """In training, each value is 0 with the probability `share`, else it is divided by 1 − share.

    seed, step: which values those are, for the reference; a device gets them with each step.
    """

    share: float
    seed: int = 0
    step: int = 0


@output_of.register
def _compute_dropout(operator: Dropout, x: Array) -> Array:
    return x


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


@dataclass(frozen=True, eq=False)
class TrainedNorm(Operator):
    """y = (x − mean) ÷ √(variance + epsilon) · scale + offset by channel; each array has one value a channel.

    In training mean and variance are those of the batch over frames and pixels, and `mean` and `variance` here
    run after them: running = (1 − momentum) · running + momentum · batch's, the variance without bias. At its end
    comes `activation`.
    """

    scale: Float32
    offset: Float32
    mean: Float32
    variance: Float32
    epsilon: float = 1e-5
    momentum: float = 0.1
    activation: Activation = LINEAR


def new_norm(name: str, source: str, output: str, channels: int) -> TrainedNorm:
    """Return a norm before training, which leaves values unchanged."""
    one, zero = np.ones(channels, np.float32), np.zeros(channels, np.float32)
    return TrainedNorm(name, (source,), output, one, zero, zero.copy(), one.copy())


def folded(graph: Graph) -> Graph:
    """Return the network for inference: each norm is folded into the Conv or Dense before it.

    A norm without one before it stays, as `BatchNorm`; Dropout goes. Raises ModelError if float32
    cannot represent the weights.
    """
    graph = without_dropout(graph)
    operators = [plain for operator in graph.operators for plain in _plain(operator)]
    return fold_batch_norm(make_graph(graph.name, graph.input, graph.shapes[graph.input], operators, graph.output))


def _plain(operator: Operator) -> tuple[Operator, ...]:
    if not isinstance(operator, TrainedNorm):
        return (operator,)
    if operator.activation == LINEAR:
        return (_as_batch_norm(operator),)
    before = f"{operator.output}.before_activation"
    norm = _as_batch_norm(replace(operator, output=before))
    return norm, Activate(f"{operator.name}.activation", (before,), operator.output, operator.activation)


def _as_batch_norm(norm: TrainedNorm) -> BatchNorm:
    factor = norm.scale / np.sqrt(norm.variance.astype(np.float64) + norm.epsilon)
    offset = norm.offset - norm.mean * factor
    return BatchNorm(norm.name, norm.inputs, norm.output, factor.astype(np.float32), offset.astype(np.float32))


@output_of.register
def _compute_norm(operator: TrainedNorm, x: Array) -> Array:
    """Normalise with the running statistics."""
    by_channel = (-1,) + (1,) * (x.ndim - 2)
    arrays = (operator.mean, operator.variance, operator.scale, operator.offset)
    mean, variance, scale, offset = (values.astype(x.dtype).reshape(by_channel) for values in arrays)
    y = np.asarray((x - mean) / np.sqrt(variance + x.dtype.type(operator.epsilon)) * scale + offset)
    return apply(operator.activation, y)


@output_shape.register
def _output_shape(operator: TrainedNorm, *inputs: Shape) -> Shape:
    for array in fields(operator):
        value = getattr(operator, array.name)
        if isinstance(value, np.ndarray) and value.shape != inputs[0][:1]:
            raise shape_error(
                operator, f"has {array.name} of shape {value.shape} for an input of shape {inputs[0]}"
            )
    return inputs[0]
