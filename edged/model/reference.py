"""Every operator in NumPy: the reference of all kernels, and the device `numpy`.

Formulas are those of the ONNX operator specification (https://onnx.ai/onnx/operators/), the batch first.
"""

from collections.abc import Callable, Mapping
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from edged.model import graph
from edged.model.activations import RELU, Activation, apply
from edged.model.graph import Float32, Graph, Operator, Pads, Pair
from edged.model.on_host import on_host
from edged.model.package import Input
from edged.model.sampling import sampled_at
from edged.model.shapes import extent

Array = NDArray[Any]
NO_PADS = (0, 0, 0, 0)


def prepare(images: NDArray[np.uint8], wants: Input) -> Float32:
    """Convert uint8 RGB [n, height, width, 3] to the network's input, float32 [n, channels, height, width]."""
    return normalised(luma(images) if wants.color == "gray" else images, wants)


def normalised(images: NDArray[np.uint8], wants: Input) -> Float32:
    """Normalise uint8 [n, height, width, channels] as `prepare` does; already gray for a gray network."""
    pixels = images[..., ::-1] if wants.color == "bgr" else images
    std = np.asarray(wants.std, np.float64)
    factor = np.float32(wants.scale / std)
    offset = np.float32(-np.asarray(wants.mean, np.float64) / std)
    return np.ascontiguousarray((pixels * factor + offset).transpose(0, 3, 1, 2), np.float32)


