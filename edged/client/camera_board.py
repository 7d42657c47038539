"""What has been heard of one camera."""

from collections.abc import Mapping

from edged.client.known import CameraIs, CameraKnown
from edged.client.minute import Minute
from edged.messages import CameraState, Event, Prediction

# what an event says at once, and the next status too
CHANGES: Mapping[str, Mapping[str, bool]] = {
    "camera_up": {"up": True, "ended": False},
    "camera_down": {"up": False, "frozen": False},
    "camera_lost": {"up": False, "frozen": False},
    "camera_ended": {"up": False, "ended": True},
    "camera_frozen": {"frozen": True},
    "camera_moves": {"frozen": False},
}
UNTOLD = CameraState(up=True, captured=0, predicted=0, dropped={}, reconnects=0)
SILENT = "its hub says nothing"


class CameraBoard:
    """Its state, its newest prediction and its last minute."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.told = UNTOLD
        self._why = ""
        self._last: Prediction | None = None
        self._minute = Minute()

    def predicted(self, prediction: Prediction, now_s: float) -> None:
        """A prediction has come."""
        self._last = prediction
        self._minute.add(prediction, now_s)

    def happened(self, event: Event) -> None:
        """An event of this camera has come."""
        change = CHANGES.get(event.event, {})
        self.told = self.told.model_copy(update=dict(change))
        if change:
            self._why = event.message

    def known(self, now_s: float, at: float | None, *, stale: bool, dropping: Mapping[str, float]) -> CameraKnown:
        """What is known of it. `at`: what the hub's clock shows now."""
        state = "stale" if stale else _state(self.told)
        last, minute = self._last, self._minute
        median_s, p99_s = minute.median_and_p99_s(now_s) or (None, None)
        return CameraKnown(
            name=self._name,
            state=state,
            why=SILENT if stale else self._why_not(state),
            last=last,
            age_s=None if last is None or at is None else max(0.0, at - last.captured_at),
            fps=minute.fps(now_s) if state in {"up", "frozen"} else 0.0,
            median_s=median_s,
            p99_s=p99_s,
            joules=minute.joules_each(now_s),
            right=minute.share_right(now_s),
            captured=self.told.captured,
            predicted=self.told.predicted,
            reconnects=self.told.reconnects,
            dropped=self.told.dropped,
            dropping=dropping,
            strip=minute.strip(now_s),
            snapshots=self.told.snapshots,
        )

    def _why_not(self, state: CameraIs) -> str:
        if state == "up":
            return ""
        return self.told.error or self._why


def _state(told: CameraState) -> CameraIs:
    if told.ended:
        return "ended"
    if told.up:
        return "frozen" if told.frozen else "up"
    return "down" if told.error or told.captured else "starting"
