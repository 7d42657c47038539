"""Random values that depend on the test alone, not on those that ran before it in the same process."""

from zlib import crc32

import numpy as np


def restart(generator: np.random.Generator, test: str) -> None:
    """Set a generator to the state that belongs to a test's name."""
    generator.bit_generator.state = np.random.default_rng(crc32(test.encode())).bit_generator.state
