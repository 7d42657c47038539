"""Compute the shape that each operator writes, and build graphs with all shapes."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import singledispatch

import numpy as np

from edged.errors import ModelError
from edged.model import graph
from edged.model.graph import Graph, Operator, Pads, Pair, Shape

MAX_VALUES = 2**28  # of one tensor of one frame: 1 GiB of float32
CONTRADICTION = "the file contradicts itself, export the network again"


def make_graph(
    name: str, source: str, source_shape: Shape, operators: Sequence[Operator], output: str | None = None
) -> Graph:
    """Build a graph of operators in order, from the input `source` to `output`, by default the last one's.

    Raises ModelError for an operator that does not fit the shapes it reads, or a tensor above `MAX_VALUES`.
    """
    shapes = {source: source_shape}
    for operator in operators:
        shape = output_shape(operator, *(shapes[tensor] for tensor in operator.inputs))
        if not 0 < math.prod(shape) <= MAX_VALUES:
            raise shape_error(
                operator, f"would write a tensor of shape {shape}; it may hold 1 to {MAX_VALUES} values"
            )
        shapes[operator.output] = shape
    if output is None:
        output = operators[-1].output if operators else source
    return Graph(name, source, output, tuple(operators), shapes)


def with_operators(graph: Graph, operators: Iterable[Operator], output: str | None = None) -> Graph:
    """Return the graph with these operators, and this output, in place of its own.

    Raises ModelError as `make_graph` does.
    """
    source = graph.shapes[graph.input]
    return make_graph(
        graph.name, graph.input, source, tuple(operators), graph.output if output is None else output
    )


def count_reads(graph: Graph) -> Counter[str]:
    """Return how often each tensor is read; the network's output counts once more."""
    reads = Counter(tensor for operator in graph.operators for tensor in operator.inputs)
    reads[graph.output] += 1
    return reads


def shape_error(operator: Operator, problem: str) -> ModelError:
    """Return an error that names the operator."""
    return ModelError(f"operator {operator.name} ({type(operator).__name__}) {problem}")


def extent(kernel: Pair, dilations: Pair) -> Pair:
    """Return the rows and columns that a window spans."""
    return dilations[0] * (kernel[0] - 1) + 1, dilations[1] * (kernel[1] - 1) + 1


def windows(size: Pair, kernel: Pair, strides: Pair, pads: Pads, dilations: Pair = (1, 1)) -> Pair:
    """Return the number of window positions (rows, columns); below 1 if the window is larger than the image."""
    top, left, bottom, right = pads
    high, wide = extent(kernel, dilations)
    return (size[0] + top + bottom - high) // strides[0] + 1, (size[1] + left + right - wide) // strides[1] + 1


@singledispatch
def output_shape(operator: Operator, *inputs: Shape) -> Shape:
    """Return the shape that `operator` writes for inputs of the shapes `inputs`: for most, that of the first.

    Raises ModelError if they do not fit.
    """
    return inputs[0]


@output_shape.register(graph.Conv)
@output_shape.register(graph.QuantizedConv)
def _conv(operator: graph.Conv | graph.QuantizedConv, *inputs: Shape) -> Shape:
    channels, height, width = _image(operator, inputs[0])
    out, per_group, *kernel = operator.weight.shape
    if channels != per_group * operator.groups or out % operator.groups or operator.bias.shape != (out,):
        raise shape_error(
            operator,
            f"has weights {operator.weight.shape} in {operator.groups} group(s) and a bias {operator.bias.shape}, "
            f"which do not fit {channels} input channels: {CONTRADICTION}",
        )
    rows, columns = windows(
        (height, width), (kernel[0], kernel[1]), operator.strides, operator.pads, operator.dilations
    )
    shape = _not_empty(operator, (out, rows, columns))
    if len(inputs) > 1 and inputs[1] != shape:
        raise shape_error(operator, f"writes {shape} but is to add {inputs[1]}")
    return shape


@output_shape.register(graph.Dense)
@output_shape.register(graph.QuantizedDense)
def _dense(operator: graph.Dense | graph.QuantizedDense, *inputs: Shape) -> Shape:
    out, features = operator.weight.shape
    if inputs[0] != (features,) or operator.bias.shape != (out,):
        raise shape_error(
            operator,
            f"has weights {operator.weight.shape} and a bias {operator.bias.shape}, which do not fit an input "
            f"of shape {inputs[0]}: {CONTRADICTION}",
        )
    return (out,)


@output_shape.register
def _batch_norm(operator: graph.BatchNorm, *inputs: Shape) -> Shape:
    channels = (inputs[0][0],)
    if operator.factor.shape != channels or operator.offset.shape != channels:
        raise shape_error(operator, f"has {operator.factor.shape} factors for an input of shape {inputs[0]}")
    return inputs[0]


@output_shape.register(graph.MaxPool)
@output_shape.register(graph.AveragePool)
def _pool(operator: graph.MaxPool | graph.AveragePool, *inputs: Shape) -> Shape:
    channels, height, width = _image(operator, inputs[0])
    top, left, bottom, right = operator.pads
    if max(top, bottom) >= operator.kernel[0] or max(left, right) >= operator.kernel[1]:
        raise shape_error(
            operator, f"has pads {operator.pads} that are not smaller than its window {operator.kernel}"
        )
    rows, columns = windows((height, width), operator.kernel, operator.strides, operator.pads)
    return _not_empty(operator, (channels, rows, columns))


@output_shape.register(graph.Add)
@output_shape.register(graph.QuantizedAdd)
def _add(operator: graph.Add | graph.QuantizedAdd, *inputs: Shape) -> Shape:
    if len(inputs) != 2 or inputs[0] != inputs[1]:
        raise shape_error(operator, f"adds tensors of the shapes {inputs}; supported: two of one shape")
    return inputs[0]


