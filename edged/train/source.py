"""What a training learns from: pictures or features with the index of each one's label."""

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
    """Some examples and the steps to take on them: order int32 [steps, batch], indices into `examples`."""

    examples: LabelledImages
    order: Order


class TrainingSource(Protocol):
    """Training data, which depend on data set, seed and epoch alone: a training may continue at any epoch."""

    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def validation(self) -> LabelledImages | None:
        """Held out; None where nothing is."""

    @property
    def test(self) -> LabelledImages | None:
        """None where the data have none."""

    @property
    def fingerprint(self) -> str:
        """Hexadecimal SHA-256 of the data: what a checkpoint was learnt from."""

    def steps(self, batch: int) -> int:
        """Return the number of steps of one epoch."""

    def chunks(self, epoch: int, batch: int) -> Iterator[Chunk]:
        """Of one epoch. Where `examples` is the same object as before it need not be loaded again."""

    def close(self) -> None:
        """Stop the processes that prepare examples."""


class InMemory:
    """All examples at once, each one an epoch's time, in an order of its own each epoch."""

    def __init__(
        self,
        examples: LabelledImages,
        test: LabelledImages | None,
        labels: tuple[str, ...],
        share: float,
        seed: int,
    ) -> None:
        """share: of `examples`, to be held out. Raises DataError where that leaves too little."""
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
        # the last batch is filled up with the first of this order
        yield Chunk(self.training, np.resize(order, (self.steps(batch), batch)).astype(np.int32))

    def close(self) -> None:
        """Do nothing: no process was started."""


def _split(examples: LabelledImages, share: float, seed: int) -> tuple[LabelledImages, LabelledImages]:
    """Split images into those to learn from and those held out, with the same share of each label."""
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
    """Hexadecimal SHA-256 of labels and examples."""
    digest = sha256("\0".join(labels).encode())
    for part in parts:
        digest.update(repr((part.images.shape, part.images.dtype.str)).encode())
        digest.update(np.ascontiguousarray(part.images).data)
        digest.update(np.ascontiguousarray(part.labels).data)
    return digest.hexdigest()
