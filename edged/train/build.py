"""Build a graph with random weights from layers, or from a trained network; a seed always gives the same weights.

Initialisation: He et al., "Delving Deep into Rectifiers", 2015, equation 10; of the last layer half that variance,
since no ReLU follows it.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from edged.arithmetic import ceil_div
from edged.config.yaml_positions import Path as Keys
from edged.config.yaml_positions import read
from edged.errors import ConfigError, ModelError
from edged.model import graph
from edged.model.activations import RELU, RELU6, SIGMOID
from edged.model.graph import Dense, Float32, Graph, Operator, Pads, Shape, Softmax
from edged.model.package import Model
from edged.model.shapes import MAX_VALUES, make_graph, output_shape
from edged.train.config import Training
from edged.train.layers import ConvLayer, DenseLayer, DepthwiseLayer, Layer
from edged.train.training_operators import Dropout, new_norm

SOURCE = "image"
ACTIVATIONS = {"relu": RELU, "relu6": RELU6, "sigmoid": SIGMOID}


def build(training: Training, classes: int, seed: int, file: Path) -> Graph:
    """Return the untrained network, with a Softmax at its end.

    file: where `training` comes from. Raises ConfigError, which names the layer, if layers do not fit.
    """
    assert training.input, "checked before"  # noqa: S101
    wanted = training.input.as_input()
    builder = _Builder((wanted.channels, wanted.height, wanted.width), classes, np.random.default_rng(seed), file)
    builder.chain(training.layers, ("layers",))
    if training.layers[-1].kind != "softmax":
        builder.push(graph.Softmax("softmax", (builder.tensor,), "softmax"))
    if builder.shape != (classes,):
        _refuse(
            file, ("layers",), f"the last layer gives {_words(builder.shape)}; expected {classes}, one per label"
        )
    return make_graph(training.name, SOURCE, builder.shapes[SOURCE], builder.operators)


class _Builder:
    """The operators so far, and the tensor that the next one reads."""

    def __init__(self, shape: Shape, classes: int, random: np.random.Generator, file: Path) -> None:
        self.operators: list[Operator] = []
        self.shapes: dict[str, Shape] = {SOURCE: shape}
        self.tensor = SOURCE
        self._classes, self._random, self._file = classes, random, file

    @property
    def shape(self) -> Shape:
        return self.shapes[self.tensor]

    def chain(self, layers: Sequence[Layer], keys: Keys) -> None:
        """Add the layers in order. Raises ConfigError."""
        for index, layer in enumerate(layers):
            here = (*keys, index)
            try:
                self._add(layer, here)
            except ModelError as error:
                _refuse(self._file, here, f"{layer.kind} does not fit {_words(self.shape)}: {error}")

    def push(self, operator: Operator) -> None:
        """Add an operator. Raises ModelError if it does not fit its input."""
        shape = output_shape(operator, *(self.shapes[one] for one in operator.inputs))
        _check_size("it would write", shape)
        self.shapes[operator.output] = shape
        self.operators.append(operator)
        self.tensor = operator.output

    def _add(self, layer: Layer, keys: Keys) -> None:
        name = ".".join(["layer", *(str(key) for key in keys if isinstance(key, int))])
        match layer.kind:
            case "conv" if layer.conv:
                self._conv(name, layer.conv, keys)
            case "depthwise" if layer.depthwise:
                self._depthwise(name, layer.depthwise, keys)
            case "dense" if layer.dense:
                self._dense(name, layer.dense, keys)
            case "max_pool" | "average_pool":
                self._pool(name, layer, keys)
            case "residual":
                self._residual(name, layer.residual, keys)
            case "norm":
                self.push(new_norm(f"{name}.norm", self.tensor, f"{name}.norm", self.shape[0]))
            case "global_pool":
                self._global_pool(name, keys)
            case "flatten" if len(self.shape) == 3:
                self.push(graph.Flatten(f"{name}.flatten", (self.tensor,), f"{name}.flatten"))
            case "relu" | "relu6" | "sigmoid":
                name = f"{name}.{layer.kind}"
                self.push(graph.Activate(name, (self.tensor,), name, ACTIVATIONS[layer.kind]))
            case "dropout" if layer.dropout:
                name = f"{name}.dropout"
                self.push(Dropout(name, (self.tensor,), name, layer.dropout.share))
            case "softmax":
                self.push(graph.Softmax(f"{name}.softmax", (self.tensor,), f"{name}.softmax"))

    def _conv(self, name: str, layer: ConvLayer, keys: Keys) -> None:
        self._need_image(keys, "conv")
        if self.shape[0] % layer.groups or layer.filters % layer.groups:
            text = f"{layer.groups} groups do not divide {self.shape[0]} channels and {layer.filters} filters"
            _refuse(self._file, keys, f"conv: {text}: choose a number of groups that divides both")
        pads = _pads(layer)
        self._push_conv(f"{name}.conv", layer.filters, layer.kernel, layer.stride, pads, layer.groups)

    def _depthwise(self, name: str, layer: DepthwiseLayer, keys: Keys) -> None:
        self._need_image(keys, "depthwise")
        count = self.shape[0]
        self._push_conv(f"{name}.depthwise", count, layer.kernel, layer.stride, _pads(layer), count)

    def _push_conv(self, name: str, filters: int, kernel: int, stride: int, pads: Pads, groups: int = 1) -> None:
        channels = self.shape[0] // groups
        weight = self._normal((filters, channels, kernel, kernel), 2 / (channels * kernel * kernel))
        bias, strides = np.zeros(filters, np.float32), (stride, stride)
        self.push(graph.Conv(name, (self.tensor,), name, weight, bias, strides, pads, (1, 1), groups))

    def _dense(self, name: str, layer: DenseLayer, keys: Keys) -> None:
        if len(self.shape) != 1:
            _refuse(self._file, keys, f"dense reads features, found {_words(self.shape)}: put flatten before it")
        is_last = layer.units == "classes"
        units = self._classes if layer.units == "classes" else layer.units
        weight = self._normal((units, self.shape[0]), (1 if is_last else 2) / self.shape[0])
        name = f"{name}.dense"
        self.push(graph.Dense(name, (self.tensor,), name, weight, np.zeros(units, np.float32)))

    def _pool(self, name: str, layer: Layer, keys: Keys) -> None:
        self._need_image(keys, layer.kind)
        kind, settings = (
            (graph.MaxPool, layer.max_pool) if layer.max_pool else (graph.AveragePool, layer.average_pool)
        )
        assert settings  # noqa: S101 - one of the two
        name, stride = f"{name}.{layer.kind}", settings.stride or settings.size
        window, pads = (settings.size, settings.size), (settings.padding,) * 4
        self.push(kind(name, (self.tensor,), name, window, (stride, stride), pads))

    def _global_pool(self, name: str, keys: Keys) -> None:
        self._need_image(keys, "global_pool")
        window = (self.shape[1], self.shape[2])
        self.push(graph.AveragePool(f"{name}.mean", (self.tensor,), f"{name}.mean", window))
        self.push(graph.Flatten(f"{name}.flatten", (self.tensor,), f"{name}.flatten"))

    def _residual(self, name: str, layers: Sequence[Layer], keys: Keys) -> None:
        """Add the layers, and beside them nothing or a 1×1 convolution (with a norm if they have one)."""
        self._need_image(keys, "residual")
        start = self.tensor
        self.chain(layers, (*keys, "residual"))
        end, wanted = self.tensor, self.shape
        self.tensor = start
        if self.shape != wanted:
            self._shortcut(name, wanted, normed=any(layer.kind == "norm" for layer in layers), keys=keys)
        self.push(graph.Add(f"{name}.add", (end, self.tensor), f"{name}.add"))

    def _shortcut(self, name: str, wanted: Shape, *, normed: bool, keys: Keys) -> None:
        if len(wanted) != 3:
            _refuse(
                self._file, keys, f"its layers give {_words(wanted)}; expected an image, to add to their input"
            )
        strides = {ceil_div(mine, theirs) for mine, theirs in zip(self.shape[1:], wanted[1:], strict=True)}
        stride = strides.pop()
        found = tuple(ceil_div(side, stride) for side in self.shape[1:])
        if strides or found != wanted[1:]:
            text = f"its layers make {_words(wanted)} of {_words(self.shape)}"
            _refuse(self._file, keys, f"{text}: no stride of a 1×1 convolution beside them does")
        self._push_conv(f"{name}.shortcut", wanted[0], 1, stride, (0, 0, 0, 0))
        if normed:
            self.push(new_norm(f"{name}.shortcut.norm", self.tensor, f"{name}.shortcut.norm", wanted[0]))

    def _need_image(self, keys: Keys, kind: str) -> None:
        if len(self.shape) != 3:
            _refuse(self._file, keys, f"{kind} reads an image, found {_words(self.shape)}: put it before flatten")

    def _normal(self, shape: Shape, variance: float) -> Float32:
        _check_size("it would have", shape)
        values = self._random.standard_normal(shape, np.float32)
        return np.asarray(values * np.float32(math.sqrt(variance)), np.float32)


def _pads(layer: ConvLayer | DepthwiseLayer) -> Pads:
    before, after = (layer.kernel - 1) // 2, layer.kernel // 2
    return (before, before, after, after) if layer.padding == "same" else (0, 0, 0, 0)


def _check_size(what: str, shape: Shape) -> None:
    """Check the number of values of `shape`. Raises ModelError."""
    if math.prod(shape) > MAX_VALUES:
        raise ModelError(f"{what} {' × '.join(map(str, shape))} numbers; supported are {MAX_VALUES}")


def _words(shape: Shape) -> str:
    if len(shape) == 1:
        return f"{shape[0]} features"
    return f"an image of {shape[0]} channel(s), {shape[1]} rows and {shape[2]} columns"


def _refuse(file: Path, keys: Keys, problem: str) -> None:
    """Raise ConfigError at the line of the layer."""
    place = read(file.read_text("utf-8-sig")).nearest(keys)
    raise ConfigError(f"{file}:{place.line}:{place.column}: {'.'.join(map(str, keys))}: {problem}")


def start_from(model: Model, labels: tuple[str, ...], seed: int) -> Graph:
    """Return the network of `model` for these labels, a Softmax at its end.

    If they are not the model's own, in the same order, its last layer is initialised again (He et al., 2015).
    Raises ModelError for a network that does not end in a Dense.
    """
    network = model.graph
    if not isinstance(network.operators[-1], Softmax):
        softmax = Softmax("softmax", (network.output,), "softmax")
        network = make_graph(
            network.name, network.input, network.shapes[network.input], (*network.operators, softmax)
        )
    if model.labels == labels:
        return network
    last = network.operators[-2]
    if not isinstance(last, Dense) or last.output != network.operators[-1].inputs[0]:
        raise ModelError(
            f"{model.name}: its labels are not those of the data, and its last layer is no Dense that could be "
            "replaced: train it with its own labels, or start from another model"
        )
    features = last.weight.shape[1]
    weight = np.random.default_rng(seed).standard_normal((len(labels), features), np.float32)
    weight *= np.float32(math.sqrt(1 / features))
    anew = replace(last, weight=weight, bias=np.zeros(len(labels), np.float32))
    operators = (*network.operators[:-2], anew, network.operators[-1])
    return make_graph(network.name, network.input, network.shapes[network.input], operators)
