"""Find the input and the output of the network in a file."""

from collections.abc import Sequence

import onnx

from edged.errors import ModelError
from edged.model.from_onnx.file import OnnxFile
from edged.model.from_onnx.node import type_name
from edged.model.from_onnx.scope import Scope
from edged.model.graph import Pair, Shape

MAX_SIDE = 16384
CHANNELS = 3  # if the file leaves it open


def input_of(file: OnnxFile, size: Pair | None) -> tuple[str, Shape, bool]:
    """Return the input's name, its shape (channels, height, width), and whether the file has its channels last."""
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


def _is_transposed(file: OnnxFile, source: str) -> bool:
    readers = [node for node in file.model.graph.node if source in node.input and node.op_type == "Transpose"]
    return any(list(entry.ints) == [0, 3, 1, 2] for node in readers for entry in node.attribute)


def _listed(entries: Sequence[onnx.ValueInfoProto], what: str) -> str:
    return f"{len(entries)} {what} ({', '.join(entry.name for entry in entries)})" if entries else f"no {what}"
