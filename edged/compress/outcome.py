"""What a compression reached: the size and accuracy after each step, and the code of each layer."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from edged.compress.coded_file import CodedLayer


@dataclass(frozen=True)
class CompressionStep:
    """The network after a step. `size`: bytes of its file. `accuracy`: share of right answers, 0 to 1."""

    name: str
    file: str
    size: int
    accuracy: float


@dataclass(frozen=True, eq=False)
class Compression:
    """All steps, the original first and the result last. `judged_by`: the measure of accuracy, for people."""

    name: str
    device: str
    pictures: int
    judged_by: str
    max_loss: float
    steps: Sequence[CompressionStep]
    layers: Sequence[CodedLayer]

    @property
    def ratio(self) -> float:
        """Return how many times smaller the result is than the original file."""
        return self.steps[0].size / self.steps[-1].size

    @property
    def loss(self) -> float:
        """Return the accuracy lost, 0 to 1."""
        return self.steps[0].accuracy - self.steps[-1].accuracy

    @property
    def bits(self) -> float:
        """Return the bits of the compressed file for each weight."""
        return 8 * self.steps[-1].size / sum(layer.weights for layer in self.layers)

    @property
    def verdict(self) -> str:
        """Return the result in a sentence."""
        first, last = self.steps[0], self.steps[-1]
        sizes = f"{first.size / 1024:.1f} → {last.size / 1024:.1f} KiB, {self.ratio:.1f} times smaller"
        return f"{self.name}: {sizes}, {100 * self.loss:.2f} points lost ({self.judged_by})"

    def as_object(self) -> dict[str, Any]:
        """Return the outcome for JSON."""
        return {
            "name": self.name,
            "device": self.device,
            "pictures": self.pictures,
            "judged_by": self.judged_by,
            "max_loss": self.max_loss,
            "ratio": self.ratio,
            "loss": self.loss,
            "bits_per_weight": self.bits,
            "steps": [asdict(step) for step in self.steps],
            "layers": [asdict(layer) for layer in self.layers],
        }
