"""Views: tensors of the file whose values lie in another order in a tensor of the graph.

A view has an axis (size, stride) for each of the file's, for a batch of one; the stride is the number of values in
the graph's tensor, row-major, from one index to the next. Transposes, slices and most reshapes only change views.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from edged.model.graph import Shape


class ViewAxis(NamedTuple):
    size: int
    stride: int


Axes = tuple[ViewAxis, ...]


def contiguous(shape: Shape) -> Axes:
    """Return the axes of an array that is row-major."""
    return tuple(ViewAxis(size, math.prod(shape[index + 1 :])) for index, size in enumerate(shape))


def sizes_of(axes: Iterable[ViewAxis]) -> Shape:
    return tuple(axis.size for axis in axes)


def widened(axes: Axes, sizes: Shape) -> Axes:
    """Return axes of these sizes, of which an axis of size 1 repeats its value; a size of 1 changes nothing."""
    return tuple(
        axis if size in (1, axis.size) else ViewAxis(size, 0) for axis, size in zip(axes, sizes, strict=True)
    )


def is_contiguous(axes: Axes) -> bool:
    """Return whether these are all values of an array in their order, but for strides of axes of size 1."""
    usual = contiguous(sizes_of(axes))
    return all(axis.size == 1 or axis.stride == other.stride for axis, other in zip(axes, usual, strict=True))


def merged(axes: Axes) -> Axes:
    """Return the fewest axes that run through the same values."""
    found: list[ViewAxis] = []
    for axis in axes:
        if axis.size == 1:
            continue
        if found and found[-1].stride == axis.size * axis.stride:
            found[-1] = ViewAxis(found[-1].size * axis.size, axis.stride)
        else:
            found.append(axis)
    return tuple(found) or (ViewAxis(1, 1),)


def reshaped(axes: Axes, dims: Shape) -> Axes | None:
    """Return a view of the shape `dims` of the same values in the same order; None if there is none."""
    rest = list(merged(axes)[::-1])
    found: list[ViewAxis] = []
    for size in reversed(dims):
        if size == 1:
            found.append(ViewAxis(1, 0))
            continue
        if not rest or rest[0].size % size:
            return None
        whole = rest[0]
        found.append(ViewAxis(size, whole.stride))
        rest[0] = ViewAxis(whole.size // size, whole.stride * size)
        if rest[0].size == 1:
            rest.pop(0)
    return tuple(found[::-1])


def trailing(axes: Axes, size: int) -> int | None:
    """Return how many axes from the first on are left without the last ones that hold `size` values together."""
    product = 1
    for index in range(len(axes) - 1, -1, -1):
        product *= axes[index].size
        if product == size and axes[index].size > 1:
            return index
    return None


def joined(shape: Sequence[int]) -> Shape:
    """Return the shape of the graph's tensor for a file's shape with its last axis as channels: (channels, …).

    A vector stays one, else it is an image, with the axis before the last as its columns.
    """
    *before, channels = shape
    return (channels, math.prod(before[:-1]), before[-1]) if before else (channels,)
