"""The random numbers of a training step, which follow from seed, step and place: a step can be done again."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint32]


def random_bits(seed: int, step: int, count: int) -> Bits:
    """Return 32 random bits for each of `count` places."""
    within = mixed(np.uint32(step) ^ mixed(np.arange(count, dtype=np.uint32)))
    return mixed(np.uint32(seed) ^ within)


def mixed(bits: Any) -> Bits:
    """Apply the last part of MurmurHash3 (Appleby)."""
    bits = (bits ^ bits >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    bits = (bits ^ bits >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return np.asarray(bits ^ bits >> np.uint32(16), np.uint32)
