"""How the images of a batch are moved and mirrored."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint32]


def augment(images: NDArray[np.uint8], seed: int, step: int, *, flip: bool, shift: int) -> NDArray[np.uint8]:
    """Images [n, height, width, channels], some mirrored, then each moved by up to `shift` pixels each way.

    What comes in from outside is black. The same for the same seed, step and place in the batch.
    """
    random = _random(seed, step, len(images))
    reach = np.uint32(2 * shift + 1)
    down = (random >> np.uint32(1) & np.uint32(0x7FFF)) % reach - np.int64(shift)
    right = (random >> np.uint32(16)) % reach - np.int64(shift)
    flips = flip * (random & np.uint32(1))
    return np.stack([_moved(*one) for one in zip(images, down, right, flips, strict=True)])


def _random(seed: int, step: int, count: int) -> Bits:
    within = _mixed(np.uint32(step) ^ _mixed(np.arange(count, dtype=np.uint32)))
    return _mixed(np.uint32(seed) ^ within)


def _mixed(bits: Bits) -> Bits:
    """The last part of MurmurHash3 (Appleby)."""
    bits = (bits ^ bits >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    bits = (bits ^ bits >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return bits ^ bits >> np.uint32(16)


def _moved(image: NDArray[np.uint8], down: Any, right: Any, flip: Any) -> NDArray[np.uint8]:
    height, width = image.shape[:2]
    image = image[:, ::-1] if flip else image
    rows, columns = np.arange(height) - down, np.arange(width) - right
    there = np.ix_((rows >= 0) & (rows < height), (columns >= 0) & (columns < width))
    moved = np.zeros_like(image)
    moved[there] = image[rows.clip(0, height - 1)][:, columns.clip(0, width - 1)][there]
    return moved
