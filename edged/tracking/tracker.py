"""The tracks of one camera, by the association of ByteTrack (Zhang et al., 2022).

Boxes that are clear continue tracks first; those below their threshold, as of objects that others hide, continue
what is left of the tracks, but begin none. Unlike there, they also continue tracks that were not seen in the frame
before: so fewer objects lose their number on the scenes of `bench.tracking`. A track gets its number with its
second box.

The packages that do this come with SciPy (norfair, trackers, supervision), or with PyTorch and a licence that does
not fit (ultralytics, boxmot).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from edged.messages.detection import FoundBox
from edged.tracking.association import associated
from edged.tracking.motion import Motion

CLEAR_OVERLAP, FAINT_OVERLAP, NEW_OVERLAP = 0.2, 0.5, 0.3  # least, of a box with where its track must be
KEPT = 30  # frames for which a track that is not seen is kept
NOT_YET = 0  # number of a track with one box


@dataclass(slots=True, eq=False)
class ObjectTrack:
    """One object. `label`: index of its class. `seen`: number of the last frame with a box of it."""

    label: int
    motion: Motion
    seen: int
    number: int = NOT_YET


class Tracker:
    """Follows the boxes of one camera. `frame` is the camera's own number: those that never come are gaps."""

    def __init__(self) -> None:
        self._tracks: list[ObjectTrack] = []
        self._numbered = 0
        self._frame = self._captured_ns = -1

    def numbers(
        self, frame: int, captured_ns: int, clear: Sequence[FoundBox], faint: Sequence[FoundBox] = ()
    ) -> tuple[int | None, ...]:
        """Return the number of the track of each clear box; None for one that is not seen again yet.

        A frame that comes after a later one changes nothing; its boxes get the numbers of the tracks where these
        were. `captured_ns` tells it from a frame of a camera that counts anew: then all tracks begin anew.
        """
        if frame <= self._frame:
            if captured_ns <= self._captured_ns:
                return self._where(frame, clear)
            self._tracks, self._frame = [], frame - 1
        self._advance(frame, captured_ns)
        known = [track for track in self._tracks if track.number]
        new = [track for track in self._tracks if not track.number]
        continued = self._continue(known, clear, CLEAR_OVERLAP)
        self._continue([track for track in known if track.seen != frame], faint, FAINT_OVERLAP)
        others = [index for index in range(len(clear)) if index not in continued]
        again = self._continue(new, [clear[index] for index in others], NEW_OVERLAP)
        for index, track in sorted(again.items()):
            self._numbered += 1
            track.number = self._numbered
            continued[others[index]] = track
        first = [
            ObjectTrack(box.index, Motion(box.box), frame)
            for index, box in enumerate(clear)
            if index not in continued
        ]
        self._tracks = [*known, *again.values(), *first]
        return tuple(continued[index].number if index in continued else None for index in range(len(clear)))

    def _advance(self, frame: int, captured_ns: int) -> None:
        """Move all tracks to this frame, and forget those not seen for long."""
        before, self._frame, self._captured_ns = self._frame, frame, captured_ns
        self._tracks = [track for track in self._tracks if frame - track.seen <= KEPT]
        for track in self._tracks:
            track.motion.advance(frame - before, is_seen=track.seen == before)

    def _continue(
        self, tracks: Sequence[ObjectTrack], boxes: Sequence[FoundBox], least: float
    ) -> dict[int, ObjectTrack]:
        """Correct the tracks that these boxes continue; return these tracks by the index of the box."""
        predicted = [(track.label, track.motion.box()) for track in tracks]
        pairs = associated(predicted, [(box.index, box.box) for box in boxes], least)
        for box, track in pairs.items():
            tracks[track].motion.correct(boxes[box].box)
            tracks[track].seen = self._frame
        return {box: tracks[track] for box, track in pairs.items()}

    def _where(self, frame: int, boxes: Sequence[FoundBox]) -> tuple[int | None, ...]:
        """Return the numbers of boxes of an earlier frame: of the tracks where these were then."""
        known = [track for track in self._tracks if track.number]
        predicted = [(track.label, track.motion.box(frame - self._frame)) for track in known]
        pairs = associated(predicted, [(box.index, box.box) for box in boxes], CLEAR_OVERLAP)
        return tuple(known[pairs[index]].number if index in pairs else None for index in range(len(boxes)))
