"""Training data: pictures or features, each with the index of its label."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.errors import DataError

Images = NDArray[Any]
Labels = NDArray[np.int32]
Order = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class LabelledImages:
    """images: uint8 [n, height, width, channels] or float32 features [n, features]; labels: int32 [n]."""

    images: Images
    labels: Labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, chosen: NDArray[np.intp]) -> "LabelledImages":
        return LabelledImages(self.images[chosen], self.labels[chosen])


@dataclass(frozen=True, eq=False)
class Chunk:
    """Examples and the steps to take on them: order int32 [steps, batch], indices into `examples`."""

    examples: LabelledImages
    order: Order


class TrainingSource(Protocol):
    """Training data, determined by data set, seed and epoch, so that a training can continue at any epoch."""

    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def validation(self) -> LabelledImages | None:
        """Return the held-out images; None if there are none."""

    @property
    def test(self) -> LabelledImages | None:
        """Return the test images; None if the data set has none."""

    @property
    def fingerprint(self) -> str:
        """Return the hexadecimal SHA-256 of the data, by which a checkpoint is checked."""

    def steps(self, batch: int) -> int:
        """Return the number of steps of one epoch."""

    def chunks(self, epoch: int, batch: int) -> Iterator[Chunk]:
        """Yield the chunks of one epoch.

        If `examples` is the same object as before, it need not be loaded again.
        """

    def close(self) -> None:
        """Stop the processes that prepare examples."""


class InMemory:
    """All examples in memory, used once per epoch, in a new order for each epoch."""

    def __init__(
        self,
        examples: LabelledImages,
        test: LabelledImages | None,
        labels: tuple[str, ...],
        share: float,
        seed: int,
    ) -> None:
        """share: of `examples`, to hold out. Raises DataError if too few are left."""
        self.validation: LabelledImages | None = None
        self.labels, self.test, self._seed = labels, test, seed
        self.fingerprint = fingerprint_of(labels, *(part for part in (examples, test) if part))
        self.training = examples
        if share:
            self.training, self.validation = _split(examples, share, seed)

    def steps(self, batch: int) -> int:
        return ceil_div(len(self.training), batch)

    def chunks(self, epoch: int, batch: int) -> Iterator[Chunk]:
        order = np.random.default_rng((self._seed, epoch)).permutation(len(self.training))
        # the last batch is filled up with the first ones of this order
        yield Chunk(self.training, np.resize(order, (self.steps(batch), batch)).astype(np.int32))

    def close(self) -> None:
        """Do nothing: no process was started."""


def _split(examples: LabelledImages, share: float, seed: int) -> tuple[LabelledImages, LabelledImages]:
    """Split images into training and held-out ones, with the same share of each label."""
    order = np.random.default_rng(seed).permutation(len(examples))
    held_out = np.zeros(len(examples), bool)
    for label in np.unique(examples.labels):
        of_label = order[examples.labels[order] == label]
        held_out[of_label[: round(len(of_label) * share)]] = True
    if not held_out.any():
        raise DataError(
            f"{len(examples)} pictures are too few to hold out {share:g} of each label: "
            "give more pictures, or validation: 0"
        )
    return examples[np.flatnonzero(~held_out)], examples[np.flatnonzero(held_out)]


def fingerprint_of(labels: tuple[str, ...], *parts: LabelledImages) -> str:
    """Return the hexadecimal SHA-256 of labels and examples."""
    digest = sha256("\0".join(labels).encode())
    for part in parts:
        digest.update(repr((part.images.shape, part.images.dtype.str)).encode())
        digest.update(np.ascontiguousarray(part.images).data)
        digest.update(np.ascontiguousarray(part.labels).data)
    return digest.hexdigest()
