"""Which tensors a file is fed with, their declared sizes and types, and the values of those that it holds."""

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, TensorProto, ValueInfoProto, helper, numpy_helper

from edged.errors import ModelError
from edged.model.graph import Shape

PICTURES = 4  # axes of a batch of pictures


def inputs_of(graph: GraphProto) -> list[ValueInfoProto]:
    """Return the inputs that are no weights: old files list those, too."""
    weights = {tensor.name for tensor in graph.initializer}
    return [entry for entry in graph.input if entry.name not in weights]


def declared_dims(entry: ValueInfoProto) -> Shape:
    """Return the declared sizes: 0, or -1 of some exporters, becomes 0 where the file leaves one open."""
    return tuple(max(0, dim.dim_value) for dim in entry.type.tensor_type.shape.dim)


def array_of(tensor: TensorProto) -> NDArray[np.generic]:
    """Return a tensor's values. Raises ModelError for damaged ones and for types unknown to NumPy."""
    if tensor.data_location == TensorProto.EXTERNAL:
        raise ModelError(
            f"tensor {tensor.name} lies in another file: supported for initializers and attributes of nodes"
        )
    if any(size < 0 for size in tensor.dims):
        sizes = ", ".join(map(str, tensor.dims))
        raise ModelError(f"tensor {tensor.name} has a negative size, [{sizes}]: export the network again")
    try:
        return numpy_helper.to_array(tensor)
    except Exception:  # for damaged files it raises arbitrary exceptions
        raise ModelError(f"tensor {tensor.name} ({type_name(tensor.data_type)}) is damaged") from None


def type_name(data_type: int) -> str:
    """Return the name of a type, such as "FLOAT", or the number of an unknown one."""
    try:
        return helper.tensor_dtype_to_string(data_type).removeprefix("TensorProto.")
    except (KeyError, ValueError):
        return f"type {data_type}"