def luma(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Convert RGB to the input of a gray network: uint8 [..., 3] → uint8 [..., 1].

    0.299 R + 0.587 G + 0.114 B (ITU-R BT.601) in integers, so that all devices agree, and gray pixels stay
    unchanged.
    """
    red, green, blue = (images[..., channel].astype(np.uint32) for channel in range(3))
    sums = 9798 * red + 19235 * green + 3735 * blue
    return np.asarray((sums + 2**14) >> 15, np.uint8)[..., np.newaxis]


def run(network: Graph, x: Array, dtype: type[np.float32] | type[np.float64] = np.float32) -> Array:
    """Return the network's output [n, classes] for inputs [n, channels, height, width], computed in `dtype`."""
    last_use = {name: operator for operator in network.operators for name in operator.inputs}
    tensors: dict[str, Array] = {network.input: x.astype(dtype)}
    for operator in network.operators:
        tensors[operator.output] = compute(operator, *(tensors[name] for name in operator.inputs))
        for name in {*operator.inputs} - {network.output}:  # frees tensors that no later operator reads
            if last_use[name] is operator:
                del tensors[name]
    return tensors[network.output].reshape(len(x), -1)


def run_all(network: Graph, x: Array, dtype: type[np.float32] | type[np.float64] = np.float32) -> dict[str, Array]:
    """Return every tensor of the network by name, each [n, *shape], to find the operator of a wrong kernel."""
    tensors: dict[str, Array] = {network.input: x.astype(dtype)}
    for operator in network.operators:
        tensors[operator.output] = compute(operator, *(tensors[name] for name in operator.inputs))
    return tensors


def compute(operator: Operator, *inputs: Array) -> Array:
    """Return the output of `operator` for batches of its inputs, in their dtype."""
    with np.errstate(all="ignore"):  # as kernels do: infinities and NaN are answers
        return output_of(operator, *inputs)


@singledispatch
def output_of(operator: Operator, *inputs: Array) -> Array:
    """Compute one kind of operator; other modules register theirs."""
    raise NotImplementedError(type(operator).__name__)


@output_of.register
def _conv(operator: graph.Conv, x: Array, *residual: Array) -> Array:
    """Convolve by patches as columns, one matrix product per group (im2col: Chellapilla et al., 2006)."""
    y = _sums(operator, x)
    for other in residual:
        y += other
    return _ended(operator.activation, y)


def _sums(operator: graph.Conv | graph.QuantizedConv, x: Array) -> Array:
    """Return Σ weight · x + bias, [n, out channels, rows, columns]."""
    out, _, *kernel = operator.weight.shape
    patches = _patches(x, (kernel[0], kernel[1]), operator.strides, operator.pads, operator.dilations)
    rows, columns = patches.shape[-2:]
    matrix = patches.reshape(len(x), operator.groups, -1, rows * columns)
    weight = operator.weight.astype(x.dtype, copy=False).reshape(operator.groups, out // operator.groups, -1)
    y = (weight @ matrix).reshape(len(x), out, rows, columns)
    y += operator.bias.astype(x.dtype)[:, None, None]
    return y


def _ended(activation: Activation, y: Array) -> Array:
    """Return the activation of values that nothing else reads: ReLU in their place."""
    return np.maximum(y, 0, out=y) if activation == RELU else apply(activation, y)


def _patches(x: Array, kernel: Pair, strides: Pair, pads: Pads, dilations: Pair) -> Array:
    """Return a view [n, channels, kernel rows, kernel columns, rows, columns]: the input of each tap."""
    seen = sliding_window_view(_padded(x, pads, 0), extent(kernel, dilations), axis=(2, 3))
    seen = seen[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]
    return seen.transpose(0, 1, 4, 5, 2, 3)


def _padded(x: Array, pads: Pads, value: float) -> Array:
    if pads == NO_PADS:
        return x
    top, left, bottom, right = pads
    n, channels, height, width = x.shape
    wide = np.full((n, channels, height + top + bottom, width + left + right), value, x.dtype)
    wide[:, :, top : top + height, left : left + width] = x
    return wide


@output_of.register
def _dense(operator: graph.Dense, x: Array) -> Array:
    y: Array = x @ operator.weight.astype(x.dtype, copy=False).T + operator.bias.astype(x.dtype)
    return _ended(operator.activation, y)


@output_of.register
def _quantized_conv(operator: graph.QuantizedConv, x: Array, *residual: Array) -> Array:
    """Sum in float64, where whole numbers are exact; the rest is defined in float32, so that all devices agree."""
    sums = _sums(operator, x.astype(np.float64)).astype(np.float32)
    values = sums * operator.factor[:, None, None]
    if operator.own_bounds is None or operator.bounds is None:
        return _ended_quantized(operator, values).astype(x.dtype)
    (other,) = residual
    own = _steps(values, operator.own_bounds)
    first, second = (own, other) if operator.is_first else (other, own)
    return _sum_of_steps(first, second, operator.factors, operator.bounds).astype(x.dtype)


@output_of.register
def _quantized_dense(operator: graph.QuantizedDense, x: Array) -> Array:
    sums = x.astype(np.float64) @ operator.weight.T.astype(np.float64) + operator.bias
    return _ended_quantized(operator, sums.astype(np.float32) * operator.factor).astype(x.dtype)


def _ended_quantized(operator: graph.QuantizedConv | graph.QuantizedDense, y: Float32) -> Array:
    ended = apply(operator.activation, y)
    if operator.bounds is None:
        return ended
    scale = operator.scale if isinstance(operator, graph.QuantizedConv) else 1.0
    return _steps(np.asarray(ended / np.float32(scale), np.float32), operator.bounds)


def _steps(y: Float32, bounds: Pair) -> Array:
    return np.asarray(np.clip(np.rint(y), *bounds))


@output_of.register
def _quantized_add(operator: graph.QuantizedAdd, x: Array, other: Array) -> Array:
    return _sum_of_steps(x, other, operator.factors, operator.bounds).astype(x.dtype)


def _sum_of_steps(x: Array, other: Array, factors: tuple[float, float], bounds: Pair) -> Array:
    a, b = map(np.float32, factors)
    first = (x.astype(np.float32) * a).astype(np.float64)
    total = first + other.astype(np.float64) * np.float64(b)  # rounded once below: a fused multiply-add
    return _steps(total.astype(np.float32), bounds)


@output_of.register
def _quantize(operator: graph.Quantize, x: Array) -> Array:
    return _steps(x.astype(np.float32) / np.float32(operator.scale), operator.bounds).astype(x.dtype)


@output_of.register
def _dequantize(operator: graph.Dequantize, x: Array) -> Array:
    return np.asarray(x.astype(np.float32) * np.float32(operator.scale)).astype(x.dtype)


@output_of.register
def _batch_norm(operator: graph.BatchNorm, x: Array) -> Array:
    by_channel = (-1,) + (1,) * (x.ndim - 2)
    factor = operator.factor.astype(x.dtype).reshape(by_channel)
    offset = operator.offset.astype(x.dtype).reshape(by_channel)
    return np.asarray(x * factor + offset)


@output_of.register
def _max_pool(operator: graph.MaxPool, x: Array) -> Array:
    taps = _taps(_padded(x, operator.pads, -np.inf), operator)
    y = taps[0].copy()
    for tap in taps[1:]:
        np.maximum(y, tap, out=y)
    return y


@output_of.register
def _average_pool(operator: graph.AveragePool, x: Array) -> Array:
    total = sum(_taps(_padded(x, operator.pads, 0), operator))
    if operator.count_include_pad or operator.pads == NO_PADS:
        return np.asarray(total / x.dtype.type(operator.kernel[0] * operator.kernel[1]))
    inside = np.ones((1, 1, *x.shape[2:]), x.dtype)
    return np.asarray(total / sum(_taps(_padded(inside, operator.pads, 0), operator)))


def _taps(x: Array, operator: graph.MaxPool | graph.AveragePool) -> list[Array]:
    """Yield views [n, channels, rows, columns], one for each position in the window."""
    seen = _patches(x, operator.kernel, operator.strides, NO_PADS, (1, 1))
    return [seen[:, :, i, j] for i in range(operator.kernel[0]) for j in range(operator.kernel[1])]


@output_of.register
def _add(operator: graph.Add, x: Array, other: Array) -> Array:
    return _ended(operator.activation, x + other)


@output_of.register
def _activate(operator: graph.Activate, x: Array) -> Array:
    return apply(operator.activation, x)


COMBINATIONS: Mapping[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "power": np.power,
    "prelu": lambda x, slope: np.where(x < 0, x * slope, x),
}


@output_of.register
def _combine(operator: graph.Combine, x: Array, *others: Array) -> Array:
    """Combine; kernels read features as the channels of a single pixel, [n, features, 1, 1], and so may `x` be."""
    if operator.constant is None:
        y = others[0]
    else:
        y = operator.constant.astype(x.dtype)
        y = y.reshape(1, *y.shape, *(1,) * (x.ndim - 1 - y.ndim))  # its first axis is that of the channels
    return COMBINATIONS[operator.kind](*((y, x) if operator.is_reversed else (x, y)))


@output_of.register
def _concat(operator: graph.Concat, *inputs: Array) -> Array:
    return np.concatenate(inputs, axis=1)


@output_of.register
def _join(operator: graph.Join, *inputs: Array) -> Array:
    parts = list(inputs)
    if operator.constant is not None:
        shape = (len(inputs[0]), *operator.constant.shape)
        parts.insert(operator.index, np.broadcast_to(operator.constant.astype(inputs[0].dtype), shape))
    return np.concatenate(parts, axis=operator.axis + 1)


@output_of.register
def _rearrange(operator: graph.Rearrange, x: Array) -> Array:
    return x.reshape(len(x), -1)[:, operator.sources].reshape(len(x), *operator.shape)


@output_of.register
def _product(operator: graph.Product, a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("fkrm,fnrk->fnrm", a, b, optimize=True) * a.dtype.type(operator.factor))


@output_of.register
def _layer_norm(operator: graph.LayerNorm, x: Array) -> Array:
    by_channel = (-1,) + (1,) * (x.ndim - 2)
    factor = operator.factor.astype(x.dtype).reshape(by_channel)
    offset = operator.offset.astype(x.dtype).reshape(by_channel)
    centred = x - x.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + x.dtype.type(operator.epsilon))
    return np.asarray(centred / spread * factor + offset)


@output_of.register
def _group_norm(operator: graph.GroupNorm, x: Array) -> Array:
    by_channel = (-1,) + (1,) * (x.ndim - 2)
    factor = operator.factor.astype(x.dtype).reshape(by_channel)
    offset = operator.offset.astype(x.dtype).reshape(by_channel)
    groups = x.reshape(len(x), operator.groups, -1)
    centred = groups - groups.mean(axis=2, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=2, keepdims=True) + x.dtype.type(operator.epsilon))
    return np.asarray((centred / spread).reshape(x.shape) * factor + offset)


