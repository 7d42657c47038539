"""Snapshots that may be labelled: the last ones, and the least certain ones of the last hour. In memory alone."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest

from edged.client.subscription import SnapshotPicture
from edged.messages import Prediction

EACH = 48  # the last ones, and as many of the least certain ones
APART_S = 2.0  # of one camera: of those between, the least certain one is kept
UNCERTAIN_S = 3600.0
LARGEST = 16_000_000  # bytes of all


@dataclass(frozen=True, slots=True)
class SeenPicture:
    """A snapshot with the best answer to its frame. `number`: counts all. `score`: 1 without an answer."""

    number: int
    picture: SnapshotPicture
    label: str | None
    score: float

    @property
    def camera(self) -> str:
        return self.picture.header.camera

    @property
    def at(self) -> float:
        """Return when it was captured, in seconds since 1970."""
        return self.picture.header.captured_at


class SeenPictures:
    """Keeps at most twice `EACH` pictures and `LARGEST` bytes. Thread-safe."""

    def __init__(self) -> None:
        self._kept: dict[int, SeenPicture] = {}  # by number
        self._candidates: dict[str, tuple[float, SeenPicture]] = {}  # by camera: since when, and the best one
        self._number = 0
        self._lock = threading.Lock()

    def add(self, picture: SnapshotPicture, prediction: Prediction | None) -> None:
        """Take a picture. The least certain one of each `APART_S` of a camera is kept, once that time is over."""
        best = prediction.top[0] if prediction and prediction.top else None
        with self._lock:
            self._number += 1
            label, score = (best.label, best.score) if best else (None, 1.0)
            seen = SeenPicture(self._number, picture, label, score)
            since, before = self._candidates.get(seen.camera, (seen.at, seen))
            if not 0 <= seen.at - since < APART_S:
                self._kept[before.number] = before
                self._make_room()
                since, before = seen.at, seen
            self._candidates[seen.camera] = since, min(before, seen, key=lambda each: each.score)

    def lists(self) -> tuple[Sequence[SeenPicture], Sequence[SeenPicture]]:
        """Return the last ones, the newest first, and the least certain ones, the least certain first."""
        with self._lock:
            return self._last(), self._least_certain()

    def chosen(self, numbers: Sequence[int]) -> list[SeenPicture]:
        """Return the pictures with these numbers, as far as they are still kept."""
        with self._lock:
            return [self._kept[number] for number in dict.fromkeys(numbers) if number in self._kept]

    def forget(self, numbers: Sequence[int]) -> None:
        """Drop pictures that are labelled."""
        with self._lock:
            for number in numbers:
                self._kept.pop(number, None)

    def _last(self) -> list[SeenPicture]:
        return sorted(self._kept.values(), key=lambda each: each.number, reverse=True)[:EACH]

    def _least_certain(self) -> list[SeenPicture]:
        newest_at = max((each.at for each in self._kept.values()), default=0.0)
        recent = (each for each in self._kept.values() if each.label and newest_at - each.at < UNCERTAIN_S)
        return nsmallest(EACH, recent, key=lambda each: each.score)

    def _make_room(self) -> None:
        wanted = {each.number for each in (*self._last(), *self._least_certain())}
        self._kept = {number: each for number, each in self._kept.items() if number in wanted}
        while sum(len(each.picture.jpeg) for each in self._kept.values()) > LARGEST:
            del self._kept[min(self._kept)]
