"""Random networks of all operators: branches, joins, odd sizes. Hypothesis shrinks one that is wrong."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.model.onnx_files import Network
from tests.model.random_operators import MORE_NODES, Node, Shape, Tensors, reduce
from tests.model.token_networks import gelu, gelu_by_tanh

ACTIVATIONS = st.sampled_from(
    ["Relu", "Sigmoid", "Tanh", "HardSwish", "HardSigmoid", "LeakyRelu", "Elu", "Softplus", "Abs", "Erf", "Selu"]
)


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Draw a network of up to eight nodes that ends in one vector a frame."""
    first = draw(st.tuples(st.integers(1, 5), st.integers(1, 9), st.integers(1, 9)))
    batch: int | str = 1 if draw(st.booleans()) else "N"
    network = Network([batch, *first], opset=draw(st.sampled_from([17, 23])), seed=draw(st.integers(0, 3)))
    tensors: Tensors = [("input", first)]
    for _ in range(draw(st.integers(1, 8))):
        tensor, shape = draw(st.sampled_from(tensors))
        network.tensor = tensor
        written = draw(st.sampled_from(NODES))(draw, network, shape, tensors)
        if written is not None:
            tensors.append((network.tensor, written))
    network.tensor = tensors[-1][0]
    if network.tensor == "input":
        network.add("Relu")
    network.add("Flatten")
    return network