REDUCTIONS: Mapping[str, Callable[..., Array]] = {
    "mean": np.mean,
    "sum": np.sum,
    "maximum": np.max,
    "minimum": np.min,
}


@output_of.register
def _reduce_channels(operator: graph.ReduceChannels, x: Array) -> Array:
    return np.asarray(REDUCTIONS[operator.kind](x, axis=1, keepdims=True))


@output_of.register
def _grid_sample(operator: graph.GridSample, x: Array, positions: Array) -> Array:
    (count, channels, _, width), (*_, rows, columns) = x.shape, positions.shape
    images = x.reshape(count, channels, operator.images, -1, width).swapaxes(1, 2)
    places = positions.reshape(count, 2, operator.images, -1, columns).transpose(0, 2, 3, 4, 1)
    each = zip(images.reshape(-1, *images.shape[2:]), places.reshape(-1, *places.shape[2:]), strict=True)
    sampled = np.stack([sampled_at(image, at, align_corners=operator.align_corners) for image, at in each])
    by_frame = sampled.reshape(count, operator.images, channels, -1, columns)
    return by_frame.swapaxes(1, 2).reshape(count, channels, rows, columns)


@output_of.register
def _interpolate(operator: graph.Interpolate, x: Array) -> Array:
    by_rows = (x[:, :, operator.row_indices] * operator.row_weights.astype(x.dtype)[..., np.newaxis]).sum(axis=3)
    taps = by_rows[..., operator.column_indices] * operator.column_weights.astype(x.dtype)
    return np.asarray(taps.sum(axis=-1))


