"""Find the input and the output of the network in a file."""

from collections.abc import Sequence

import onnx

from edged.errors import ModelError
from edged.model.from_onnx.file import OnnxFile
from edged.model.from_onnx.node import type_name
from edged.model.from_onnx.scope import Scope, Value
from edged.model.graph import Pair, Shape

MAX_SIDE = 16384
CHANNELS = 3  # if the file leaves it open
ELEMENTWISE = {  # with which a file may scale its pictures first
    *("Add", "Cast", "DequantizeLinear", "Div", "Identity", "Mul", "QuantizeLinear", "Sub"),
}
TYPES = {"FLOAT": "float32", "FLOAT16": "float32", "DOUBLE": "float32", "UINT8": "uint8"}


def input_of(file: OnnxFile, size: Pair | None) -> tuple[Value, Shape]:
    """Return the input as the file has it, and its shape (channels, height, width)."""
    inputs = inputs_of(file)
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
    shape = (channels or CHANNELS, _side(height, wanted_height), _side(width, wanted_width))
    seen = (*shape[1:], shape[0]) if channels_last else shape
    strides = (shape[2], 1, shape[1] * shape[2]) if channels_last else None
    dtype = TYPES[type_name(tensor.elem_type)]
    return Value(inputs[0].name, seen, dtype=dtype, strides=strides), shape


def takes_bytes(file: OnnxFile) -> bool:
    """Return whether the network takes pixels as they are, 0 to 255."""
    return {type_name(entry.type.tensor_type.elem_type) for entry in inputs_of(file)} == {"UINT8"}


def inputs_of(file: OnnxFile) -> list[onnx.ValueInfoProto]:
    """Return the inputs of the file that are no weights."""
    weights = {tensor.name for tensor in file.model.graph.initializer}
    return [entry for entry in file.model.graph.input if entry.name not in weights]


def output_of(file: OnnxFile, scope: Scope) -> str:
    outputs = file.model.graph.output
    if len(outputs) != 1:
        raise ModelError(f"the network has {_listed(outputs, 'outputs')}; supported is one, the scores of classes")
    value = scope.plain(outputs[0].name)
    if len(value.shape) == 1:
        return scope.features(outputs[0].name)
    if value.shape[1:] == (1, 1):
        return scope.image(outputs[0].name)
    raise ModelError(f"{outputs[0].name} has shape {value.shape}; supported is one score for each class")


def _side(given: int, wanted: int) -> int:
    if not (given or wanted):
        raise ModelError("the file leaves the input size open: give it as size in the config's model (or --size)")
    if given and wanted and given != wanted:
        raise ModelError(f"the file fixes a side at {given} pixels but size asks for {wanted}: leave size out")
    if not 1 <= (given or wanted) <= MAX_SIDE:
        raise ModelError(f"a side has {given or wanted} pixels; supported are 1 to {MAX_SIDE}")
    return given or wanted


def is_channels_last(file: OnnxFile, source: str) -> bool:
    """Return whether the input `source` has its channels last: a Transpose of it brings them forward.

    Arithmetic may come before the Transpose. tf2onnx writes a Reshape in its place for gray pictures: there the
    last size alone tells.
    """
    (entry,) = (each for each in file.model.graph.input if each.name == source)
    sizes = [dim.dim_value for dim in entry.type.tensor_type.shape.dim]
    if sizes[3] == 1 and sizes[2] != 1 and sizes[1] not in {1, CHANNELS}:
        return True
    tensors = {source}
    for node in file.model.graph.node:
        if not tensors.intersection(node.input):
            continue
        if node.op_type in ELEMENTWISE:
            tensors.update(node.output)
        elif node.op_type == "Transpose" and any(list(entry.ints) == [0, 3, 1, 2] for entry in node.attribute):
            return True
    return False


def _listed(entries: Sequence[onnx.ValueInfoProto], what: str) -> str:
    return f"{len(entries)} {what} ({', '.join(entry.name for entry in entries)})" if entries else f"no {what}"
