"""An ONNX file as a graph. Importing this imports `onnx`, which takes 130 ms: do so only for a file."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import onnx

from edged.errors import ModelError
from edged.model.from_onnx import arithmetic, constants, views, windows
from edged.model.from_onnx.file import OnnxFile, read_file
from edged.model.from_onnx.node import Node, array_of, node_of, type_name
from edged.model.from_onnx.scope import Scope
from edged.model.graph import AveragePool, Graph, MaxPool, Pair, Shape
from edged.model.shapes import make_graph

log = logging.getLogger(__name__)

Converter = Callable[[Node, Scope], None]

MAX_SIDE = 16384
CHANNELS = 3  # where the file leaves it open

# What each kind of node becomes, and the attributes that it may have.
CONVERTERS: Mapping[str, tuple[Converter, tuple[str, ...]]] = {
    "Add": (arithmetic.add, ()),
    "AveragePool": (windows.average_pool, windows.AVERAGE_POOL_ATTRIBUTES),
    "BatchNormalization": (arithmetic.batch_norm, ("epsilon", "momentum", "spatial", "training_mode")),
    "Cast": (views.cast, ("saturate", "to")),
    "Clip": (arithmetic.clip, ("max", "min")),
    "Conv": (windows.conv, windows.CONV_ATTRIBUTES),
    "Div": (arithmetic.divide, ()),
    "Dropout": (views.identity, ("ratio", "seed")),
    "Flatten": (views.flatten, ("axis",)),
    "Gemm": (arithmetic.gemm, ("alpha", "beta", "transA", "transB")),
    "GlobalAveragePool": (windows.global_pool(AveragePool), ()),
    "GlobalMaxPool": (windows.global_pool(MaxPool), ()),
    "Identity": (views.identity, ()),
    "MatMul": (arithmetic.matmul, ()),
    "MaxPool": (windows.max_pool, windows.MAX_POOL_ATTRIBUTES),
    "Mul": (arithmetic.multiply, ()),
    "Pad": (views.pad, ("mode", "pads", "value")),
    "ReduceMean": (windows.reduce_mean, ("axes", "keepdims", "noop_with_empty_axes")),
    "Relu": (arithmetic.relu, ()),
    "Reshape": (views.reshape, ("allowzero",)),
    "Shape": (views.shape, ("end", "start")),
    "Slice": (views.slice_, ("axes", "ends", "starts")),
    "Softmax": (arithmetic.softmax, ("axis",)),
    "Squeeze": (views.squeeze, ("axes",)),
    "Sub": (arithmetic.subtract, ()),
    "Sum": (arithmetic.add, ()),
    "Transpose": (views.transpose, ("perm",)),
    "Unsqueeze": (views.unsqueeze, ("axes",)),
}


def read_onnx(path: Path, input_size: Pair | None = None) -> Graph:
    """The network in a file, not yet simplified. `input_size` (width, height) is for a file that leaves it open.

    Raises ModelError, which names the file, the node, and what is supported.
    """
    return graph_of(read_file(path), input_size)


def graph_of(file: OnnxFile, input_size: Pair | None = None) -> Graph:
    """As `read_onnx`, of a file that was read."""
    with _place(f"{file.path}: input"):
        source, shape, channels_last = _input(file, input_size)
        scope = Scope(source, shape, channels_last)
    for tensor in file.model.graph.initializer:
        with _place(f"{file.path}: initializer {tensor.name}"):
            scope.define(tensor.name, array_of(tensor))
    for proto in file.model.graph.node:
        with _place(f"{file.path}: node {proto.name or '/'.join(proto.output)} ({proto.op_type})"):
            _convert(proto, file.opset, scope)
    with _place(f"{file.path}: output"):
        output = _output(file, scope)
        return make_graph(file.path.stem, source, shape, scope.operators, output)


@contextmanager
def _place(where: str) -> Iterator[None]:
    """Whatever goes wrong inside is a ModelError that says where: a damaged file must not end in a traceback."""
    try:
        yield
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from None
    except Exception as error:
        log.debug("%s", where, exc_info=True)
        raise ModelError(f"{where}: is damaged: {type(error).__name__}: {error}") from None


def _convert(proto: onnx.NodeProto, opset: int, scope: Scope) -> None:
    if proto.domain not in {"", "ai.onnx"}:
        raise ModelError(
            f"operators of {proto.domain} are not supported; supported are ONNX's own: {_supported()}"
        )
    node = node_of(proto, opset)
    known = [scope.constant(name) for name in node.inputs if name]
    inputs = [value for value in known if value is not None]
    if node.kind == "Constant":
        scope.define(node.output, constants.constant(node))
    elif node.kind in constants.FOLDED and len(inputs) == len(known):
        scope.define(node.output, constants.fold(node, inputs))
    elif node.kind in CONVERTERS:
        convert, attributes = CONVERTERS[node.kind]
        node.allow(attributes)
        convert(node, scope)
    else:
        raise ModelError(f"operator {node.kind} is not supported; supported are: {_supported()}")


def _supported() -> str:
    return ", ".join(sorted({"Constant", *CONVERTERS}))


def _input(file: OnnxFile, size: Pair | None) -> tuple[str, Shape, bool]:
    """The input's name, its shape (channels, height, width), and whether the file has its channels last."""
    weights = {tensor.name for tensor in file.model.graph.initializer}
    inputs = [entry for entry in file.model.graph.input if entry.name not in weights]
    if len(inputs) != 1:
        raise ModelError(f"the network has {_listed(inputs, 'inputs')}; supported is one, a batch of images")
    tensor = inputs[0].type.tensor_type
    if type_name(tensor.elem_type) not in {"FLOAT", "FLOAT16", "DOUBLE"}:
        raise ModelError(
            f"{inputs[0].name} is of {type_name(tensor.elem_type)}; supported are FLOAT, FLOAT16, DOUBLE"
        )
    dims = [max(0, dim.dim_value) for dim in tensor.shape.dim]  # 0 where it is open
    if len(dims) != 4:
        raise ModelError(
            f"{inputs[0].name} has {len(dims)} dimensions; supported are batch, channels, height, width"
        )
    channels_last = _is_transposed(file, inputs[0].name)
    channels, height, width = (dims[3], dims[1], dims[2]) if channels_last else dims[1:]
    wanted_width, wanted_height = size or (0, 0)
    shape = (channels or CHANNELS, _side(height, wanted_height), _side(width, wanted_width))
    return inputs[0].name, shape, channels_last


