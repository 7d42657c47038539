"""Find the input and the outputs of the network in a file."""

from collections.abc import Sequence
from math import prod

import onnx

from edged.errors import ModelError
from edged.model.from_onnx.file import OnnxFile
from edged.model.from_onnx.order import nodes_of
from edged.model.from_onnx.scope import Scope, Value
from edged.model.from_onnx.tensors import inputs_of, type_name
from edged.model.from_onnx.views import as_shape
from edged.model.graph import NetworkOutput, Pair, Shape
from edged.model.ultralytics import stated_size

MAX_SIDE = 16384
TABLE_AXES = 2  # rows, columns
CHANNELS = 3  # if the file leaves it open
PICTURES = {1, CHANNELS}  # the channels of gray and of colored ones
# Kinds that read channels as their second axis, and kinds behind which axes are no longer those of the input.
OF_CHANNELS_FIRST = (
    "AveragePool BatchNormalization Conv ConvInteger ConvTranspose DepthToSpace GlobalAveragePool GlobalLpPool "
    "GlobalMaxPool GroupNormalization InstanceNormalization LRN LpPool MaxPool QLinearConv SpaceToDepth"
)
MOVES_AXES = "Einsum Flatten Gemm Reshape Shape Size Squeeze Unsqueeze"
CHANNELS_FIRST = [0, 3, 1, 2]  # the order of a Transpose that brings them forward
TYPES = {"FLOAT": "float32", "FLOAT16": "float32", "DOUBLE": "float32", "UINT8": "uint8"}


def input_of(file: OnnxFile, size: Pair | None) -> tuple[Value, Shape]:
    """Return the input as the file has it, and its shape (channels, height, width)."""
    inputs = inputs_of(file.model.graph)
    if len(inputs) != 1:
        raise ModelError(f"the network has {_listed(inputs, 'inputs')}; supported is one, a batch of images")
    tensor = inputs[0].type.tensor_type
    if type_name(tensor.elem_type) not in TYPES:
        raise ModelError(f"{inputs[0].name} is of {type_name(tensor.elem_type)}; supported are {', '.join(TYPES)}")
    given = tuple(dim.dim_value for dim in tensor.shape.dim)  # 0, or −1 of some exporters, where it is open
    if any(size < -1 for size in given):
        raise ModelError(f"{inputs[0].name} has the shape {given}; expected sizes of 1 or more")
    dims = [max(0, size) for size in given]
    if len(dims) != 4:
        raise ModelError(
            f"{inputs[0].name} has {len(dims)} dimensions; supported are batch, channels, height, width"
        )
    channels_last = is_channels_last(file, inputs[0].name)
    channels, height, width = (dims[3], dims[1], dims[2]) if channels_last else dims[1:]
    wanted_width, wanted_height = size or (0, 0)
    usual_width, usual_height = stated_size(file.metadata) or (0, 0)
    sides = _side(height, wanted_height, usual_height), _side(width, wanted_width, usual_width)
    shape = (channels or CHANNELS, *sides)
    seen = (*shape[1:], shape[0]) if channels_last else shape
    strides = (shape[2], 1, shape[1] * shape[2]) if channels_last else None
    dtype = TYPES[type_name(tensor.elem_type)]
    return Value(inputs[0].name, seen, dtype=dtype, strides=strides), shape


def takes_bytes(file: OnnxFile) -> bool:
    """Return whether the network takes pixels as they are, 0 to 255."""
    return {type_name(entry.type.tensor_type.elem_type) for entry in inputs_of(file.model.graph)} == {"UINT8"}


def outputs_of(file: OnnxFile, scope: Scope) -> tuple[str, tuple[NetworkOutput, ...]]:
    """Return the graph's output, a vector, and the outputs of the file that follow each other there.

    Raises ModelError for a file without outputs, or one that is not a batch of floats.
    """
    if not file.model.graph.output:
        raise ModelError(
            "the network has no outputs; supported is one, the scores of classes, or those of a detector"
        )
    names = [entry.name for entry in file.model.graph.output]
    values = [_with_batch(name, scope) if len(names) > 1 else scope.plain(name) for name in names]
    described = tuple(
        NetworkOutput(name, _as_table(value.shape)) for name, value in zip(names, values, strict=True)
    )
    if len(values) == 1 and values[0].shape[1:] == (1, 1):
        return scope.image(names[0]), described
    vectors = [scope.rearranged(value, value.frame, (prod(value.shape),)) for value in values]
    return vectors[0] if len(vectors) == 1 else scope.joined_vectors(vectors), described


def _with_batch(name: str, scope: Scope) -> Value:
    """Return one of several outputs: a table of one picture, as SCRFD and torchvision have it, with a batch."""
    value = scope.known(name)
    if value is None or value.has_batch or len(value.dims) != TABLE_AXES:
        return scope.plain(name)
    table = scope.floats(name)
    return scope.in_order(as_shape(scope, table, (1, *table.dims)))


def _as_table(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return an output's shape without the axis of classes that share boxes, which exports of YOLOv4 have."""
    match shape:
        case (anchors, 1, 4):
            return anchors, 4
    return shape


def _side(given: int, wanted: int, usual: int) -> int:
    """Return a side of the input: as the file has it, else as the config, else as usual; 0: it does not say."""
    if not (given or wanted or usual):
        raise ModelError("the file leaves the input size open: give it as size in the config's model (or --size)")
    if given and wanted and given != wanted:
        raise ModelError(f"the file fixes a side at {given} pixels but size asks for {wanted}: leave size out")
    side = given or wanted or usual
    if not 1 <= side <= MAX_SIDE:
        raise ModelError(f"a side has {side} pixels; supported are 1 to {MAX_SIDE}")
    return side


def is_channels_last(file: OnnxFile, source: str) -> bool:
    """Return whether the input `source` has its channels last.

    A Transpose of it brings them forward, perhaps behind nodes that keep its axes. Where neither that nor a node
    that reads channels as its second axis tells, the sizes do: tf2onnx writes a Reshape in place of the Transpose
    for gray pictures, and networks without windows need neither.
    """
    (entry,) = (each for each in file.model.graph.input if each.name == source)
    sizes = [dim.dim_value for dim in entry.type.tensor_type.shape.dim]
    if sizes[1] in PICTURES and sizes[3] > 0 and sizes[3] not in PICTURES:
        return False
    is_last = _last_by_nodes(file.model.graph, source)
    if is_last is not None:
        return is_last
    _, first, second, last = sizes  # only the last one can be that of channels
    return first not in PICTURES and (last == CHANNELS or (last == 1 and second != 1))


def _last_by_nodes(graph: onnx.GraphProto, source: str) -> bool | None:
    """Return whether the first node that reads axes of the input in one of both orders has the channels last."""
    tensors = {source}
    for node in nodes_of(graph):
        if tensors.isdisjoint(node.input):
            continue
        if node.op_type == "Transpose":
            if any(list(attribute.ints) == CHANNELS_FIRST for attribute in node.attribute):
                return True
        elif node.op_type in OF_CHANNELS_FIRST.split():
            return False
        elif node.op_type not in MOVES_AXES.split():
            tensors.update(node.output)
    return None


def _listed(entries: Sequence[onnx.ValueInfoProto], what: str) -> str:
    return f"{len(entries)} {what} ({', '.join(entry.name for entry in entries)})" if entries else f"no {what}"
