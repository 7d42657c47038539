"""Lower a network to the tensors and kernels of a training step: memory layout and the forward pass."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.device import Device
from edged.engine.gradients.grouped_conv import is_depthwise, ungrouped
from edged.engine.gradients.norm import norm_forward, norm_use
from edged.engine.gradients.slope import training_tensor
from edged.engine.gradients.winograd_weights import is_faster, winograd_forward
from edged.engine.gradients.without_weights import dropout, dropout_use, flatten_batch
from edged.engine.launch import Argument, Launch, Resident, Weights
from edged.engine.layout import Tensor
from edged.engine.planner import RULES
from edged.engine.variants import VARIANTS
from edged.engine.variants.conv_depthwise import CONV_DEPTHWISE
from edged.engine.variants.conv_general import CONV_GENERAL
from edged.engine.variants.conv_vector import CONV_VECTOR
from edged.engine.variants.convolution import halo_of_window
from edged.engine.variants.variant import Site
from edged.errors import ModelError
from edged.model.activations import LINEAR
from edged.model.graph import (
    Activate,
    Add,
    AveragePool,
    Conv,
    Dense,
    Flatten,
    Graph,
    MaxPool,
    Operator,
    Softmax,
)
from edged.model.passes import fuse_activation, remove_identities, remove_unused
from edged.model.shapes import make_graph
from edged.train.training_operators import Dropout, TrainedNorm

Tensors = Mapping[str, Tensor]
Residents = Mapping[str, Resident]
Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Lowered:
    """`graph`, in its trained form, lowered for steps of `batch` frames on `device`."""

    graph: Graph
    device: Device
    batch: int
    tensors: Tensors

    def conv(self, operator: Conv | Dense, weight: Array | None = None) -> Conv:
        """Return a layer as the convolution that kernels of training compute. `weight`: replaces its own.

        Dense is a 1×1 convolution of an image of frames; of several groups only depthwise ones have kernels.
        """
        operator = operator if weight is None else replace(operator, weight=weight)
        if isinstance(operator, Dense):
            dense, flattened = operator, self._flattened(operator.inputs[0])
            matrix = dense.weight if flattened is None else _in_order_of_memory(dense.weight, flattened)
            kernel = np.ascontiguousarray(matrix)[:, :, None, None]
            return Conv(dense.name, dense.inputs, dense.output, kernel, dense.bias, activation=dense.activation)
        return ungrouped(operator) if operator.groups > 1 and not is_depthwise(self.site(operator)) else operator

    def site(self, operator: Operator) -> Site[Any]:
        """Return the site at which `operator` is computed."""
        inputs = tuple(self.tensors[name] for name in operator.inputs)
        return Site(operator, inputs, self.tensors[operator.output], self.device)

    def _flattened(self, name: str) -> Tensor | None:
        """Return the images whose features the tensor `name` holds, in the order of memory."""
        written = {operator.output: operator for operator in self.graph.operators}
        writer = written.get(name)
        while isinstance(writer, Activate):
            writer = written.get(writer.inputs[0])
        return self.tensors[writer.inputs[0]] if isinstance(writer, Flatten) else None


def lower(graph: Graph, device: Device, batch: int) -> Lowered:
    """Lay out the tensors of a graph in its trained form. Raises ModelError."""
    block = RULES.channel_block(device)
    tensors = {name: training_tensor(name, shape, batch, block) for name, shape in graph.shapes.items()}
    readers = [operator for operator in graph.operators if graph.input in operator.inputs]
    if len(graph.shapes[graph.input]) == 3 and all(isinstance(reader, Conv | Flatten) for reader in readers):
        tensors[graph.input] = replace(tensors[graph.input], block=1)  # planar: nothing is padded to a block
    lowered = Lowered(graph, device, batch, tensors)
    for operator in graph.operators:
        if isinstance(operator, Conv):
            source = operator.inputs[0]
            halo = tensors[source].halo | halo_of_window(lowered.site(operator), {})
            tensors[source] = replace(tensors[source], halo=halo)
        elif isinstance(operator, Flatten):
            tensors[operator.output] = _features(lowered, operator)
        elif isinstance(operator, Activate | Dropout):
            tensors[operator.output] = replace(tensors[operator.inputs[0]], name=operator.output)
    return lowered


def _features(lowered: Lowered, operator: Flatten) -> Tensor:
    """Return the output of Flatten, with the padding of each block of channels if whole vectors are copied."""
    source, target = lowered.tensors[operator.inputs[0]], lowered.tensors[operator.output]
    if source.block == 1 or source.height * source.width == 1:
        return target
    for reader in lowered.graph.operators:
        if operator.output in reader.inputs and not isinstance(reader, Dense | Activate):
            kind = type(reader).__name__
            raise ModelError(f"{reader.name}: a {kind} behind Flatten cannot be trained; expected Dense or Relu")
    return replace(target, channels=source.blocks * source.block * source.height * source.width)


def _in_order_of_memory(weight: Array, image: Tensor) -> Array:
    """Reorder the columns of [outputs, features] from [channel][pixel] to [channel block][pixel][channel]."""
    if image.block == 1 or image.height * image.width == 1:
        return weight
    outputs, pixels = len(weight), image.height * image.width
    padded = np.zeros((outputs, image.blocks * image.block, pixels), weight.dtype)
    padded[:, : image.channels] = weight.reshape(outputs, image.channels, pixels)
    blocks = padded.reshape(outputs, image.blocks, image.block, pixels)
    return blocks.transpose(0, 1, 3, 2).reshape(outputs, -1)


def forward_launches(
    lowered: Lowered, residents: Mapping[str, Residents], *, training: bool
) -> tuple[Launch, ...]:
    """Return the launches of the forward pass. `residents`: the parameters of each operator, by name.

    Norms use the statistics of the batch in training, else the running ones.
    """
    launches: list[Launch] = []
    for operator in lowered.graph.operators:
        launches += _forward(lowered, operator, residents.get(operator.name, {}), training)
    return tuple(launches)


def _forward(lowered: Lowered, operator: Operator, learnt: Residents, training: bool) -> tuple[Launch, ...]:
    match operator:
        case Conv() | Dense():
            site = lowered.site(lowered.conv(operator))
            if is_faster(site):
                return winograd_forward(site, learnt["weight"], learnt["bias"])
            general = CONV_VECTOR if lowered.device.kind == "cpu" else CONV_GENERAL
            variant = CONV_DEPTHWISE if is_depthwise(site) else general
            (launch,) = variant.launches(site, variant.parameters(site)[0])
            return (replace(launch, arguments=_learning(launch, learnt), frames=site.output.frames),)
        case Flatten():
            return flatten_batch(lowered.site(operator))
        case Dropout():
            return (dropout if training else dropout_use)(lowered.site(operator))
        case TrainedNorm():
            norm = norm_forward if training else norm_use
            return norm(lowered.site(operator), learnt, learnt)
    site = lowered.site(operator)
    return tuple(
        replace(launch, frames=site.output.frames) for launch in VARIANTS[type(operator)][0].launches(site, {})
    )


def _learning(launch: Launch, learnt: Residents) -> tuple[Argument, ...]:
    """Return the arguments with parameters in place of constant weights, in the same order."""
    in_turn = iter((learnt["weight"], learnt["bias"]))
    return tuple(next(in_turn) if isinstance(argument, Weights) else argument for argument in launch.arguments)


TRAINED_ACTIVATIONS = ("linear", "relu", "clip", "sigmoid")  # of gradient.cl
TRAINED = (Activate, Add, AveragePool, Conv, Dense, Dropout, Flatten, MaxPool, TrainedNorm)


def trained_form(graph: Graph) -> Graph:
    """`graph` without a Flatten at its start or a Softmax at its end, sums apart from convolutions, ReLU as the
    end of what comes before, Dropout and activations before a Flatten.

    Operators with weights keep their names. Raises ModelError for what cannot be trained.
    """
    operators: list[Operator] = []
    for operator in graph.operators:
        operators += _apart(operator)
    output = graph.output
    if operators and isinstance(operators[-1], Softmax) and operators[-1].output == output:
        output = operators.pop().inputs[0]
    form = _from_vectors(make_graph(graph.name, graph.input, graph.shapes[graph.input], operators, output))
    form = remove_unused(remove_identities(_flattened_last(form)))
    form = fuse_activation(form, (Add, Conv, Dense, TrainedNorm))
    _check(form)
    return form


def _from_vectors(graph: Graph) -> Graph:
    """Return a network that begins by flattening images as a network of vectors.

    The caller flattens the images.
    """
    readers = [operator for operator in graph.operators if graph.input in operator.inputs]
    if len(readers) != 1 or not isinstance(readers[0], Flatten):
        return graph
    (flatten,) = readers
    others = [operator for operator in graph.operators if operator is not flatten]
    return make_graph(graph.name, flatten.output, graph.shapes[flatten.output], others, graph.output)


def _flattened_last(graph: Graph) -> Graph:
    """Move Dropout and activations of flattened images to the images: these have no padding between features."""
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        before = written.get(operator.inputs[0])
        if isinstance(operator, Activate | Dropout) and isinstance(before, Flatten):
            image = f"{operator.output}:image"
            written[image] = replace(operator, inputs=before.inputs, output=image)
            operator = replace(before, name=f"{operator.name}:flatten", inputs=(image,), output=operator.output)  # noqa: PLW2901
        written[operator.output] = operator
    return make_graph(graph.name, graph.input, graph.shapes[graph.input], [*written.values()], graph.output)


def _apart(operator: Operator) -> tuple[Operator, ...]:
    """Split a convolution that adds a second input into two operators."""
    if not isinstance(operator, Conv) or len(operator.inputs) == 1:
        return (operator,)
    conv = replace(operator, inputs=operator.inputs[:1], output=f"{operator.output}:conv", activation=LINEAR)
    inputs = (conv.output, operator.inputs[1])
    return conv, Add(f"{operator.name}:sum", inputs, operator.output, operator.activation)


def _check(graph: Graph) -> None:
    for operator in graph.operators:
        if not isinstance(operator, TRAINED):
            kind = type(operator).__name__
            raise ModelError(f"{graph.name}: {operator.name} is a {kind}, which cannot be trained")
        activation = getattr(operator, "activation", LINEAR)
        if activation.kind not in TRAINED_ACTIVATIONS:
            able = ", ".join(kind for kind in TRAINED_ACTIVATIONS if kind != LINEAR.kind)
            raise ModelError(f"{graph.name}: {operator.name} ends in {activation}; activations to train: {able}")
    shape = graph.shapes[graph.output]
    if len(shape) != 1:
        raise ModelError(f"{graph.name}: its output has the shape {shape}; expected a score per class, (classes,)")
