"""More nodes of random networks: those that only the host computes, and kernels' rarer ones.

A node that jumps (Floor, ArgMax, Greater …) reads the network's input, never a computed tensor: rounding errors
would change its answer. What overflows or has poles reads tanh(x).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from onnx import TensorProto, helper

from tests.model.onnx_files import Network

Shape = tuple[int, ...]
Tensors = list[tuple[str, Shape]]  # written so far, with the shape of one frame
Node = Callable[[st.DrawFn, Network, Shape, Tensors], Shape | None]

SMOOTH = "Sin Cos Atan Asinh Neg Identity Dropout Softsign Celu"
SMALL = "Exp Sinh Cosh Tan Asin Acos Atanh"  # of -0.9 to 0.9
POSITIVE = "Log Sqrt Reciprocal Acosh"  # of 1.1 to 2.9
REDUCTIONS = "ReduceSum ReduceL1 ReduceL2 ReduceProd ReduceSumSquare ReduceLogSum ReduceLogSumExp"
STEPS = "Floor Ceil Round Sign Shrink ThresholdedRelu Hardmax"
COMPARISONS = "Greater GreaterOrEqual Less LessOrEqual"


def floats(network: Network, *values: float) -> str:
    """Return a constant: a number, or a list of several."""
    return network.weight(np.array(values if len(values) > 1 else values[0], np.float32))


def integers(network: Network, *values: int) -> str:
    """Return a constant list."""
    return network.weight(np.array(values, np.int64))


def reduce(network: Network, kind: str, axis: int, keepdims: int = 1) -> None:
    """Add a reduction of an axis, as the operator set writes it."""
    if network.opset < 18 and kind != "ReduceSum":
        network.add(kind, axes=[axis], keepdims=keepdims)
    else:
        network.add(kind, integers(network, axis), keepdims=keepdims)


def add_several(network: Network, kind: str, inputs: Sequence[str], count: int, **attributes: Any) -> list[str]:
    """Add a node of several outputs, and return their names; the first is the last tensor."""
    names = [f"{kind.lower()}_{len(network.nodes)}_{place}" for place in range(count)]
    network.nodes.append(helper.make_node(kind, inputs, names, names[0], **attributes))
    network.tensor = names[0]
    return names


def _bounded(network: Network, least: float = 0.0) -> None:
    """Add what makes the last tensor -0.9 to 0.9, or 0.1 to 1.9 and more above `least`."""
    network.add("Tanh")
    network.add("Mul", floats(network, 0.9))
    if least:
        network.add("Add", floats(network, least + 1))


def _an_axis(draw: st.DrawFn, shape: Shape) -> int:
    """Draw an axis of one frame, and return it for a batch: 1 and more."""
    return draw(st.integers(1, len(shape)))


def _resized(shape: Shape, axis: int, size: int) -> Shape:
    return *shape[: axis - 1], size, *shape[axis:]


def _function(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    newer = ["Mish", "Gelu"] if network.opset >= 20 else []
    kind = draw(st.sampled_from([*SMOOTH.split(), *SMALL.split(), *POSITIVE.split(), *newer]))
    if kind in SMALL.split():
        _bounded(network)
    elif kind in POSITIVE.split():
        _bounded(network, least=1.0)
    network.add(kind)
    return shape


def _step(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    network.tensor, shape = tensors[0]
    kind = draw(st.sampled_from(STEPS.split()))
    attributes: dict[str, Any] = {"axis": _an_axis(draw, shape)} if kind == "Hardmax" else {}
    network.add(kind, **attributes)
    return shape


def _choice(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    """Draw a comparison of the input that chooses between a tensor of its shape and a constant, or is a number."""
    others = [name for name, other in tensors if other == tensors[0][1]]
    network.tensor, shape = tensors[0]
    network.add(draw(st.sampled_from(COMPARISONS.split())), floats(network, 0.3))
    if draw(st.booleans()):
        network.add("Not")
    if draw(st.booleans()):
        network.add("Cast", to=TensorProto.FLOAT)
    else:
        network.add("Where", draw(st.sampled_from(others)), floats(network, -1.0))
    return shape


def _not_finite(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    network.add(draw(st.sampled_from(["IsNaN", "IsInf"])))
    network.add("Cast", to=TensorProto.FLOAT)
    return shape


def _best(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    """Draw the place of the input's largest or smallest values, as a number or in one-hot form; or the values."""
    network.tensor, shape = tensors[0]
    axis = _an_axis(draw, shape)
    size = shape[axis - 1]
    what = draw(st.sampled_from(["ArgMax", "ArgMin", "OneHot", "TopK"]))
    if what == "TopK":
        count = draw(st.integers(1, size))
        add_several(
            network, what, ["input", integers(network, count)], 2, axis=axis, largest=draw(st.integers(0, 1))
        )
        return _resized(shape, axis, count)
    if what == "OneHot":
        network.add("ArgMax", axis=axis, keepdims=0)
        network.add(what, network.weight(np.array(size)), floats(network, -0.5, 2.0), axis=axis)
        return shape
    network.add(what, axis=axis, keepdims=1)
    network.add("Cast", to=TensorProto.FLOAT)
    return _resized(shape, axis, 1)


