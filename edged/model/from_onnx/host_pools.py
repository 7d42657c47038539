"""Pools that the host computes, in a form that the reference implementation of `onnx` computes rightly.

Its pools mistake the order of pads, and the sizes of `auto_pad` with dilated windows. Here each pool gets pads of
its own, by the formulas of the ONNX operator specification; those of maxima and norms become a Pad before it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.window import last_window, same_padding
from edged.model.graph import Pair, Shape

KINDS = ("AveragePool", "LpPool", "MaxPool")
OPSET = 13  # whose Pad reads its pads; pools mean the same in it as in older ones


@dataclass(frozen=True)
class HostPool:
    """The nodes in place of a pool, in the order that they run, and the shape that the pool writes."""

    nodes: tuple[onnx.NodeProto, ...]
    shape: Shape


@dataclass(frozen=True)
class _Axis:
    """A pool along one axis; `extra`: the pixels behind the pads that `ceil_mode` adds."""

    size: int
    reach: int
    stride: int
    pads: Pair
    extra: int

    @property
    def windows(self) -> int:
        return (self.size + sum(self.pads) + self.extra - self.reach) // self.stride + 1


def host_pool(proto: onnx.NodeProto, node: OnnxNode, dims: Shape, dtype: str) -> HostPool:
    """Return what the host computes for a pool of a tensor of the shape `dims`. Raises ModelError."""
    axes = _axes(node, dims)
    if min(axis.windows for axis in axes) < 1:
        raise ModelError("has a window larger than its padded input: the input size is too small for it")
    shape = (*dims[:2], *(axis.windows for axis in axes))
    before, after = [axis.pads[0] for axis in axes], [axis.pads[1] for axis in axes]
    extra = [axis.extra for axis in axes]
    if node.kind == "AveragePool" and node.integer("count_include_pad", 0):
        nodes = _padded(_pool(proto, [0] * len(axes), extra), before, after, np.array(0, dtype))
    elif node.kind == "AveragePool" or node.writes_several:
        nodes = (_pool(proto, before, np.add(after, extra).tolist()),)
    else:
        filler = 0 if node.kind == "LpPool" else -math.inf if dtype == "float32" else np.iinfo(dtype).min
        pool = _pool(proto, [0] * len(axes), [0] * len(axes))
        nodes = _padded(pool, before, np.add(after, extra).tolist(), np.array(filler, dtype))
    if node.writes_several:
        nodes = _with_another_axis(nodes[0], node, axes)
    return HostPool(nodes, shape)


def _pool(proto: onnx.NodeProto, before: Sequence[int], after: Sequence[int]) -> onnx.NodeProto:
    """Return a pool with these pads, which do not count, and nothing else that says how large its output is."""
    pool = onnx.NodeProto()
    pool.CopyFrom(proto)
    _set(pool, auto_pad=None, ceil_mode=None, count_include_pad=None, pads=[*before, *after])
    return pool


def _padded(
    pool: onnx.NodeProto, before: Sequence[int], after: Sequence[int], filler: NDArray[Any]
) -> tuple[onnx.NodeProto, ...]:
    """Return a pool of an input with pads around it."""
    pads, value, padded = (f"{pool.output[0]}/{part}" for part in ("pads", "filler", "padded"))
    amounts = np.array([0, 0, *before, 0, 0, *after], np.int64)
    pad = helper.make_node("Pad", [pool.input[0], pads, value], [padded])
    pool.input[0] = padded
    return _constant(pads, amounts), _constant(value, filler), pad, pool


def _with_another_axis(pool: onnx.NodeProto, node: OnnxNode, axes: Sequence[_Axis]) -> tuple[onnx.NodeProto, ...]:
    """Return a pool that writes places, with an axis of one pixel and a stride of 2 where all strides are 1.

    The reference counts the places of windows with strides of 1 within each channel. Raises ModelError.
    """
    if {axis.stride for axis in axes} != {1} or any(gap > 1 for gap in node.integers("dilations") or ()):
        return (pool,)
    if len(axes) > 2:
        raise ModelError("writes the places of its values along three axes, with strides of 1")
    place, wide = (f"{pool.output[0]}/{part}" for part in ("axis", "of one more"))
    squeezed = [helper.make_node("Squeeze", [f"{name}/wide", place], [name]) for name in pool.output if name]
    pads = [number for axis in axes for number in axis.pads]
    _set(
        pool,
        dilations=None,
        kernel_shape=[1, *(node.integers("kernel_shape") or ())],
        pads=[0, *pads[::2], 0, *pads[1::2]],
        strides=[2, *(1 for _ in axes)],
    )
    unsqueeze = helper.make_node("Unsqueeze", [pool.input[0], place], [wide])
    pool.input[0] = wide
    pool.output[:] = [f"{name}/wide" if name else "" for name in pool.output]
    return _constant(place, np.array([2], np.int64)), unsqueeze, pool, *squeezed


def _axes(node: OnnxNode, dims: Shape) -> list[_Axis]:
    kernel = node.integers("kernel_shape") or ()
    ones = (1,) * len(kernel)
    strides, dilations = (node.integers(name) or ones for name in ("strides", "dilations"))
    given = node.integers("pads") or (0,) * 2 * len(kernel)
    if not len(kernel) == len(dims) - 2 == len(strides) == len(dilations) == len(given) / 2 > 0:
        raise ModelError(f"has a window of {len(kernel)} axes for a tensor of shape {dims}")
    if min(*kernel, *strides, *dilations) < 1 or min(given) < 0:
        raise ModelError("has a window, strides or dilations below 1, or pads below 0")
    pads = list(zip(given[: len(kernel)], given[len(kernel) :], strict=True))
    reaches = [gap * (taps - 1) + 1 for gap, taps in zip(dilations, kernel, strict=True)]
    return [_axis(node, *each) for each in zip(dims[2:], reaches, strides, pads, strict=True)]


def _axis(node: OnnxNode, size: int, reach: int, stride: int, given: Pair) -> _Axis:
    auto = node.text("auto_pad", "NOTSET")
    if auto.startswith("SAME"):
        return _Axis(size, reach, stride, same_padding(auto, size, reach, stride), 0)
    pads = (0, 0) if auto == "VALID" else given
    extra = last_window(size, reach, stride, *pads) if node.integer("ceil_mode", 0) else 0
    return _Axis(size, reach, stride, pads, extra)


def _constant(name: str, value: NDArray[Any]) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value))


def _set(node: onnx.NodeProto, **attributes: Sequence[int] | None) -> None:
    """Replace attributes; None removes one."""
    kept = [attribute for attribute in node.attribute if attribute.name not in attributes]
    del node.attribute[:]
    node.attribute.extend(kept)
    node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items() if value)
