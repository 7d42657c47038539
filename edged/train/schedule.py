"""The learning rate of each step."""

import numpy as np

from edged.model.graph import Float32
from edged.train.config import Learning


def rates(learning: Learning, first: int, count: int, steps: int) -> Float32:
    """Of `count` steps from the step `first` (from 0) on, of `steps` in all: float32 [count]."""
    step = np.arange(first, first + count, dtype=np.float64)
    share = np.full(count, 1.0)
    if learning.schedule == "inverse":
        share = 1 / (1 + learning.decay * step)
    elif learning.schedule == "cosine":  # Loshchilov and Hutter, "SGDR", 2017, without restarts
        share = 0.5 + 0.5 * np.cos(np.pi * step / steps)
    warm = learning.warm_up * steps
    if warm:
        share = share * np.minimum(1.0, (step + 1) / warm)
    return np.asarray(learning.rate * share, np.float32)