def _rounded(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    """Draw the input in steps of eight bits, with a constant or its own scale; or a remainder of it."""
    network.tensor, shape = tensors[0]
    what = draw(st.sampled_from(["QuantizeLinear", "DynamicQuantizeLinear", "Mod"]))
    if what == "Mod":
        network.add(what, floats(network, 0.7), fmod=1)
    elif what == "QuantizeLinear":
        reads = floats(network, 0.03), network.weight(np.array(100, np.uint8))
        network.add("DequantizeLinear", *reads, reads=network.add(what, *reads))
    else:
        steps, scale, zero = add_several(network, what, ["input"], 3)
        network.add("DequantizeLinear", scale, zero, reads=steps)
    return shape


def _reduction(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    axis = _an_axis(draw, shape)
    _bounded(network, least=0.1)
    reduce(network, draw(st.sampled_from(REDUCTIONS.split())), axis)
    return _resized(shape, axis, 1)


def _of_several(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    """Draw a mean or sum of tensors of one shape."""
    fits = [name for name, other in tensors if other == shape]
    network.add(
        draw(st.sampled_from(["Mean", "Sum"])), *draw(st.lists(st.sampled_from(fits), min_size=1, max_size=3))
    )
    return shape


def _split(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    """Draw two parts, of which one may be empty, and join them in the other order, or leave one out."""
    axis = _an_axis(draw, shape)
    size = shape[axis - 1]
    first = draw(st.integers(0, size))
    reads = [network.tensor, integers(network, first, size - first)]
    parts = add_several(network, "Split", reads, 2, axis=axis)
    if draw(st.booleans()):
        network.add("Concat", parts[0], reads=parts[1], axis=axis)
        return shape
    larger = int(size - first > first)
    network.add("Relu", reads=parts[larger])
    return _resized(shape, axis, max(first, size - first))


def _axes(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    """Draw an axis of one index less or more."""
    ones = [axis for axis, size in enumerate(shape, start=1) if size == 1]
    if ones and len(shape) > 1:
        axis = draw(st.sampled_from(ones))
        network.add("Squeeze", integers(network, axis))
        return *shape[: axis - 1], *shape[axis:]
    if len(shape) > 2:
        return _function(draw, network, shape, tensors)
    axis = draw(st.integers(1, len(shape) + 1))
    network.add("Unsqueeze", integers(network, axis))
    return *shape[: axis - 1], 1, *shape[axis - 1 :]


def _blocks(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    if len(shape) != 3:
        return None
    channels, height, width = shape
    if height % 2 == 0 and width % 2 == 0:
        network.add("SpaceToDepth", blocksize=2)
        return channels * 4, height // 2, width // 2
    if channels % 4:
        return None
    network.add("DepthToSpace", blocksize=2, mode=draw(st.sampled_from(["DCR", "CRD"])))
    return channels // 4, height * 2, width * 2


def _places(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    """Draw an operator that repeats, leaves out, picks or turns indices of an axis."""
    axis = _an_axis(draw, shape)
    size = shape[axis - 1]
    kind = draw(st.sampled_from(["Tile", "Compress", "GatherElements", "ReverseSequence", "CumSum"]))
    if kind == "Tile":
        times = draw(st.integers(1, 2))
        network.add(kind, integers(network, *_resized((1,) * (len(shape) + 1), axis + 1, times)))
        return _resized(shape, axis, size * times)
    if kind == "Compress":
        mask = draw(st.lists(st.booleans(), min_size=1, max_size=size).filter(any))
        network.add(kind, network.weight(np.array(mask)), axis=axis)
        return _resized(shape, axis, sum(mask))
    if kind == "GatherElements":
        written = _resized(shape, axis, draw(st.integers(1, 3)))
        network.add(kind, network.weight(network.random.integers(-size, size, (1, *written))), axis=axis)
        return written
    if kind == "ReverseSequence":
        network.add(kind, integers(network, draw(st.integers(1, shape[0]))), time_axis=1, batch_axis=0)
    else:
        exclusive, backwards = draw(st.integers(0, 1)), draw(st.integers(0, 1))
        network.add(kind, network.weight(np.array(axis)), exclusive=exclusive, reverse=backwards)
    return shape


def _scatter(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    """Draw constants that take the place of an index of an axis, or that are added to it."""
    axis = _an_axis(draw, shape)
    index = draw(st.integers(0, shape[axis - 1] - 1))
    reduction = draw(st.sampled_from(["none", "add", "mul"]))
    if draw(st.booleans()):
        part = (1, *_resized(shape, axis, 1))
        constants = network.weight(np.full(part, index)), network.normal(*part)
        network.add("ScatterElements", *constants, axis=axis, reduction=reduction)
    else:
        place = network.weight(np.array([[0, index % shape[0]]]))
        network.add("ScatterND", place, network.normal(1, *shape[1:]), reduction=reduction)
    return shape


def _gather_nd(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    places = draw(st.lists(st.integers(0, shape[0] - 1), min_size=1, max_size=3))
    network.add("GatherND", network.weight(np.array(places).reshape(1, -1, 1)), batch_dims=1)
    return len(places), *shape[1:]


def _einsum(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    letters = "cij"[: len(shape)]
    summed = draw(st.sampled_from(letters))
    if draw(st.booleans()) and len(shape) > 1:
        network.add("Einsum", equation=f"n{letters}->n{letters.replace(summed, '')}")
        return tuple(size for size, letter in zip(shape, letters, strict=True) if letter != summed)
    out, place = draw(st.integers(1, 4)), letters.index(summed)
    equation = f"n{letters},{summed}d->n{letters.replace(summed, 'd')}"
    network.add("Einsum", network.normal(shape[place], out, std=0.3), equation=equation)
    return *shape[:place], out, *shape[place + 1 :]


def _gemm(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    size, out = int(np.prod(shape)), draw(st.integers(1, 5))
    network.add("Flatten")
    turned = draw(st.booleans())
    sides = (out, size) if turned else (size, out)
    constants = network.normal(*sides, std=0.1), network.normal(out)
    network.add("Gemm", *constants, transB=int(turned), alpha=0.5, beta=draw(st.sampled_from([0.0, 2.0])))
    return (out,)


def _det(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    if len(shape) != 3 or shape[1] != shape[2] or shape[1] > 3:
        return None
    network.add("Tanh")
    network.add("Det")
    return shape[:1]


def _of_images(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    """Draw a norm of channels or pixels, or a sampling at constant places."""
    if len(shape) != 3:
        return None
    older = ["RoiAlign"] if network.opset < 20 else []  # of which onnxruntime has no newer one
    kind = draw(st.sampled_from(["LRN", "LpNormalization", "LpPool", "GridSample", "Resize", *older]))
    sides = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    if kind == "LRN":
        network.add(kind, size=draw(st.sampled_from([1, 3, 5])), alpha=0.3, bias=2.0)
    elif kind == "LpNormalization":
        _bounded(network, least=0.1)
        network.add(kind, axis=_an_axis(draw, shape), p=draw(st.integers(1, 2)))
    elif kind == "LpPool":
        windows = [min(2, side) for side in shape[1:]]
        network.add(kind, kernel_shape=windows, p=draw(st.integers(1, 2)))
        return shape[0], *(side - window + 1 for side, window in zip(shape[1:], windows, strict=True))
    elif kind == "GridSample":
        grid = network.weight(network.random.uniform(-1.2, 1.2, (1, *sides, 2)).astype(np.float32))
        padding = draw(st.sampled_from(["zeros", "border", "reflection"]))
        if padding == "reflection" and min(shape[1:]) == 1:
            padding = "border"  # nothing to reflect: the reference implementation divides by 0
        network.add(kind, grid, padding_mode=padding, align_corners=draw(st.integers(0, 1)))
        return shape[0], *sides
    elif kind == "RoiAlign":
        region = network.weight(np.array([[0.3, 0.2, shape[2] - 0.4, shape[1] - 0.3]], np.float32))
        first = network.weight(np.array([0]))
        network.add(kind, region, first, output_height=sides[0], output_width=sides[1], sampling_ratio=2)
        return shape[0], *sides
    else:
        network.add(kind, "", "", integers(network, 1, shape[0], *sides), mode="cubic")
        return shape[0], *sides
    return shape


def _recurrent(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    """Draw a recurrent layer that reads the first axis as the sequence."""
    if len(shape) != 2:
        return None
    kind, out = draw(st.sampled_from(["RNN", "GRU", "LSTM"])), draw(st.integers(1, 3))
    rows = out * {"RNN": 1, "GRU": 3, "LSTM": 4}[kind]
    network.add("Transpose", perm=[1, 0, 2])
    weights = network.normal(1, rows, shape[1], std=0.3), network.normal(1, rows, out, std=0.3)
    network.add(kind, *weights, network.normal(1, 2 * rows), hidden_size=out)
    network.add("Squeeze", integers(network, 1))
    network.add("Transpose", perm=[1, 0, 2])
    return shape[0], out


def _scan(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    """Draw a running sum, shrunk at each index of the first axis."""
    if len(shape) < 2:
        return None
    nodes = [
        helper.make_node("Mul", ["sum", floats(network, 0.5)], ["shrunk"]),
        helper.make_node("Add", ["shrunk", "part"], ["next"]),
        helper.make_node(draw(st.sampled_from(["Sin", "Relu", "Neg"])), ["next"], ["written"]),
    ]
    reads, writes = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]
        for names in (("sum", "part"), ("next", "written"))
    )
    rows = network.add("Transpose", perm=[1, 0, *range(2, len(shape) + 1)])
    body = helper.make_graph(nodes, "body", reads, writes)
    start = network.normal(1, *shape[1:])
    _, rows = add_several(network, "Scan", [start, rows], 2, body=body, num_scan_inputs=1)
    network.add("Transpose", reads=rows, perm=[1, 0, *range(2, len(shape) + 1)])
    return shape


def _fourier(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    """Draw the sum of the real and imaginary parts of a Fourier transform of an axis."""
    if network.opset >= 20:  # whose axis is an input
        return None
    last = len(shape) + 1
    network.add("Unsqueeze", integers(network, last))
    network.add("DFT", axis=_an_axis(draw, shape))
    reduce(network, "ReduceSum", last, keepdims=0)
    return shape


def _sizes(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    """Draw a division by the number of values, or a Reshape to the shape that there is."""
    tensor = network.tensor
    if draw(st.booleans()):
        network.add("Reshape", network.add("Shape"), reads=tensor)
    else:
        network.add("Size")
        network.add("Div", network.add("Cast", to=TensorProto.FLOAT), reads=tensor)
    return shape


def _newer(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    """Draw a layer of operator set 23."""
    if network.opset < 23:
        return None
    kind = draw(st.sampled_from(["RMSNormalization", "GroupNormalization", "Attention", "RotaryEmbedding"]))
    if kind == "RMSNormalization":
        network.add(kind, network.normal(shape[-1]), axis=-1, epsilon=0.1)
    elif kind == "GroupNormalization" and len(shape) > 1:
        groups = draw(st.sampled_from([each for each in (1, 2, shape[0]) if shape[0] % each == 0]))
        network.add(kind, network.normal(shape[0]), network.normal(shape[0]), num_groups=groups, epsilon=0.1)
    elif kind == "Attention" and len(shape) == 3:
        network.add(kind, network.tensor, network.tensor)
    elif kind == "RotaryEmbedding" and len(shape) == 3 and shape[2] % 2 == 0:
        caches = [network.normal(1, shape[1], shape[2] // 2) for _ in range(2)]
        network.add(kind, *caches)
    else:
        return None
    return shape


MORE_NODES: tuple[Node, ...] = (
    *(_function, _step, _choice, _not_finite, _best, _rounded, _reduction, _of_several, _split, _axes, _blocks),
    *(
        _places,
        _scatter,
        _gather_nd,
        _einsum,
        _gemm,
        _det,
        _of_images,
        _recurrent,
        _scan,
        _fourier,
        _sizes,
        _newer,
    ),
)
