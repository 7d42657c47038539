"""Unpack the weights of MatMulNBits: a few bits each, in blocks with a scale and a zero point of their own.

onnxruntime's docs/ContribOperators.md has the layout. transformers.js has such files as `model_q4.onnx`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.errors import ModelError
from edged.model.from_onnx.scope import Constant
from edged.model.graph import Float32

BITS = (2, 4, 8)


def unpacked_weights(
    packed: Constant, scales: Constant, zeros: Constant | None, attributes: Mapping[str, Any]
) -> Float32:
    """Return weights [K, N], of which each of N columns has its values in `packed` [N, blocks, bytes].

    scales: one for each block. zeros: likewise, packed or as floats; None: the middle of the range.
    Raises ModelError for arrays that do not fit the attributes.
    """
    rows, columns, block = (int(attributes.get(name, 0)) for name in ("K", "N", "block_size"))
    bits = int(attributes.get("bits", 4))
    if bits not in BITS or min(rows, columns, block) < 1:
        raise ModelError(f"has weights of {bits} bits in blocks of {block}; supported are {BITS} bits")
    blocks = math.ceil(rows / block)
    steps = _unpacked(packed, bits, (columns, blocks, block), "weights").astype(np.int16)
    offset: NDArray[Any] = np.array(1 << (bits - 1))
    if zeros is not None:
        is_packed = zeros.dtype == np.uint8
        found = _unpacked(zeros, bits, (columns, blocks), "zero points") if is_packed else zeros
        offset = _shaped(found, (columns, blocks, 1), "zero points")
    floats = (steps - offset) * _shaped(scales, (columns, blocks, 1), "scales").astype(np.float32)
    return np.ascontiguousarray(floats.reshape(columns, -1)[:, :rows].T, np.float32)


def _unpacked(packed: Constant, bits: int, shape: Sequence[int], what: str) -> NDArray[np.uint8]:
    """Return the numbers of `shape` whose last axis is packed, the lowest bits first, in whole bytes."""
    *before, last = shape
    each_bytes = math.ceil(last * bits / 8)
    if packed.dtype != np.uint8:
        raise ModelError(f"has {what} of {packed.dtype}; supported are packed ones of uint8")
    bytes_ = _shaped(packed, (*before, each_bytes), what)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    numbers = (bytes_[..., None] >> shifts) & np.uint8((1 << bits) - 1)
    return numbers.reshape(*before, -1)[..., :last]


def _shaped(constant: Constant, shape: Sequence[int], what: str) -> NDArray[Any]:
    if constant.size != math.prod(shape):
        raise ModelError(f"has {constant.size} {what}; expected {math.prod(shape)}, for the shape {tuple(shape)}")
    return constant.reshape(shape)
