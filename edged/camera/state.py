"""The camera's state and counters, as reported to the hub."""

from collections import Counter

import msgspec

from edged.messages import LONGEST_WAIT_S, USUAL_WAIT_S, CameraCount, CameraReport


class State:
    """Tracks whether the camera is up or why it is down, and counts what became of each picture.

    Captured = frames sent + dropped by reason, at any moment between two pictures.
    """

    def __init__(self, camera: str) -> None:
        self._camera = camera
        self._captured = 0
        self._dropped: Counter[str] = Counter()
        self._up = False
        self._error: str | None = None
        self._reconnects = 0
        self._frozen = self._still = False

    def captured(self) -> int:
        """Count a captured picture, and return its number, from 0."""
        self._captured += 1
        return self._captured - 1

    def dropped(self, reason: str) -> None:
        """Count the last captured picture as dropped."""
        self._dropped[reason] += 1

    def source_opened(self) -> bool:
        """Record that the source delivers pictures; True if it did not before."""
        if self._up:
            return False
        self._reconnects += self._error is not None
        self._up, self._error = True, None
        return True

    def source_failed(self, error: str) -> bool:
        """Record that the source has failed; True if it had not before."""
        news = self._up or error != self._error
        self._up, self._error, self._frozen, self._still = False, error, False, False
        return news

    def set_frozen(self, identical: bool, still: bool) -> bool:
        """Record whether the pictures stay identical, or show a scene that is still; True if that is news."""
        before = self._frozen, self._still
        self._frozen, self._still = identical or still, still and not identical
        return before != (self._frozen, self._still)

    def count(self) -> CameraCount:
        """Return the counters, for a frame that is about to be sent or a report."""
        return CameraCount(captured=self._captured, dropped=dict(self._dropped))

    def report(self, longest_wait_s: float = USUAL_WAIT_S) -> CameraReport:
        """Return the current state as a message, with the longest time that the source waits for a picture."""
        return CameraReport(
            camera=self._camera,
            up=self._up,
            error=self._error,
            frozen=self._frozen,
            still=self._still,
            reconnects=self._reconnects,
            count=self.count(),
            longest_wait_s=min(longest_wait_s, LONGEST_WAIT_S),
        )

    def last_report(self) -> CameraReport:
        """Return the state after the end."""
        return msgspec.structs.replace(self.report(), up=False, ended=True)
