"""What a training has come to: a line an epoch, and where it stands within one."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Epoch:
    """loss and accuracy: of what was learnt from, meanwhile; validation_…: of what is held out, if anything is."""

    epoch: int
    step: int
    rate: float
    loss: float
    accuracy: float
    validation_loss: float | None
    validation_accuracy: float | None

    def as_facts(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def is_better_than(self, other: "Epoch | None") -> bool:
        """By what is held out: more right answers, or as many with a lower loss."""
        return other is None or self._merit() > other._merit()

    def _merit(self) -> tuple[float, float]:
        return self.validation_accuracy or 0.0, -(self.validation_loss or 0.0)


@dataclass(frozen=True)
class Progress:
    """After some steps. loss and accuracy are those of the epoch so far; the speed is that of late."""

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    accuracy: float
    images_per_s: float
    left_s: float