def _activation(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    network.add(draw(ACTIVATIONS))
    return shape


def _clip(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    low, high = (draw(st.sampled_from([-1.0, 0.0, 0.5, 6.0])) for _ in range(2))
    network.add("Clip", *(network.weight(np.array(bound, np.float32)) for bound in (low, high)))
    return shape


def _conv(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    if len(shape) != 3:
        return None
    channels, height, width = shape
    groups = draw(st.sampled_from([each for each in (1, 2, channels) if channels % each == 0]))
    out = groups * draw(st.integers(1, 3))
    kernel = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    stride, dilation = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    pads = [draw(st.integers(0, 2)) for _ in range(4)]
    rows, columns = (
        (size + before + after - dilation * (side - 1) - 1) // stride + 1
        for size, before, after, side in zip((height, width), pads[:2], pads[2:], kernel, strict=True)
    )
    if rows < 1 or columns < 1:
        return None
    weight = network.normal(out, channels // groups, *kernel, std=0.5)
    network.add("Conv", weight, group=groups, strides=[stride] * 2, dilations=[dilation] * 2, pads=pads)
    return out, rows, columns


def _pool(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    if len(shape) != 3 or min(shape[1:]) < 2:
        return None
    kernel, stride = draw(st.integers(2, min(3, *shape[1:]))), draw(st.integers(1, 2))
    pad = draw(st.integers(0, 1))
    network.add(
        draw(st.sampled_from(["MaxPool", "AveragePool"])),
        kernel_shape=[kernel] * 2,
        strides=[stride] * 2,
        pads=[pad] * 4,
    )
    return shape[0], *((size + 2 * pad - kernel) // stride + 1 for size in shape[1:])


def _squeezed(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    if len(shape) != 3:
        return None
    network.add(draw(st.sampled_from(["GlobalAveragePool", "GlobalMaxPool"])))
    return shape[0], 1, 1


def _of_two(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    """Draw arithmetic with another tensor that broadcasts, often the same one."""
    others = [(name, other) for name, other in tensors if len(other) == len(shape) and _broadcasts(shape, other)]
    name, other = draw(st.sampled_from(others))
    network.add(draw(st.sampled_from(["Add", "Sub", "Mul", "Max", "Min"])), name)
    return np.broadcast_shapes(shape, other)


def _broadcasts(shape: Shape, other: Shape) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(shape, other, strict=True))


def _with_constant(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    sides = tuple(size if draw(st.booleans()) else 1 for size in shape)
    constant = network.normal(*sides[draw(st.integers(0, len(sides))) :])
    kind = draw(st.sampled_from(["Add", "Sub", "Mul", "Max", "Min", "Div"]))
    is_first = kind != "Div" and draw(st.booleans())  # a tensor may hold 0
    reads = (constant, network.tensor) if is_first else (network.tensor, constant)
    network.add(kind, reads[1], reads=reads[0])
    return shape


def _concat(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    axis = draw(st.integers(0, len(shape) - 1))
    fits = [
        (name, other)
        for name, other in tensors
        if len(other) == len(shape) and other[:axis] + other[axis + 1 :] == shape[:axis] + shape[axis + 1 :]
    ]
    chosen = draw(st.lists(st.sampled_from(fits), min_size=1, max_size=2))
    network.add("Concat", *(name for name, _ in chosen), axis=axis + 1)
    size = shape[axis] + sum(other[axis] for _, other in chosen)
    return *shape[:axis], size, *shape[axis + 1 :]


def _slice(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    axis = draw(st.integers(0, len(shape) - 1))
    start = draw(st.integers(0, shape[axis] - 1))
    end, step = draw(st.integers(start + 1, shape[axis])), draw(st.integers(1, 2))
    network.add("Slice", *(network.weight(np.array([each])) for each in (start, end, axis + 1, step)))
    return *shape[:axis], len(range(start, end, step)), *shape[axis + 1 :]


def _gather(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    axis = draw(st.integers(0, len(shape) - 1))
    places = draw(st.lists(st.integers(-shape[axis], shape[axis] - 1), min_size=1, max_size=4))
    network.add("Gather", network.weight(np.array(places)), axis=axis + 1)
    return *shape[:axis], len(places), *shape[axis + 1 :]


def _pad(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    if len(shape) != 3:
        return None
    around = [draw(st.integers(0, 2)) for _ in range(4)]
    before, after = [0, 0, *around[:2]], [0, 0, *around[2:]]
    network.add("Pad", network.weight(np.array(before + after)))
    return shape[0], shape[1] + around[0] + around[2], shape[2] + around[1] + around[3]


def _transpose(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    order = draw(st.permutations(range(len(shape))))
    if network.tensor == "input" and order == [2, 0, 1]:  # means that the picture has its channels last
        order = [0, 1, 2]
    network.add("Transpose", perm=[0, *(axis + 1 for axis in order)])
    return tuple(shape[axis] for axis in order)


def _reshape(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    size = int(np.prod(shape))
    sides = [each for each in range(1, size + 1) if size % each == 0]
    first = draw(st.sampled_from(sides))
    second = draw(st.sampled_from([each for each in sides if (size // first) % each == 0]))
    wanted = draw(st.sampled_from([(size,), (first, size // first), (first, second, size // first // second)]))
    network.add("Reshape", network.weight(np.array([0, *wanted[:-1], -1])))
    return wanted


def _reduce(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    axis = draw(st.integers(0, len(shape) - 1))
    reduce(network, draw(st.sampled_from(["ReduceMean", "ReduceMax", "ReduceMin"])), axis + 1)
    return *shape[:axis], 1, *shape[axis + 1 :]


def _softmax(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    network.add(draw(st.sampled_from(["Softmax", "LogSoftmax"])), axis=draw(st.integers(1, len(shape))))
    return shape


def _norm(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    constants = [network.normal(shape[0]) for _ in range(3)]
    spread = network.weight(np.linspace(0.5, 2, shape[0], dtype=np.float32))
    network.add("BatchNormalization", *constants, spread)
    return shape


def _dense(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    out = draw(st.integers(1, 6))
    network.add("MatMul", network.normal(shape[-1], out, std=0.5))
    return *shape[:-1], out


def _product(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    """Draw a matrix product with another tensor, or with this one's transpose."""
    if len(shape) < 2:
        return None
    order = [*range(len(shape) - 1), len(shape), len(shape) - 1]
    fits = [(name, other) for name, other in tensors if other[:-2] == shape[:-2] and other[-2:-1] == shape[-1:]]
    first = network.tensor
    if not fits or draw(st.booleans()):
        network.add("Transpose", perm=order)
        fits = [(network.tensor, (*shape[:-2], shape[-1], shape[-2]))]
    name, other = draw(st.sampled_from(fits))
    network.add("Mul", network.weight(np.array(0.1, np.float32)), reads=network.add("MatMul", name, reads=first))
    return *shape[:-1], other[-1]


def _layer_norm(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    axis = draw(st.integers(0, len(shape) - 1))
    constants = [network.normal(*shape[axis:]) for _ in range(2)]
    network.add("LayerNormalization", *constants, axis=axis - len(shape), epsilon=0.1)
    return shape


def _group_norm(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    if len(shape) < 2:
        return None
    constants = [network.normal(shape[0]) for _ in range(2)]
    network.add("InstanceNormalization", *constants, epsilon=0.1)
    return shape


def _resize(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    if len(shape) != 3:
        return None
    scales = [draw(st.sampled_from([0.5, 1.0, 1.5, 2.0])) for _ in range(2)]
    sides = [int(side * scale) for side, scale in zip(shape[1:], scales, strict=True)]
    if min(sides) < 1:
        return None
    network.add(
        *("Resize", "", network.weight(np.array([1, 1, *scales], np.float32))),
        mode=draw(st.sampled_from(["nearest", "linear"])),
        coordinate_transformation_mode=draw(st.sampled_from(["half_pixel", "asymmetric", "pytorch_half_pixel"])),
        nearest_mode="floor",
    )
    return shape[0], sides[0], sides[1]


def _conv_transpose(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    if len(shape) != 3:
        return None
    kernel, strides, gaps = (tuple(draw(st.integers(1, 3)) for _ in range(2)) for _ in range(3))
    pads = [draw(st.integers(0, side - 1)) for side in kernel * 2]
    sides = [
        stride * (side - 1) + gap * (window - 1) + 1 - pads[place] - pads[place + 2]
        for place, (side, window, stride, gap) in enumerate(zip(shape[1:], kernel, strides, gaps, strict=True))
    ]
    if min(sides) < 1:
        return None
    out = draw(st.integers(1, 3))
    weight = network.normal(shape[0], out, *kernel, std=0.5)
    network.add("ConvTranspose", weight, strides=strides, dilations=gaps, pads=pads)
    return out, sides[0], sides[1]


def _expand(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    wanted = tuple(draw(st.integers(1, 3)) if size == 1 else size for size in shape)
    network.add("Expand", network.weight(np.array([1, *wanted])))
    return wanted


def _token(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    """Draw a constant beside a tensor, along any axis, in a batch of one."""
    if network.shape[0] != 1:
        return _slice(draw, network, shape, tensors)
    axis = draw(st.integers(0, len(shape) - 1))
    constant = network.normal(1, *shape[:axis], 2, *shape[axis + 1 :])
    parts = (network.tensor, constant) if draw(st.booleans()) else (constant, network.tensor)
    network.add("Concat", parts[1], reads=parts[0], axis=axis + 1)
    return *shape[:axis], shape[axis] + 2, *shape[axis + 1 :]


def _index(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    if len(shape) < 2:
        return None
    axis = draw(st.integers(0, len(shape) - 1))
    network.add("Gather", network.weight(np.array(draw(st.integers(0, shape[axis] - 1)))), axis=axis + 1)
    return *shape[:axis], *shape[axis + 1 :]


def _gelu(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    kind = draw(st.sampled_from(["erf", "tanh", "tanh with a power"]))
    if kind == "erf":
        gelu(network, network.tensor)
    else:
        gelu_by_tanh(network, network.tensor, power=kind == "tanh with a power")
    return shape


def _matrices(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape | None:
    """Draw a product with constant matrices, one or several, or with a vector; the constant may come first."""
    if len(shape) < 2:
        return None
    is_first, is_vector, out = draw(st.booleans()), draw(st.booleans()), draw(st.integers(1, 4))
    *before, rows, columns = shape
    inner, kept = (rows, columns) if is_first else (columns, rows)
    lead = [draw(st.sampled_from([1, 2 if size == 1 else size])) for size in before]
    lead = [] if is_vector else lead[draw(st.integers(0, len(lead))) :]
    sides = (inner,) if is_vector else (out, inner) if is_first else (inner, out)
    constant = network.normal(*lead, *sides, std=0.3)
    first, second = (constant, network.tensor) if is_first else (network.tensor, constant)
    network.add("MatMul", second, reads=first)
    matrix = (kept,) if is_vector else (out, kept) if is_first else (kept, out)
    return *np.broadcast_shapes(tuple(before), tuple(lead)), *matrix


def _slope(draw: st.DrawFn, network: Network, shape: Shape, tensors: Tensors) -> Shape:
    network.add("PRelu", network.normal(*(size if draw(st.booleans()) else 1 for size in shape)))
    return shape


NODES: tuple[Node, ...] = (
    *(_activation, _clip, _conv, _pool, _squeezed, _of_two, _with_constant, _concat, _slice, _gather, _pad),
    *(_transpose, _reshape, _reduce, _softmax, _norm, _dense, _product, _layer_norm, _group_norm, _resize),
    *(_conv_transpose, _expand, _token, _index, _gelu, _matrices, _slope),
    *MORE_NODES,
)


def image_of(network: Network, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return one input, [1, channels, height, width]."""
    shape = [int(size) for size in network.shape[1:]]
    return np.random.default_rng(seed).standard_normal((1, *shape)).astype(np.float32)
