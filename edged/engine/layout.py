"""The layout of tensors in device memory, and their conversion from and to arrays.

[frame][channel block][top + height + bottom][left + width + right][channels of the block]

Elements are float32, or float16 or bfloat16 in a plan of that precision; of a quantized tensor its steps.

Channels beyond the last are zero, and so is the halo: the rows and columns around the image that some kernels
read as padding. The kernel that writes a tensor also writes its zeros, so memory can be reused freely. A vector
of features is an image of one pixel.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.model.graph import Pads, Pair, Shape

Defines = Mapping[str, int]

Elements = NDArray[Any]  # of a tensor's dtype


def float_bits(number: float) -> int:
    """Return the bits of a float32, by which a macro holds it exactly."""
    return int(np.float32(number).view(np.int32))


def window_defines(kernel: Pair, strides: Pair, pads: Pads, dilations: Pair = (1, 1)) -> dict[str, int]:
    """Return the macros of a window that moves over an image, of a convolution or a pool."""
    return {
        "KERNEL_H": kernel[0],
        "KERNEL_W": kernel[1],
        "STRIDE_H": strides[0],
        "STRIDE_W": strides[1],
        "DILATION_H": dilations[0],
        "DILATION_W": dilations[1],
        "PAD_TOP": pads[0],
        "PAD_LEFT": pads[1],
    }


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


class Element(StrEnum):
    """How a tensor stores a number: `layout.cl` knows the types by their place in this list.

    SHORT and BYTE hold steps of a quantized tensor, BYTE less the tensor's lowest one. BFLOAT16 is the upper half
    of a float32.
    """

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    SHORT = "int16"
    BYTE = "uint8"
    BFLOAT16 = "bfloat16"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return NumPy's type of the same size, which for BFLOAT16 is uint16."""
        return np.dtype("uint16" if self is Element.BFLOAT16 else self.value)


NUMBERS = {element: number for number, element in enumerate(Element)}


@dataclass(frozen=True)
class Tensor:
    """A tensor of a plan: `frames` images of (channels, height, width).

    lowest: of elements that are bytes, the step that a byte of 0 stands for.
    """

    name: str
    frames: int
    channels: int
    height: int
    width: int
    block: int
    halo: Halo = NO_HALO
    element: Element = Element.FLOAT32
    lowest: int = 0

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
    def dtype(self) -> np.dtype[Any]:
        return self.element.dtype

    @property
    def has_steps(self) -> bool:
        return self.element in {Element.SHORT, Element.BYTE}

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
            "TYPE": NUMBERS[self.element],
            "LOWEST": self.lowest,
        }
        return {f"{role}_{key}": value for key, value in geometry.items()}


def image_shape(shape: Shape) -> tuple[int, int, int]:
    """Return (channels, height, width) of a graph's tensor: features are the channels of a single pixel.

    Tensors of other ranks, which the host computes, get axes of 1 behind theirs, or the last ones become columns.
    """
    channels, height, *rest = (*shape, 1, 1)
    return channels, height, math.prod(rest)


def memory_for(tensor: Tensor, frames: int) -> Elements:
    """Return memory for the first `frames` frames of a tensor, not yet written."""
    return np.empty(frames * tensor.nbytes // tensor.frames // tensor.dtype.itemsize, tensor.dtype)


def to_memory(tensor: Tensor, x: NDArray[np.float32]) -> Elements:
    """Return `x`, [frames, channels, height, width] or [frames, features], in the memory layout of `tensor`."""
    frames = len(x)
    padded = np.zeros((frames, tensor.blocks * tensor.block, tensor.rows, tensor.pitch), np.float32)
    _inside(tensor, padded)[:] = x.reshape(frames, tensor.channels, tensor.height, tensor.width)
    blocks = elements_of(tensor, padded).reshape(frames, tensor.blocks, tensor.block, tensor.rows, tensor.pitch)
    return np.ascontiguousarray(blocks.transpose(0, 1, 3, 4, 2))


def image_of(tensor: Tensor, memory: Elements) -> NDArray[np.float32]:
    """Invert `to_memory`, whatever halo and padding contain."""
    return np.ascontiguousarray(_inside(tensor, _padded(tensor, memory)))


def from_memory(tensor: Tensor, memory: Elements) -> NDArray[np.float32] | None:
    """Invert `to_memory`; None if the halo or a channel beyond the last is not zero."""
    padded = _padded(tensor, memory).copy()
    image = _inside(tensor, padded).copy()
    _inside(tensor, padded)[:] = 0
    return None if padded.any() else image


def bfloat16_bits(x: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Round to the nearest bfloat16, of two to the even one, and return its bits."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    rounded = bits + (np.uint32(0x7FFF) + (bits >> 16 & 1))
    return (np.where(np.isnan(x), bits, rounded) >> 16).astype(np.uint16)


def numbers_of(tensor: Tensor, elements: Elements) -> NDArray[np.float32]:
    """Return the numbers that elements of the tensor stand for, of any shape."""
    if tensor.element is Element.BFLOAT16:
        return (elements.astype(np.uint32) << 16).view(np.float32)
    numbers = np.ascontiguousarray(elements, np.float32)
    return numbers + np.float32(tensor.lowest) if tensor.lowest else numbers


def elements_of(tensor: Tensor, numbers: NDArray[np.float32]) -> Elements:
    """Return the elements of the tensor for numbers of any shape: the inverse of `numbers_of`."""
    if tensor.element is Element.BFLOAT16:
        return bfloat16_bits(numbers)
    return (numbers - np.float32(tensor.lowest)).astype(tensor.dtype)


def _padded(tensor: Tensor, memory: Elements) -> NDArray[np.float32]:
    """Return the numbers in memory as [frames, channels, rows, pitch]."""
    blocks = memory.reshape(-1, tensor.blocks, tensor.rows, tensor.pitch, tensor.block)
    padded = blocks.transpose(0, 1, 4, 2, 3).reshape(len(blocks), -1, tensor.rows, tensor.pitch)
    return numbers_of(tensor, padded)


def _inside(tensor: Tensor, padded: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the part of [frames, channels, rows, pitch] that is neither halo nor padding of a block."""
    top, left = tensor.halo.top, tensor.halo.left
    return padded[:, : tensor.channels, top : top + tensor.height, left : left + tensor.width]
