"""The weights of an ONNX file that are worth compressing: large constants of Conv, Gemm and MatMul."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from edged.errors import ModelError

LEAST = 128  # values: a smaller weight is hardly larger than its codebook
KINDS = frozenset({"Conv", "Gemm", "MatMul"})
FLOATS = frozenset({TensorProto.FLOAT, TensorProto.FLOAT16})

Values = NDArray[Any]  # float32 or float16
Weights = Mapping[str, Values]  # by the name of the initializer


def weights_of(model: onnx.ModelProto, name: str) -> dict[str, Values]:
    """Return the weights to compress, in the order of the file.

    Raises ModelError if there are none, or one is not finite; `name` is the model's, for the message.
    """
    weights = {key: values for key, values in layer_weights(model, name).items() if values.size >= LEAST}
    if not weights:
        raise ModelError(
            f"{name}: has no weights worth compressing: expected initializers of Conv, Gemm or MatMul, float32 or "
            f"float16, with at least {LEAST} values"
        )
    return weights


def layer_weights(model: onnx.ModelProto, name: str) -> dict[str, Values]:
    """Return all weights of layers that are constants of floats, in the order of the file.

    Raises ModelError if one is not finite; `name` is the model's, for the message.
    """
    used = {entry for node in model.graph.node if node.op_type in KINDS for entry in node.input[:2]}
    weights = {
        tensor.name: numpy_helper.to_array(tensor)
        for tensor in model.graph.initializer
        if tensor.name in used and tensor.data_type in FLOATS
    }
    for key, values in weights.items():
        if not np.isfinite(values).all():
            raise ModelError(f"{name}: initializer {key}: holds NaN or infinity")
    return weights


def with_weights(model: onnx.ModelProto, weights: Weights) -> onnx.ModelProto:
    """Return a copy of the file in which the initializers of these names have these values."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for tensor in changed.graph.initializer:
        if tensor.name in weights:
            tensor.CopyFrom(numpy_helper.from_array(weights[tensor.name], tensor.name))
    return changed


def sha256_of(weights: Weights) -> str:
    """Return the hexadecimal SHA-256 of names and values."""
    digest = hashlib.sha256()
    for name, values in weights.items():
        digest.update(repr((name, values.dtype.str, values.shape)).encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()
