"""Results of training and evaluation: one line per epoch, and the progress within one."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.model.graph import Float32


@dataclass(frozen=True)
class StepFigures:
    """Mean loss, share of correct answers and number of the images trained on since the last report."""

    loss: float
    accuracy: float
    images: int


@dataclass(frozen=True, eq=False)
class Evaluation:
    """An evaluation.

    probabilities: [n, classes]; loss: mean cross-entropy; accuracy: share of images whose label is on top.
    """

    probabilities: Float32
    loss: float
    accuracy: float


def evaluation_of(probabilities: Float32, labels: NDArray[np.int32]) -> Evaluation:
    """Evaluate the probabilities, [n, classes], against the labels, [n]."""
    right = probabilities[np.arange(len(labels)), labels].astype(np.float64)
    loss = -np.log(np.maximum(right, np.finfo(np.float32).tiny)).mean()
    return Evaluation(probabilities, float(loss), float((probabilities.argmax(axis=1) == labels).mean()))


@dataclass(frozen=True)
class Epoch:
    """The results of an epoch.

    loss and accuracy: on the training images, during the epoch; validation_…: on held-out images, if there are
    any.
    """

    epoch: int
    step: int
    rate: float
    loss: float
    accuracy: float
    validation_loss: float | None
    validation_accuracy: float | None

    def as_facts(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return asdict(self)

    def is_better_than(self, other: "Epoch | None") -> bool:
        """Compare by the held-out images: more correct answers, or as many with a lower loss."""
        return other is None or self._merit() > other._merit()

    def _merit(self) -> tuple[float, float]:
        return self.validation_accuracy or 0.0, -(self.validation_loss or 0.0)


@dataclass(frozen=True)
class TrainingProgress:
    """Figures after some steps: loss and accuracy of the epoch so far, the recent speed."""

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    accuracy: float
    images_per_s: float
    left_s: float
