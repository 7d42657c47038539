"""The layout of tensors in device memory, and their conversion from and to arrays.

[frame][channel block][top + height + bottom][left + width + right][channels of the block]

Elements are float32, or float16 in a plan of that precision; of a quantized tensor its steps as int16.

Channels beyond the last are zero, and so is the halo: the rows and columns around the image that some kernels
read as padding. The kernel that writes a tensor also writes its zeros, so memory can be reused freely. A vector
of features is an image of one pixel.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.model.graph import Shape

Defines = Mapping[str, int]


def float_bits(number: float) -> int:
    """Return the bits of a float32, by which a macro holds it exactly."""
    return int(np.float32(number).view(np.int32))


@dataclass(frozen=True)
class Halo:
    """Rows and columns of zeros around an image."""

    top: int = 0
    left: int = 0
    bottom: int = 0
    right: int = 0

    def __or__(self, other: "Halo") -> "Halo":
        """Return the smallest halo that holds both."""
        return Halo(
            max(self.top, other.top),
            max(self.left, other.left),
            max(self.bottom, other.bottom),
            max(self.right, other.right),
        )


NO_HALO = Halo()


@dataclass(frozen=True)
class Tensor:
    """A tensor of a plan: `frames` images of (channels, height, width)."""

    name: str
    frames: int
    channels: int
    height: int
    width: int
    block: int
    halo: Halo = NO_HALO
    half: bool = False
    steps: bool = False

    @property
    def blocks(self) -> int:
        return ceil_div(self.channels, self.block)

    @property
    def rows(self) -> int:
        return self.halo.top + self.height + self.halo.bottom

    @property
    def pitch(self) -> int:
        """Return the number of pixels from one row to the next."""
        return self.halo.left + self.width + self.halo.right

    @property
    def dtype(self) -> np.dtype[np.float16] | np.dtype[np.float32] | np.dtype[np.int16]:
        if self.steps:
            return np.dtype(np.int16)
        return np.dtype(np.float16) if self.half else np.dtype(np.float32)

    @property
    def nbytes(self) -> int:
        return self.frames * self.blocks * self.rows * self.pitch * self.block * self.dtype.itemsize

    def defines(self, role: str) -> dict[str, int]:
        """Return the macros by which `layout.cl` finds a pixel of the tensor that a kernel calls `role`."""
        geometry = {
            "CHANNELS": self.channels,
            "BLOCK": self.block,
            "BLOCKS": self.blocks,
            "HEIGHT": self.height,
            "WIDTH": self.width,
            "TOP": self.halo.top,
            "LEFT": self.halo.left,
            "ROWS": self.rows,
            "PITCH": self.pitch,
            "TYPE": 2 if self.steps else int(self.half),
        }
        return {f"{role}_{key}": value for key, value in geometry.items()}


def image_shape(shape: Shape) -> tuple[int, int, int]:
    """Return (channels, height, width) of a graph's tensor: features are the channels of a single pixel.

    Tensors of other ranks, which the host computes, get axes of 1 behind theirs, or the last ones become columns.
    """
    channels, height, *rest = (*shape, 1, 1)
    return channels, height, math.prod(rest)


Floats = NDArray[np.float32] | NDArray[np.float16] | NDArray[np.int16]


def memory_for(tensor: Tensor, frames: int) -> Floats:
    """Return memory for the first `frames` frames of a tensor, not yet written."""
    return np.empty(frames * tensor.nbytes // tensor.frames // tensor.dtype.itemsize, tensor.dtype)


def to_memory(tensor: Tensor, x: NDArray[np.float32]) -> Floats:
    """Return `x`, [frames, channels, height, width] or [frames, features], in the memory layout of `tensor`."""
    frames = len(x)
    padded = np.zeros((frames, tensor.blocks * tensor.block, tensor.rows, tensor.pitch), tensor.dtype)
    _inside(tensor, padded)[:] = x.reshape(frames, tensor.channels, tensor.height, tensor.width)
    blocks = padded.reshape(frames, tensor.blocks, tensor.block, tensor.rows, tensor.pitch)
    return np.ascontiguousarray(blocks.transpose(0, 1, 3, 4, 2))


def image_of(tensor: Tensor, memory: Floats) -> NDArray[np.float32]:
    """Invert `to_memory`, whatever halo and padding contain."""
    blocks = memory.reshape(-1, tensor.blocks, tensor.rows, tensor.pitch, tensor.block)
    padded = blocks.transpose(0, 1, 4, 2, 3).reshape(len(blocks), -1, tensor.rows, tensor.pitch)
    return np.ascontiguousarray(_inside(tensor, padded), np.float32)


def from_memory(tensor: Tensor, memory: Floats) -> NDArray[np.float32] | None:
    """Invert `to_memory`; None if the halo or a channel beyond the last is not zero."""
    blocks = memory.reshape(-1, tensor.blocks, tensor.rows, tensor.pitch, tensor.block)
    padded = blocks.transpose(0, 1, 4, 2, 3).reshape(len(blocks), -1, tensor.rows, tensor.pitch)
    image = _inside(tensor, padded).astype(np.float32)
    _inside(tensor, padded)[:] = 0
    return None if padded.any() else image


def _inside(tensor: Tensor, padded: Floats) -> Floats:
    """Return the part of [frames, channels, rows, pitch] that is neither halo nor padding of a block."""
    top, left = tensor.halo.top, tensor.halo.left
    return padded[:, : tensor.channels, top : top + tensor.height, left : left + tensor.width]
