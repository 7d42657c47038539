"""Rewrite operators so that values move less often: slices before a convolution, moves of moves, nested pools."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.model.activations import LINEAR
from edged.model.graph import (
    Concat,
    Conv,
    Flatten,
    Graph,
    MaxPool,
    Operator,
    Pair,
    Quantize,
    QuantizedConv,
    Rearrange,
    Shape,
)
from edged.model.shapes import count_reads, with_operators

IMAGE_RANK = 3  # channels, rows, columns

Written = Mapping[str, Operator]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Slice:
    """All channels of every `steps` pixel (vertical, horizontal) of `source`, from its pixel `first` on."""

    source: str
    first: Pair
    steps: Pair


def fuse_slices(graph: Graph) -> Graph:
    """Replace a convolution of slices that together are an image by one of the image.

    Exporters write YOLOv5's and YOLOX's first layer as four slices, joined as channels (Focus, Jocher, 2020).
    """
    written = {operator.output: operator for operator in graph.operators}
    found = [_of_whole_image(operator, written, graph.shapes) or (operator,) for operator in graph.operators]
    return with_operators(graph, [operator for operators in found for operator in operators])


def _of_whole_image(conv: Operator, written: Written, shapes: Mapping[str, Shape]) -> tuple[Operator, ...] | None:
    """Return the convolution of the image whose slices `conv` reads; None if it reads none.

    The weight of a slice's pixel (y, x) of the window is that of the image's pixel steps · (y, x) + first. Where
    steps of the slices are read, the image's steps are written first.
    """
    if not isinstance(conv, Conv | QuantizedConv) or conv.groups > 1 or conv.dilations != (1, 1):
        return None
    quantize = written.get(conv.inputs[0])
    joined = written.get(quantize.inputs[0]) if isinstance(quantize, Quantize) else quantize
    if not isinstance(joined, Concat):
        return None
    slices = [_slice_of(tensor, written, shapes) for tensor in joined.inputs]
    whole = slices[0]
    if whole is None or not _are_an_image(slices, shapes[joined.inputs[0]], shapes[whole.source]):
        return None
    outs, ins, height, width = conv.weight.shape
    down, across = whole.steps
    channels = ins // len(slices)
    weight = np.zeros((outs, channels, height * down, width * across), conv.weight.dtype)
    for index, each in enumerate(slices):
        if each is not None:
            top, left = each.first
            weight[:, :, top::down, left::across] = conv.weight[:, index * channels : (index + 1) * channels]
    top, left, bottom, right = conv.pads
    window: dict[str, Any] = {
        "weight": weight,
        "strides": (conv.strides[0] * down, conv.strides[1] * across),
        "pads": (top * down, left * across, bottom * down, right * across),
    }
    if not isinstance(quantize, Quantize):
        return (replace(conv, inputs=(whole.source, *conv.inputs[1:]), **window),)
    steps = replace(quantize, name=f"{conv.name}/steps", inputs=(whole.source,), output=f"{conv.output}/steps")
    return steps, replace(conv, inputs=(steps.output, *conv.inputs[1:]), **window)


def _are_an_image(slices: list[Slice | None], shape: Shape, whole: Shape) -> bool:
    """Return whether slices of this shape hold each pixel of an image of the shape `whole` once."""
    known = [each for each in slices if each is not None]
    first = known[0]
    down, across = first.steps
    return (
        len({each.first for each in known}) == len(slices) == down * across > 1
        and all((each.source, each.steps) == (first.source, first.steps) for each in known)
        and whole == (shape[0], shape[1] * down, shape[2] * across)
    )


def _slice_of(tensor: str, written: Written, shapes: Mapping[str, Shape]) -> Slice | None:
    """Return `tensor` as a slice of the tensor from which slices and moves make it; None if it is none."""
    source, places = _places(tensor, written, shapes)
    if places.ndim < IMAGE_RANK or len(shapes[source]) != IMAGE_RANK or min(places.shape[1:]) < 2:
        return None
    channels, height, width = shapes[source]
    top, left = divmod(int(places[0, 0, 0]), width)
    down, rest = divmod(int(places[0, 1, 0] - places[0, 0, 0]), width)
    across = int(places[0, 0, 1] - places[0, 0, 0])
    if top >= height or rest or min(down, across) < 1:
        return None
    numbered = np.arange(channels * height * width).reshape(channels, height, width)
    is_slice = np.array_equal(places, numbered[:, top::down, left::across])
    return Slice(source, (top, left), (down, across)) if is_slice else None


def _places(tensor: str, written: Written, shapes: Mapping[str, Shape]) -> tuple[str, Places]:
    """Return the tensor from which moves make `tensor`, and where in it, row-major, each value lies."""
    match written.get(tensor):
        case Rearrange() as move:
            moved = move.sources.reshape(move.shape)
        case Conv() as conv if _takes_pixels(conv):
            shape = shapes[conv.inputs[0]]
            down, across = conv.strides
            moved = np.arange(prod(shape)).reshape(shape)[:, ::down, ::across]
        case _:
            return tensor, np.arange(prod(shapes[tensor])).reshape(shapes[tensor])
    source, places = _places(written[tensor].inputs[0], written, shapes)
    return source, places.reshape(-1)[moved]


def _takes_pixels(conv: Conv) -> bool:
    """Return whether a convolution computes nothing, but leaves out rows and columns."""
    outs, ins, *window = conv.weight.shape
    return (
        window == [1, 1]
        and outs == ins
        and len(conv.inputs) == 1
        and conv.activation == LINEAR
        and not any(conv.pads)
        and not conv.bias.any()
        and np.array_equal(conv.weight[:, :, 0, 0], np.eye(outs, dtype=np.float32))
    )


def join_moves(graph: Graph) -> Graph:
    """Replace a Rearrange or Flatten of a Rearrange by one Rearrange; flatten what a Concat joins before it."""
    uses = count_reads(graph)
    written: dict[str, Operator] = {}
    for operator in graph.operators:
        for each in _flattened_before(operator, written, uses):
            written[each.output] = _of_one_move(each, written) or each
    return with_operators(graph, written.values())


def _flattened_before(operator: Operator, written: Written, uses: Counter[str]) -> list[Operator]:
    """Return a Flatten of joined rearranged images as the Concat of their Flattens; any other operator alone.

    Rows behind each other are what both make, and thus each value moves once, and not three times.
    """
    joined = written.get(operator.inputs[0])
    if not isinstance(operator, Flatten) or not isinstance(joined, Concat) or uses[joined.output] > 1:
        return [operator]
    if not all(isinstance(written.get(tensor), Rearrange) for tensor in joined.inputs):
        return [operator]
    parts = [
        Flatten(f"{operator.name}/{index}", (tensor,), f"{operator.output}/{index}")
        for index, tensor in enumerate(joined.inputs)
    ]
    return [*parts, Concat(operator.name, tuple(part.output for part in parts), operator.output)]


def _of_one_move(operator: Operator, written: Written) -> Rearrange | None:
    """Return a move of what another one moved as one; None if there is no such other, or no strides say both."""
    before = written.get(operator.inputs[0])
    if not isinstance(before, Rearrange):
        return None
    match operator:
        case Flatten():
            return replace(before, name=operator.name, output=operator.output, shape=(prod(before.shape),))
        case Rearrange():
            places = before.sources[operator.sources]
            axes = _axes_of(places)
            first = int(places[0])
            move = replace(operator, inputs=before.inputs, offset=first)
            return replace(move, sizes=axes[0], strides=axes[1]) if axes else None
    return None


def _axes_of(places: Places) -> tuple[Shape, tuple[int, ...]] | None:
    """Return sizes and strides that give these places from the first one on; None if none do."""
    sizes: list[int] = []
    strides: list[int] = []
    rest = places
    while rest.size > 1:
        stride = int(rest[1] - rest[0])
        breaks = np.flatnonzero(np.diff(rest) != stride)
        size = int(breaks[0]) + 1 if breaks.size else rest.size
        if rest.size % size or not _repeats(rest.reshape(-1, size), stride):
            return None
        sizes.insert(0, size)
        strides.insert(0, stride)
        rest = rest[::size]
    return tuple(sizes) or (1,), tuple(strides) or (1,)


def _repeats(rows: Places, stride: int) -> bool:
    """Return whether each row counts by `stride` from its first place on."""
    return bool((rows - rows[:, :1] == np.arange(rows.shape[1]) * stride).all())


def nest_pools(graph: Graph) -> Graph:
    """Compute a maximum over a window from that over a smaller one of the same image, as SPP has them.

    Both have stride 1 and keep the size: max over k₂ = max over k₂ − k₁ + 1 of the maxima over k₁, at edges too.
    """
    pools: dict[str, list[MaxPool]] = {}
    operators: list[Operator] = []
    for operator in graph.operators:
        if isinstance(operator, MaxPool) and _keeps_size(operator):
            before = pools.setdefault(operator.inputs[0], [])
            operators.append(_of_smaller(operator, before))
            before.append(operator)
        else:
            operators.append(operator)
    return with_operators(graph, operators)


def _keeps_size(pool: MaxPool) -> bool:
    height, width = pool.kernel
    is_odd = height % 2 == width % 2 == 1
    return is_odd and pool.strides == (1, 1) and pool.pads == (height // 2, width // 2) * 2


def _of_smaller(pool: MaxPool, others: Sequence[MaxPool]) -> MaxPool:
    """Return `pool` as one of the output of the largest of `others` that is smaller."""
    height, width = pool.kernel
    smaller = [each for each in others if each.kernel[0] < height and each.kernel[1] < width]
    if not smaller:
        return pool
    largest = max(smaller, key=lambda each: prod(each.kernel))
    rest = height - largest.kernel[0] + 1, width - largest.kernel[1] + 1
    return replace(pool, inputs=(largest.output,), kernel=rest, pads=(rest[0] // 2, rest[1] // 2) * 2)
