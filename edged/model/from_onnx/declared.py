"""Compare the shapes and types that a file declares for its tensors with those that its nodes write.

onnxruntime rejects other types, and goes by the computed shapes where others are declared; so does edged.
"""

from collections.abc import Iterable, Iterator

import onnx

from edged.errors import ModelError
from edged.model.from_onnx.file import OnnxFile
from edged.model.from_onnx.scope import Scope
from edged.model.from_onnx.tensors import declared_dims, inputs_of, type_name
from edged.model.graph import Shape
from edged.model.shapes import CONTRADICTION

FLOATS = {"FLOAT", "FLOAT16", "DOUBLE", "BFLOAT16"}  # edged computes all of them in float32
INTEGERS = {"BOOL", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64"}


def require_declared_weights(file: OnnxFile) -> None:
    """Raise ModelError for weights that are also inputs of the file, of another shape or type."""
    weights = {tensor.name: tensor for tensor in file.model.graph.initializer}
    for entry in file.model.graph.input:
        tensor = weights.get(entry.name)
        if tensor is None:
            continue
        found, declared = tuple(tensor.dims), entry.type.tensor_type
        if declared.HasField("shape") and _differs(declared_dims(entry), found):
            shapes = f"{described(entry)}, but holds {_listed(found)}"
            raise ModelError(f"{entry.name} is declared as {shapes}: {CONTRADICTION}")
        if declared.elem_type not in {0, tensor.data_type}:
            types = f"{type_name(declared.elem_type)}, but holds {type_name(tensor.data_type)}"
            raise ModelError(f"{entry.name} is declared as {types}: {CONTRADICTION}")


def contradictions(file: OnnxFile, scope: Scope) -> Iterator[str]:
    """Yield a description of each tensor that is declared with another shape than its node writes.

    Sizes that the file leaves open contradict nothing, nor does a batch, of which edged computes one frame.
    Raises ModelError for a tensor that is declared with another type.
    """
    graph = file.model.graph
    declared = {entry.name: entry for entry in (*graph.value_info, *graph.output)}
    batch, *frame = declared_dims(inputs_of(graph)[0])
    for node in graph.node:
        for entry in (declared[tensor] for tensor in node.output if tensor in declared):
            where = f"node {node.name or entry.name} ({node.op_type}) writes {entry.name}"
            computed = _computed(scope, entry, where)
            if computed is None:
                continue
            dims = declared_dims(entry)
            if _differs(dims, computed, batch) if all(frame) else len(dims) != len(computed):
                yield f"{where} of the shape {_listed(computed)}, but the file declares {described(entry)}"


def described(entry: onnx.ValueInfoProto) -> str:
    """Return the declared sizes, with the names of open ones."""
    return _listed(dim.dim_value or dim.dim_param or "?" for dim in entry.type.tensor_type.shape.dim)


def _computed(scope: Scope, entry: onnx.ValueInfoProto, where: str) -> Shape | None:
    """Return the shape that is computed for a batch of one; None where none is declared, or nothing reads it.

    Raises ModelError if the type is another one than declared.
    """
    constant, value = scope.constant(entry.name), scope.known(entry.name)
    if constant is not None:
        shape, dtype = constant.shape, str(constant.dtype)
    elif value is not None:
        shape, dtype = value.dims, value.dtype
    else:
        return None
    declared = type_name(entry.type.tensor_type.elem_type)
    expected = FLOATS if dtype.startswith(("float", "bfloat")) else {dtype.upper()}
    if declared in FLOATS | INTEGERS and declared not in expected:
        raise ModelError(f"{where} of {dtype}, but the file declares {declared}: {CONTRADICTION}")
    return shape if entry.type.tensor_type.HasField("shape") else None


def _differs(declared: Shape, computed: Shape, batch: int = 1) -> bool:
    """Return whether a shape contradicts the one computed for a batch of one. batch: the input's, 0 if open.

    For other batches than 1 an axis may be a multiple, except where the first axis is the batch by itself.
    """
    if len(declared) != len(computed):
        return True
    pairs = list(zip(declared, computed, strict=True))
    if batch != 1 and pairs and pairs[0] in {(0, 1), (batch, 1)}:
        batch, pairs = 1, pairs[1:]
    if batch == 1:
        return any(wanted not in {0, size} for wanted, size in pairs)
    return any(wanted % size for wanted, size in pairs if size)


def _listed(dims: Iterable[int | str]) -> str:
    return f"[{', '.join(map(str, dims))}]"
