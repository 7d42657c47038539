"""A graph as ncnn's two files: a text of layers, and the weights of these in order.

Format: ncnn's documentation, "param and model file structure" and "operators" (keys are numbers there).
"""

from collections import Counter
from collections.abc import Mapping
from functools import singledispatch

from edged.model import graph
from edged.model.activations import LINEAR, Activation
from edged.model.graph import Float32, Graph, Operator

MAGIC = "7767517"
FLOAT32 = bytes(4)  # the tag before weights that are stored as they are
Keys = Mapping[int, int | str]
NO_KEYS: Keys = {}
SUM, PRODUCT = 0, 2  # kinds of BinaryOp


class _Writer:
    """Layers and weights so far. A tensor with several readers needs a copy by name for each of them."""

    def __init__(self, network: Graph) -> None:
        self.lines: list[str] = []
        self.weights: list[bytes] = []
        self.blobs = 0
        self._readers = Counter(tensor for operator in network.operators for tensor in operator.inputs)
        self._copies: dict[str, list[str]] = {}
        self.layer("Input", (), network.input)

    def layer(self, kind: str, inputs: tuple[str, ...], output: str, keys: Keys = NO_KEYS) -> None:
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

    def _line(self, kind: str, inputs: tuple[str, ...], outputs: tuple[str, ...], keys: Keys) -> None:
        name = f"{kind}.{len(self.lines)}"
        values = [f"{key}={value}" for key, value in keys.items()]
        self.lines.append(" ".join([kind, name, str(len(inputs)), str(len(outputs)), *inputs, *outputs, *values]))
        self.blobs += len(outputs)


def ncnn_model(network: Graph) -> tuple[str, bytes]:
    """Return the layers and the weights of `network`: operators of `model.zoo`, simplified."""
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
    """Write a sum and the activation after it as layers of their own; an activation alone may be fused."""
    top, left, bottom, right = conv.pads
    out, _, high, wide = conv.weight.shape
    keys = {0: out, 1: wide, 11: high, 2: conv.dilations[1], 12: conv.dilations[0], 3: conv.strides[1]}
    keys |= {13: conv.strides[0], 4: left, 14: top, 15: right, 16: bottom, 5: 1, 6: conv.weight.size}
    writer.constants(conv.weight, conv.bias)
    kind = "Convolution" if conv.groups == 1 else "ConvolutionDepthWise"
    keys |= {7: conv.groups} if conv.groups > 1 else {}
    if len(conv.inputs) == 1:
        _write_ending(writer, kind, conv.inputs, conv.output, keys, conv.activation)
        return
    alone, total = f"{conv.output}.alone", f"{conv.output}.sum" if conv.activation != LINEAR else conv.output
    writer.layer(kind, conv.inputs[:1], alone, keys)
    writer.layer("BinaryOp", (alone, conv.inputs[1]), total, {0: SUM})
    _write_activation(writer, conv.activation, total, conv.output)


def _write_ending(
    writer: _Writer, kind: str, inputs: tuple[str, ...], output: str, keys: Keys, activation: Activation
) -> None:
    """Write a layer of weights with its activation: key 9 is its kind, −23310 its numbers behind their count."""
    match activation:
        case Activation("linear"):
            writer.layer(kind, inputs, output, keys)
        case Activation("relu"):
            writer.layer(kind, inputs, output, {**keys, 9: 1})
        case Activation("clip", lowest, highest):
            writer.layer(kind, inputs, output, {**keys, 9: 3, -23310: f"2,{lowest:f},{highest:f}"})
        case Activation("hard_swish"):
            writer.layer(kind, inputs, output, {**keys, 9: 6, -23310: f"2,{1 / 6:.9f},0.5"})
        case _:
            writer.layer(kind, inputs, f"{output}.linear", keys)
            _write_activation(writer, activation, f"{output}.linear", output)


def _write_activation(writer: _Writer, activation: Activation, source: str, output: str) -> None:
    """Write an activation as a layer of its own; none for a linear one."""
    alpha, beta = f"{activation.alpha:.9f}", f"{activation.beta:.9f}"
    layers: dict[str, tuple[str, Keys]] = {
        "relu": ("ReLU", NO_KEYS),
        "clip": ("Clip", {0: alpha, 1: beta}),
        "sigmoid": ("Sigmoid", NO_KEYS),
        "hard_sigmoid": ("HardSigmoid", {0: alpha, 1: beta}),
        "hard_swish": ("HardSwish", {0: f"{1 / 6:.9f}", 1: "0.5"}),
        "silu": ("Swish", NO_KEYS),
    }
    if activation != LINEAR:
        kind, keys = layers[activation.kind]
        writer.layer(kind, (source,), output, keys)


@_write.register
def _activate(operator: graph.Activate, writer: _Writer) -> None:
    _write_activation(writer, operator.activation, operator.inputs[0], operator.output)


@_write.register
def _add(add: graph.Add, writer: _Writer) -> None:
    total = add.output if add.activation == LINEAR else f"{add.output}.sum"
    writer.layer("BinaryOp", add.inputs, total, {0: SUM})
    _write_activation(writer, add.activation, total, add.output)


@_write.register
def _combine(combine: graph.Combine, writer: _Writer) -> None:
    """Write a product of two tensors, as in squeeze-and-excite."""
    assert (combine.kind, combine.constant) == ("multiply", None), combine
    writer.layer("BinaryOp", combine.inputs, combine.output, {0: PRODUCT})


@_write.register
def _concat(concat: graph.Concat, writer: _Writer) -> None:
    writer.layer("Concat", concat.inputs, concat.output, {0: 0})


@_write.register
def _select_channels(select: graph.SelectChannels, writer: _Writer) -> None:
    """Write channels in a row as a Crop that leaves rows and columns, a channel shuffle as such."""
    first, count = select.order[0], len(select.order)
    parts = shuffled_parts(select.order)
    if parts == 1:
        writer.layer("Crop", select.inputs, select.output, {2: first, 3: -233, 4: -233, 5: count})
    else:
        writer.layer("ShuffleChannel", select.inputs, select.output, {0: parts})


def shuffled_parts(order: tuple[int, ...]) -> int:
    """Return how many equal parts a shuffle interleaves; 1 for channels in a row.

    Raises NotImplementedError for another order.
    """
    first = order[0]
    parts = order.index(first + 1) if first + 1 in order else 1
    each = len(order) // parts
    if order != tuple(first + part * each + place for place in range(each) for part in range(parts)):
        raise NotImplementedError(f"channels in the order {order[:8]}…")
    return parts


@_write.register
def _local_response_norm(norm: graph.LocalResponseNorm, writer: _Writer) -> None:
    keys: Keys = {0: 0, 1: norm.size, 2: f"{norm.alpha:.9f}", 3: f"{norm.beta:.9f}", 4: f"{norm.bias:.9f}"}
    writer.layer("LRN", norm.inputs, norm.output, keys)


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
    _write_ending(writer, "InnerProduct", dense.inputs, dense.output, keys, dense.activation)


@_write.register
def _softmax(softmax: graph.Softmax, writer: _Writer) -> None:
    """Key 1: axis 0 is that of the classes, as it is not in files of before 2018."""
    writer.layer("Softmax", softmax.inputs, softmax.output, {0: 0, 1: 1})