def _side(given: int, wanted: int) -> int:
    if not (given or wanted):
        raise ModelError("the file leaves the input size open: give it as size in the config's model (or --size)")
    if given and wanted and given != wanted:
        raise ModelError(f"the file fixes a side at {given} pixels but size asks for {wanted}: leave size out")
    if not 1 <= (given or wanted) <= MAX_SIDE:
        raise ModelError(f"a side has {given or wanted} pixels; supported are 1 to {MAX_SIDE}")
    return given or wanted


def _is_transposed(file: OnnxFile, source: str) -> bool:
    readers = [node for node in file.model.graph.node if source in node.input and node.op_type == "Transpose"]
    return any(list(entry.ints) == [0, 3, 1, 2] for node in readers for entry in node.attribute)


def _output(file: OnnxFile, scope: Scope) -> str:
    outputs = file.model.graph.output
    if len(outputs) != 1:
        raise ModelError(f"the network has {_listed(outputs, 'outputs')}; supported is one, the scores of classes")
    value = scope.plain(outputs[0].name)
    if len(value.shape) == 1:
        return scope.features(outputs[0].name)
    if value.shape[1:] == (1, 1):
        return scope.image(outputs[0].name)
    raise ModelError(f"{outputs[0].name} has shape {value.shape}; supported is one score for each class")


def _listed(entries: Sequence[onnx.ValueInfoProto], what: str) -> str:
    return f"{len(entries)} {what} ({', '.join(entry.name for entry in entries)})" if entries else f"no {what}"
