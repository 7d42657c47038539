"""The tracks of all cameras: which object each box of a detector is.

They are the hub's, since frames of one camera may go to several workers.
"""

from collections import defaultdict
from collections.abc import Sequence

from edged.messages import Frame, Scores
from edged.tracking.tracker import Tracker


class CameraTracks:
    """The trackers of all cameras, while tracks are wanted."""

    def __init__(self, *, are_wanted: bool) -> None:
        self._are_wanted = are_wanted
        self._trackers: defaultdict[str, Tracker] = defaultdict(Tracker)

    def numbers(self, frame: Frame, scores: Scores, index: int) -> Sequence[int | None]:
        """Return the numbers of the boxes of a frame, number `index` of these scores; empty if none are wanted."""
        if not self._are_wanted or not scores.boxes:
            return ()
        faint = scores.faint[index] if scores.faint else ()
        tracker = self._trackers[frame.camera]
        return tracker.numbers(frame.frame, frame.captured_ns, scores.boxes[index], faint)

    def set_wanted(self, *, are_wanted: bool) -> None:
        """Give numbers from now on, or no more."""
        self._are_wanted = are_wanted
