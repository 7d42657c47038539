"""Tensors of a plan as arrays, and back."""

import numpy as np
from numpy.typing import NDArray

from edged.engine.layout import Tensor

Floats = NDArray[np.float32] | NDArray[np.float16]


def to_memory(tensor: Tensor, x: NDArray[np.float32]) -> Floats:
    """`x`, [frames, channels, height, width] or [frames, features], as `tensor` lies in memory."""
    frames = len(x)
    padded = np.zeros((frames, tensor.blocks * tensor.block, tensor.rows, tensor.pitch), tensor.dtype)
    _inside(tensor, padded)[:] = x.reshape(frames, tensor.channels, tensor.height, tensor.width)
    blocks = padded.reshape(frames, tensor.blocks, tensor.block, tensor.rows, tensor.pitch)
    return np.ascontiguousarray(blocks.transpose(0, 1, 3, 4, 2))


def image_of(tensor: Tensor, memory: Floats) -> NDArray[np.float32]:
    """What `to_memory` was given; whatever halo and padding hold."""
    blocks = memory.reshape(-1, tensor.blocks, tensor.rows, tensor.pitch, tensor.block)
    padded = blocks.transpose(0, 1, 4, 2, 3).reshape(len(blocks), -1, tensor.rows, tensor.pitch)
    return np.ascontiguousarray(_inside(tensor, padded), np.float32)


def from_memory(tensor: Tensor, memory: Floats) -> NDArray[np.float32] | None:
    """What `to_memory` was given; None if the halo or a channel beyond the last is not zero."""
    blocks = memory.reshape(-1, tensor.blocks, tensor.rows, tensor.pitch, tensor.block)
    padded = blocks.transpose(0, 1, 4, 2, 3).reshape(len(blocks), -1, tensor.rows, tensor.pitch)
    image = _inside(tensor, padded).astype(np.float32)
    _inside(tensor, padded)[:] = 0
    return None if padded.any() else image


def _inside(tensor: Tensor, padded: Floats) -> Floats:
    """The part of [frames, channels, rows, pitch] that is neither halo nor padding of a block."""
    top, left = tensor.halo.top, tensor.halo.left
    return padded[:, : tensor.channels, top : top + tensor.height, left : left + tensor.width]
