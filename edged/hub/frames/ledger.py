"""The fate of every frame of one camera, over all runs of its process."""

from collections import Counter

from edged.messages import CameraCount

NOTHING = CameraCount(captured=0, dropped={})


class Ledger:
    """captured = predicted + dropped by reason + pending, exactly, after each method.

    A camera process counts from 0 at each start and sends its count in every message. Frames that it counts as
    sent but that never arrived are drops with the reason `link`.
    """

    def __init__(self) -> None:
        self.predicted = 0
        self._run = ""
        self.pending = 0  # waiting or in flight
        self._here: Counter[str] = Counter()  # dropped by the hub
        self._earlier: Counter[str] = Counter()  # dropped by the camera in its earlier runs
        self._captured_earlier = 0
        self._latest = NOTHING
        self._accounted = 0  # frames of this run that have arrived, or are lost for sure

    @property
    def captured(self) -> int:
        """Return the number of frames captured, as far as the camera has reported."""
        return self._captured_earlier + self._latest.captured

    @property
    def dropped(self) -> dict[str, int]:
        """Return the number of frames dropped by reason, by the camera and by the hub."""
        return dict(self._earlier + Counter(self._latest.dropped) + self._here)

    def greeted(self, run: str, count: CameraCount) -> None:
        """Record the hello of a camera process; a new one starts its counts again."""
        if run == self._run:
            self.report(count)
            return
        self._run = run
        self._captured_earlier += self._latest.captured - count.captured
        self._earlier.update(self._latest.dropped)
        self._earlier.subtract(count.dropped)
        self._latest = count
        self._accounted = self._sent(count)

    def frame(self, count: CameraCount) -> bool:
        """Record a frame that came with `count`.

        Returns False if the count does not include it: the frame must be discarded.
        """
        if self._sent(count) <= self._accounted or not self._grows(count):
            return False
        self._accounted += 1
        self.pending += 1
        self._take(count)
        return True

    def report(self, count: CameraCount) -> None:
        """Record a count that came without a frame."""
        if self._sent(count) >= self._accounted and self._grows(count):
            self._take(count)

    def drop(self, reason: str) -> None:
        """Account for a pending frame as dropped, with its reason."""
        self.pending -= 1
        self._here[reason] += 1

    def predict(self) -> None:
        """Account for a pending frame as predicted."""
        self.pending -= 1
        self.predicted += 1

    def _take(self, count: CameraCount) -> None:
        self._latest = count
        self._here["link"] += self._sent(count) - self._accounted
        self._accounted = self._sent(count)

    def _grows(self, count: CameraCount) -> bool:
        """Return whether `count` can be later than the latest one; a count that runs backwards is not trusted."""
        return count.captured >= self._latest.captured and all(
            count.dropped.get(reason, 0) >= dropped for reason, dropped in self._latest.dropped.items()
        )

    @staticmethod
    def _sent(count: CameraCount) -> int:
        return count.captured - sum(count.dropped.values())
