"""The data source of `digits`: MNIST's images in random scenes, drawn anew for each epoch."""

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from edged.model.package import Input
from edged.train.drawn.ahead import LABELS, NOTHING, Drawers, DrawingJob, placed
from edged.train.drawn.handwriting import Bytes
from edged.train.idx import read_idx
from edged.train.source import Chunk, LabelledImages, fingerprint_of

EMPTY_SHARE = 0.2  # frames without a digit per frame with one
TOGETHER = 8  # batches of a chunk
WRITTEN = Input(28, 28, "gray", 1 / 255, (0,), (1,))  # as MNIST has its digits

T = TypeVar("T")


class Drawn:
    """In an epoch each digit is drawn once, and each frame is used `replays` times, in other colours.

    `digits`: MNIST's training images, uint8 [n, 28, 28, 1]; `written`: its test images, if any.
    The frames of an epoch are kept for their replays: 43 kB each.
    """

    labels = LABELS
    validation = None

    def __init__(
        self, digits: LabelledImages, written: LabelledImages | None, *, replays: int, processes: int, seed: int
    ) -> None:
        self._digits, self._written = digits, written
        self._replays, self._seed = replays, seed
        self._drawers = Drawers(processes)

    @cached_property
    def test(self) -> LabelledImages | None:
        """Return MNIST's test images, unchanged, in scenes."""
        if self._written is None:
            return None
        return LabelledImages(placed(self._written.images[..., 0]), self._written.labels)

    @cached_property
    def fingerprint(self) -> str:
        """Return a fingerprint of MNIST's images and of the number of replays."""
        return fingerprint_of(
            (f"drawn × {self._replays}",), self._digits, *([self._written] if self._written else [])
        )

    def steps(self, batch: int) -> int:
        """Return the number of full batches of an epoch."""
        return self._replays * (self._frames // batch)

    def chunks(self, epoch: int, batch: int) -> Iterator[Chunk]:
        """Yield the frames as they are drawn, then again from memory, in other orders and colours."""
        rng = np.random.default_rng((self._seed, epoch))
        jobs = self._jobs(rng.permutation(self._frames), (self._seed, epoch), batch)
        kept: list[LabelledImages] = []
        for drawn in _groups(self._drawers.drawn(jobs)):
            kept += drawn
            yield _chunk(drawn)
        for _ in range(self._replays - 1):
            for chosen in _groups(iter(rng.permutation(len(kept)).tolist())):
                yield _chunk([LabelledImages(recoloured(kept[i].images, rng), kept[i].labels) for i in chosen])

    def close(self) -> None:
        """End the processes that draw."""
        self._drawers.close()

    @property
    def _frames(self) -> int:
        """Return the number of frames of an epoch."""
        return round(len(self._digits) * (1 + EMPTY_SHARE))

    def _jobs(self, order: NDArray[np.int64], seed: tuple[int, ...], batch: int) -> Iterator[DrawingJob]:
        """Yield every digit once, and frames without one in between."""
        for start in range(0, len(order) - batch + 1, batch):
            chosen = order[start : start + batch]
            empty = chosen >= len(self._digits)
            digits = self._digits[np.where(empty, 0, chosen)]
            yield DrawingJob((*seed, start), digits.images[..., 0], np.where(empty, NOTHING, digits.labels))


def open_drawn(mnist: Path, *, replays: int, processes: int, seed: int) -> Drawn:
    """Open the source. `mnist`: folder with MNIST's IDX files. Raises DataError."""
    digits, written, _ = read_idx(mnist, LABELS[:NOTHING], WRITTEN)
    return Drawn(digits, written, replays=replays, processes=processes, seed=seed)


def _groups(items: Iterator[T]) -> Iterator[list[T]]:
    while group := list(islice(items, TOGETHER)):
        yield group


def _chunk(batches: list[LabelledImages]) -> Chunk:
    """Return the frames to train on, in this order."""
    examples = LabelledImages(
        np.concatenate([one.images for one in batches]), np.concatenate([one.labels for one in batches])
    )
    return Chunk(examples, np.arange(len(examples), dtype=np.int32).reshape(len(batches), -1))


def recoloured(images: Bytes, rng: np.random.Generator) -> Bytes:
    """Return the frames with channels in another order and, half the time, inverted."""
    mixed = np.ascontiguousarray(images[..., rng.permutation(3)])
    return 255 - mixed if rng.random() < 0.5 else mixed
