"""A graph as ncnn's two files: a text of layers, and the weights of these in order.

Format: ncnn's documentation, "param and model file structure" and "operators" (keys are numbers there).
"""

from collections import Counter
from collections.abc import Mapping
from functools import singledispatch

from edged.model import graph
from edged.model.activations import RELU
from edged.model.graph import Float32, Graph, Operator

MAGIC = "7767517"
FLOAT32 = bytes(4)  # the tag before weights that are stored as they are
RELU_KEYS = {9: 1}
NO_KEYS: Mapping[int, int] = {}


class _Writer:
    """Layers and weights so far. A tensor with several readers needs a copy by name for each of them."""

    def __init__(self, network: Graph) -> None:
        self.lines: list[str] = []
        self.weights: list[bytes] = []
        self.blobs = 0
        self._readers = Counter(tensor for operator in network.operators for tensor in operator.inputs)
        self._copies: dict[str, list[str]] = {}
        self.layer("Input", (), network.input)

    def layer(self, kind: str, inputs: tuple[str, ...], output: str, keys: Mapping[int, int] = NO_KEYS) -> None:
        """A line, and one more that splits its output where several layers read that."""
        self._line(kind, tuple(self._copy(tensor) for tensor in inputs), (output,), keys)
        if self._readers[output] > 1:
            self._copies[output] = [f"{output}.copy{i}" for i in range(self._readers[output])]
            self._line("Split", (output,), tuple(self._copies[output]), NO_KEYS)

    def constants(self, weight: Float32, bias: Float32) -> None:
        """Weights of the layer that comes next."""
        self.weights += [FLOAT32, weight.tobytes(), bias.tobytes()]

    def _copy(self, tensor: str) -> str:
        return self._copies[tensor].pop() if tensor in self._copies else tensor

    def _line(self, kind: str, inputs: tuple[str, ...], outputs: tuple[str, ...], keys: Mapping[int, int]) -> None:
        name = f"{kind}.{len(self.lines)}"
        values = [f"{key}={value}" for key, value in keys.items()]
        self.lines.append(" ".join([kind, name, str(len(inputs)), str(len(outputs)), *inputs, *outputs, *values]))
        self.blobs += len(outputs)


def ncnn_model(network: Graph) -> tuple[str, bytes]:
    """The layers and the weights of `network`. Knows the operators that `passes.simplify` leaves of a ResNet."""
    writer = _Writer(network)
    for operator in network.operators:
        _write(operator, writer)
    head = [MAGIC, f"{len(writer.lines)} {writer.blobs}"]
    return "\n".join([*head, *writer.lines, ""]), b"".join(writer.weights)


@singledispatch
def _write(operator: Operator, writer: _Writer) -> None:
    raise NotImplementedError(type(operator).__name__)


@_write.register
def _conv(conv: graph.Conv, writer: _Writer) -> None:
    """The sum and the ReLU after it are layers of their own there; a ReLU alone is part of the convolution."""
    top, left, bottom, right = conv.pads
    out, _, high, wide = conv.weight.shape
    keys = {0: out, 1: wide, 11: high, 2: conv.dilations[1], 12: conv.dilations[0], 3: conv.strides[1]}
    keys |= {13: conv.strides[0], 4: left, 14: top, 15: right, 16: bottom, 5: 1, 6: conv.weight.size}
    writer.constants(conv.weight, conv.bias)
    kind = "Convolution" if conv.groups == 1 else "ConvolutionDepthWise"
    keys |= {7: conv.groups} if conv.groups > 1 else {}
    if len(conv.inputs) == 1:
        writer.layer(kind, conv.inputs, conv.output, keys | (RELU_KEYS if conv.activation == RELU else {}))
        return
    alone, total = f"{conv.output}.alone", f"{conv.output}.sum" if conv.activation == RELU else conv.output
    writer.layer(kind, conv.inputs[:1], alone, keys)
    writer.layer("BinaryOp", (alone, conv.inputs[1]), total, {0: 0})
    if conv.activation == RELU:
        writer.layer("ReLU", (total,), conv.output)


@_write.register
def _max_pool(pool: graph.MaxPool, writer: _Writer) -> None:
    writer.layer("Pooling", pool.inputs, pool.output, {0: 0} | _window(pool))


@_write.register
def _average_pool(pool: graph.AveragePool, writer: _Writer) -> None:
    writer.layer("Pooling", pool.inputs, pool.output, {0: 1, 6: int(pool.count_include_pad)} | _window(pool))


def _window(pool: graph.MaxPool | graph.AveragePool) -> dict[int, int]:
    """Key 5: the pads are those given, and a window that does not fit whole is left out."""
    top, left, bottom, right = pool.pads
    keys = {1: pool.kernel[1], 11: pool.kernel[0], 2: pool.strides[1], 12: pool.strides[0]}
    return keys | {3: left, 13: top, 14: right, 15: bottom, 5: 1}


@_write.register
def _flatten(flatten: graph.Flatten, writer: _Writer) -> None:
    writer.layer("Flatten", flatten.inputs, flatten.output)


@_write.register
def _dense(dense: graph.Dense, writer: _Writer) -> None:
    keys = {0: dense.weight.shape[0], 1: 1, 2: dense.weight.size}
    writer.constants(dense.weight, dense.bias)
    writer.layer(
        "InnerProduct", dense.inputs, dense.output, keys | (RELU_KEYS if dense.activation == RELU else {})
    )


@_write.register
def _softmax(softmax: graph.Softmax, writer: _Writer) -> None:
    """Key 1: axis 0 is that of the classes, as it is not in files of before 2018."""
    writer.layer("Softmax", softmax.inputs, softmax.output, {0: 0, 1: 1})