@output_of.register
def _select_channels(operator: graph.SelectChannels, x: Array) -> Array:
    return x[:, list(operator.order)]


@output_of.register
def _local_response_norm(operator: graph.LocalResponseNorm, x: Array) -> Array:
    before = (operator.size - 1) // 2
    around = [(0, 0), (before, operator.size - 1 - before), *((0, 0) for _ in x.shape[2:])]
    squares = sliding_window_view(np.pad(x * x, around), operator.size, axis=1).sum(axis=-1)
    return np.asarray(x / (operator.bias + operator.alpha / operator.size * squares) ** operator.beta, x.dtype)


@output_of.register
def _on_host(operator: graph.OnHost, *inputs: Array) -> Array:
    return on_host(operator, *inputs).astype(inputs[0].dtype)


@output_of.register
def _softmax(operator: graph.Softmax, x: Array) -> Array:
    if not operator.is_log:
        return softmax(x, axis=1)
    shifted = x - x.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def softmax(scores: Array, axis: int = -1) -> Array:
    """Return exp(x) ÷ Σ exp(x) along an axis, in the precision of `scores`; shifted, so that none overflows."""
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))


@output_of.register
def _unflatten(operator: graph.Unflatten, x: Array) -> Array:
    return x[:, :, np.newaxis, np.newaxis]


@output_of.register
def _flatten(operator: graph.Flatten, x: Array) -> Array:
    return x.reshape(len(x), -1)