@output_shape.register
def _combine(operator: graph.Combine, *inputs: Shape) -> Shape:
    shapes = inputs if operator.constant is None else (*inputs, operator.constant.shape)
    try:
        if len(shapes) != 2 or len(shapes[0]) != len(shapes[1]):
            raise ValueError
        return np.broadcast_shapes(*shapes)
    except ValueError:
        problem = f"combines the shapes {shapes}; supported are two that broadcast: {CONTRADICTION}"
        raise shape_error(operator, problem) from None


@output_shape.register
def _concat(operator: graph.Concat, *inputs: Shape) -> Shape:
    if not inputs or len({shape[1:] for shape in inputs}) != 1:
        raise shape_error(
            operator, f"joins the channels of {inputs}; supported are images of one size, or features"
        )
    return (sum(shape[0] for shape in inputs), *inputs[0][1:])


@output_shape.register
def _join(operator: graph.Join, *inputs: Shape) -> Shape:
    parts = list(inputs)
    if operator.constant is not None:
        parts.insert(operator.index, operator.constant.shape)
    fixed = {(*shape[: operator.axis], *shape[operator.axis + 1 :]) for shape in parts}
    if operator.axis not in {1, 2} or len(fixed) != 1 or {len(shape) for shape in parts} != {3}:
        raise shape_error(operator, f"joins {parts} along axis {operator.axis}; supported are images of one size")
    size = sum(shape[operator.axis] for shape in parts)
    return (*parts[0][: operator.axis], size, *parts[0][operator.axis + 1 :])


@output_shape.register
def _rearrange(operator: graph.Rearrange, *inputs: Shape) -> Shape:
    reach = [(size - 1) * stride for size, stride in zip(operator.sizes, operator.strides, strict=True)]
    first = operator.offset + sum(each for each in reach if each < 0)
    last = operator.offset + sum(each for each in reach if each > 0)
    if math.prod(operator.sizes) != math.prod(operator.shape) or first < 0 or last >= math.prod(inputs[0]):
        raise shape_error(operator, f"takes values {first} to {last} of an input of shape {inputs[0]}")
    return operator.shape


@output_shape.register
def _product(operator: graph.Product, *inputs: Shape) -> Shape:
    a, b = inputs
    if len(a) != 3 or len(b) != 3 or a[1] != b[1] or a[0] != b[2]:
        raise shape_error(operator, f"multiplies the matrices {a} and {b}, which do not fit")
    return b[0], a[1], a[2]


@output_shape.register(graph.GroupNorm)
@output_shape.register(graph.LayerNorm)
def _layer_norm(operator: graph.GroupNorm | graph.LayerNorm, *inputs: Shape) -> Shape:
    channels = (inputs[0][0],)
    if isinstance(operator, graph.GroupNorm) and channels[0] % operator.groups:
        raise shape_error(operator, f"has {operator.groups} groups, which do not fit {channels[0]} channels")
    if operator.factor.shape != channels or operator.offset.shape != channels:
        raise shape_error(operator, f"has {operator.factor.shape} factors for an input of shape {inputs[0]}")
    return inputs[0]


@output_shape.register
def _reduce_channels(operator: graph.ReduceChannels, *inputs: Shape) -> Shape:
    return (1, *inputs[0][1:])


@output_shape.register
def _grid_sample(operator: graph.GridSample, *inputs: Shape) -> Shape:
    channels, height, _ = _image(operator, inputs[0])
    numbers, rows, columns = _image(operator, inputs[1])
    if numbers != 2 or height % operator.images or rows % operator.images:
        shapes = f"{operator.images} images of the shape {inputs[0]} at positions of the shape {inputs[1]}"
        raise shape_error(operator, f"samples {shapes}")
    return channels, rows, columns


@output_shape.register
def _interpolate(operator: graph.Interpolate, *inputs: Shape) -> Shape:
    channels, height, width = _image(operator, inputs[0])
    if operator.row_indices.max() >= height or operator.column_indices.max() >= width:
        raise shape_error(operator, f"takes pixels beyond an image of {height} × {width}")
    return channels, len(operator.row_indices), len(operator.column_indices)


@output_shape.register
def _select_channels(operator: graph.SelectChannels, *inputs: Shape) -> Shape:
    if not operator.order or not all(0 <= channel < inputs[0][0] for channel in operator.order):
        raise shape_error(operator, f"takes channels that an input of shape {inputs[0]} does not have")
    return (len(operator.order), *inputs[0][1:])


@output_shape.register
def _on_host(operator: graph.OnHost, *inputs: Shape) -> Shape:
    if [math.prod(shape) for shape in inputs] != [math.prod(shape) for shape in operator.reads]:
        raise shape_error(operator, f"reads tensors of the shapes {inputs}; it needs {operator.reads}")
    return operator.shape


@output_shape.register
def _unflatten(operator: graph.Unflatten, *inputs: Shape) -> Shape:
    if len(inputs[0]) != 1:
        raise shape_error(operator, f"reads a tensor of shape {inputs[0]}; it needs (features,)")
    return (*inputs[0], 1, 1)


@output_shape.register
def _flatten(operator: graph.Flatten, *inputs: Shape) -> Shape:
    return (math.prod(inputs[0]),)


def _image(operator: Operator, shape: Shape) -> tuple[int, int, int]:
    if len(shape) != 3:
        raise shape_error(operator, f"reads a tensor of shape {shape}; it needs (channels, height, width)")
    return shape[0], shape[1], shape[2]


def _not_empty(operator: Operator, shape: tuple[int, int, int]) -> Shape:
    if shape[1] < 1 or shape[2] < 1:
        raise shape_error(
            operator, "has a window larger than its padded input: the input size is too small for it"
        )
    return shape
