"""What each layer of a network reads: the second moments of its inputs, by which errors of its weights count."""

from collections.abc import Iterator, Mapping

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from edged.compress.weights import Values
from edged.model.graph import Conv, Dense, Graph
from edged.model.model_part import ModelPart
from edged.model.package import Input

PICTURES = 64  # that are computed by the reference, evenly spaced
AT_ONCE = 8  # of them: all tensors of a network are kept meanwhile
MOST_INPUTS = 2304  # of a row of weights, 3×3 windows of 256 channels: a matrix of more takes minutes
SCALED = 1e-4  # how close a row of the graph must be to a multiple of the file's row

Floats = NDArray[np.float64]
Frames = NDArray[np.uint8]


def second_moments(
    model: onnx.ModelProto, weights: Mapping[str, Values], graph: Graph, model_input: Input, frames: Frames
) -> dict[str, Floats]:
    """Return the mean of x xᵀ for each weight that multiplies rows x of [inputs] values: [inputs, inputs].

    model: the file of `graph`. frames: uint8 RGB [n, height, width, 3]. Weights of grouped convolutions, of very
    many inputs, and those that the graph holds in another order are left out.
    """
    layers = dict(_layers(model, weights, graph))
    sums = {name: np.zeros((1, 1)) for name in layers}
    counts = dict.fromkeys(layers, 0)
    chosen = frames[:: max(1, len(frames) // PICTURES)][:PICTURES]
    for start in range(0, len(chosen), AT_ONCE):
        tensors = ModelPart(graph, model_input).tensors(chosen[start : start + AT_ONCE])
        for name, layer in layers.items():
            for x in tensors[layer.inputs[0]]:  # rows of one picture at a time: of VGG-16 they take 230 MB
                rows = _rows(layer, x[np.newaxis])
                # of float32: twice as fast, and exact enough for one picture
                sums[name] = sums[name] + rows.T @ rows
                counts[name] += len(rows)
    return {name: total / counts[name] for name, total in sums.items() if np.isfinite(total).all()}


def _layers(
    model: onnx.ModelProto, weights: Mapping[str, Values], graph: Graph
) -> Iterator[tuple[str, Conv | Dense]]:
    """Yield the layer of the graph that multiplies by each weight of the file, if it is the same one."""
    known = {operator.name: operator for operator in graph.operators if isinstance(operator, Conv | Dense)}
    readers = {name: [node for node in model.graph.node if name in node.input] for name in weights}
    for name, nodes in readers.items():
        layer = known.get(nodes[0].name) or known.get(nodes[0].output[0])
        if len(nodes) == 1 and layer is not None and _is_same(layer, weights[name]):
            yield name, layer


def _is_same(layer: Conv | Dense, values: Values) -> bool:
    """Return whether each row of the layer is one of the file's, times the norm that was folded into it."""
    if layer.weight.shape != values.shape or (isinstance(layer, Conv) and layer.groups > 1):
        return False
    ours = layer.weight.reshape(len(values), -1).astype(np.float64)
    theirs = values.reshape(len(values), -1).astype(np.float64)
    if ours.shape[1] > MOST_INPUTS:
        return False
    factor = (ours * theirs).sum(axis=1) / np.maximum(np.square(theirs).sum(axis=1), np.finfo(np.float64).tiny)
    return bool(np.abs(ours - factor[:, None] * theirs).max() <= SCALED * np.abs(ours).max())


def _rows(layer: Conv | Dense, x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return what the weights are multiplied by at each place: [places, inputs]."""
    if isinstance(layer, Dense):
        return x.reshape(len(x), -1)
    top, left, bottom, right = layer.pads
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    (height, width), (down, across) = layer.weight.shape[2:], layer.dilations
    reach = (height - 1) * down + 1, (width - 1) * across + 1
    windows = sliding_window_view(padded, reach, axis=(2, 3))
    windows = windows[:, :, :: layer.strides[0], :: layer.strides[1], ::down, ::across]
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, x.shape[1] * height * width)
