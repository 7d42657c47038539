"""What training and evaluation tell."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edged.model.graph import Float32


@dataclass(frozen=True)
class Figures:
    """Of the images trained on since the last look: the mean loss, the share that came right, how many."""

    loss: float
    accuracy: float
    images: int


@dataclass(frozen=True, eq=False)
class Evaluation:
    """probabilities: [n, classes]; loss: mean cross-entropy; accuracy: share of images whose label is on top."""

    probabilities: Float32
    loss: float
    accuracy: float


def evaluation_of(probabilities: Float32, labels: NDArray[np.int32]) -> Evaluation:
    """How well the probabilities, [n, classes], fit the labels, [n]."""
    right = probabilities[np.arange(len(labels)), labels].astype(np.float64)
    loss = -np.log(np.maximum(right, np.finfo(np.float32).tiny)).mean()
    return Evaluation(probabilities, float(loss), float((probabilities.argmax(axis=1) == labels).mean()))
