"""Softmax with cross-entropy."""

import numpy as np
from numpy.typing import NDArray

from edged.model.reference import Array


def cross_entropy(scores: Array, labels: NDArray[np.int32], smoothing: float = 0.0) -> tuple[float, Array]:
    """The mean loss of scores [n, classes] before their softmax, and its gradient.

    What is wanted: 1 − smoothing for the label, and smoothing shared evenly by all classes (Szegedy et al., 2016).
    """
    n, classes = scores.shape
    shifted = scores - scores.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    wanted = np.full((n, classes), smoothing / classes)
    wanted[np.arange(n), labels] += 1 - smoothing
    return float(-(wanted * logs).sum() / n), (np.exp(logs) - wanted) / n
