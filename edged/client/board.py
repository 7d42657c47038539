"""Predictions, events and statuses of a node, aggregated for a display.

    board = Board()
    board.add(message, now_s)            # each message of `Subscription.receive`
    state = board.node_state(now_s)      # immutable values, as often as the display is drawn

`now_s` is a monotonic clock of the caller's, such as `time.monotonic()`; none is read here. A board is for one
thread.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import msgspec

from edged.arithmetic import median_and_p99
from edged.client.node_state import CameraIs, CameraSummary, NodeState
from edged.client.subscription import Arrival, StreamMessage
from edged.messages import CameraState, Event, Prediction, Status
from edged.messages.published import PRESENT, answers_of, is_right

STRIP_S = 60
RECENT_S = 10

# states that follow from an event at once; the next status repeats them
CHANGES: Mapping[str, Mapping[str, bool]] = {
    "camera_up": {"up": True, "ended": False},
    "camera_down": {"up": False, "frozen": False},
    "camera_lost": {"up": False, "frozen": False},
    "camera_ended": {"up": False, "ended": True},
    "camera_frozen": {"frozen": True},
    "camera_unfrozen": {"frozen": False},
}
NO_STATUS = CameraState(up=True, captured=0, predicted=0, dropped={}, reconnects=0)
SILENT = "nothing is received from its hub"
OVER_S = 10.0  # that growth is counted over
STALE_S = 3.0  # without a status
EVENTS = 100  # kept
JUMP_S = 1.0  # of the hub's clock
CLOCKS = 5  # statuses; the one with the shortest delay gives the best estimate of the hub's clock


@dataclass(slots=True)
class SecondCounts:
    """The predictions of one second. `number`: of the second. `truth`: how many were right, and wrong."""

    number: int
    labels: Counter[str] = field(default_factory=Counter)
    totals_s: list[float] = field(default_factory=list)
    joules: list[float] = field(default_factory=list)
    truth: Counter[bool] = field(default_factory=Counter)


class LastMinute:
    """Counts of the last minute, in one entry per second; older ones are removed."""

    def __init__(self) -> None:
        self._seconds: deque[SecondCounts] = deque(maxlen=STRIP_S)
        self._begun_s: float | None = None

    def add(self, prediction: Prediction, now_s: float) -> None:
        if self._begun_s is None:
            self._begun_s = now_s
        number = int(now_s)
        if not self._seconds or self._seconds[-1].number < number:
            self._seconds.append(SecondCounts(number))
        second = self._seconds[-1]
        second.totals_s.append(prediction.seconds.total)
        for answer in answers_of(prediction):
            second.labels[answer.label] += 1
        if prediction.energy.joules is not None:
            second.joules.append(prediction.energy.joules)
        if (right := is_right(prediction)) is not None:
            second.truth[right] += 1

    def fps(self, now_s: float) -> float:
        """Return predictions per second over the last `RECENT_S`."""
        if self._begun_s is None:
            return 0.0
        begun_s = max(self._begun_s, float(int(now_s) - RECENT_S))
        return sum(len(second.totals_s) for second in self._recent(now_s)) / max(1.0, now_s - begun_s)

    def median_and_p99_s(self, now_s: float) -> tuple[float, float] | None:
        """Return median and p99 from capture to publication; None if nothing came in the last `RECENT_S`."""
        totals = [total for second in self._recent(now_s) for total in second.totals_s]
        return median_and_p99(totals) if totals else None

    def joules_each(self, now_s: float) -> float | None:
        """Return joules per prediction of the last `RECENT_S`, over those whose energy is known."""
        joules = [each for second in self._recent(now_s) for each in second.joules]
        return sum(joules) / len(joules) if joules else None

    def share_right(self, now_s: float) -> float | None:
        """Return the share of correct answers in the last minute, over frames whose truth is known."""
        truth: Counter[bool] = Counter()
        for second in self._since(int(now_s) - STRIP_S):
            truth.update(second.truth)
        return truth[True] / truth.total() if truth else None

    def strip(self, now_s: float) -> tuple[str | None, ...]:
        """Return the most frequent label of each of the last 60 seconds, oldest first; None if there was none."""
        newest = int(now_s)
        labels = {second.number: second.labels for second in self._seconds}
        numbers = range(newest - STRIP_S + 1, newest + 1)
        return tuple(_most_frequent(labels.get(number)) for number in numbers)

    def _recent(self, now_s: float) -> list[SecondCounts]:
        return self._since(int(now_s) - RECENT_S)

    def _since(self, number: int) -> list[SecondCounts]:
        return [second for second in self._seconds if second.number >= number]


def _most_frequent(labels: Counter[str] | None) -> str | None:
    return labels.most_common(1)[0][0] if labels else None


class CameraBoard:
    """The state of one camera, its newest prediction and its last minute."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.last_status = NO_STATUS
        self._why = ""
        self._last: Prediction | None = None
        self._minute = LastMinute()

    def predicted(self, prediction: Prediction, now_s: float) -> None:
        """Count a prediction of this camera."""
        self._last = prediction
        self._minute.add(prediction, now_s)

    def happened(self, event: Event) -> None:
        """Apply an event of this camera."""
        change = CHANGES.get(event.event, {})
        self.last_status = msgspec.structs.replace(self.last_status, **dict(change))
        if change:
            self._why = event.message
        if event.event == "state":
            self.last_status = with_state(self.last_status, event)

    def known(
        self, now_s: float, at: float | None, *, stale: bool, dropping: Mapping[str, float]
    ) -> CameraSummary:
        """Return what is known of the camera. `at`: the time of the hub's clock now."""
        state = "stale" if stale else summarized(self.last_status)
        last, minute = self._last, self._minute
        median_s, p99_s = minute.median_and_p99_s(now_s) or (None, None)
        return CameraSummary(
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
            captured=self.last_status.captured,
            predicted=self.last_status.predicted,
            reconnects=self.last_status.reconnects,
            dropped=self.last_status.dropped,
            dropping=dropping,
            strip=minute.strip(now_s),
            snapshots=self.last_status.snapshots,
            sees=self.last_status.state,
            present=self.last_status.present,
            count=self.last_status.count,
        )

    def _why_not(self, state: CameraIs) -> str:
        if state == "up":
            return ""
        return self.last_status.error or self._why


def with_state(status: CameraState, event: Event) -> CameraState:
    """Return a camera's state after the event `state`."""
    name, state = event.name, event.state
    if name is None or state is None:
        return msgspec.structs.replace(status, state=state)
    if state.isdecimal():
        return msgspec.structs.replace(status, count={**status.count, name: int(state)})
    return msgspec.structs.replace(status, present={**status.present, name: state == PRESENT})


def summarized(status: CameraState) -> CameraIs:
    """Return the state of a camera in one word."""
    if status.ended:
        return "ended"
    if status.up:
        return "frozen" if status.frozen else "up"
    return "down" if status.error or status.captured else "starting"


Key = TypeVar("Key")


class Rates(Generic[Key]):
    """Growth of counters over the last `OVER_S` seconds, by key."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, Mapping[Key, float]]] = deque()

    def take(self, now_s: float, sums: Mapping[Key, float]) -> None:
        """Record the counters' present values."""
        while self._samples and self._samples[0][0] < now_s - OVER_S:
            self._samples.popleft()
        self._samples.append((now_s, dict(sums)))

    def clear(self) -> None:
        """Start again after the counters were reset."""
        self._samples.clear()

    def each_second(self) -> dict[Key, float]:
        """Return the growth of each per second; nothing before the second report."""
        if len(self._samples) < 2:
            return {}
        (first_s, before), (last_s, sums) = self._samples[0], self._samples[-1]
        took_s = max(1e-3, last_s - first_s)
        return {key: max(0.0, total - before.get(key, 0.0)) / took_s for key, total in sums.items()}


class Board:
    """The state of one node: the first one received, or `node`. Messages of other nodes are ignored."""

    def __init__(self, node: str | None = None) -> None:
        """`node`: show this node; None: the first one received."""
        self._node = node
        self._boot: str | None = None
        self._cameras: dict[str, CameraBoard] = {}
        self._status: Status | None = None
        self._status_s: float | None = None
        self._first_s: float | None = None
        self._ahead_s: deque[float] = deque(maxlen=CLOCKS)  # difference between the hub's clock and the caller's
        self._dropped: Rates[tuple[str, str]] = Rates()
        self._joules: Rates[str] = Rates()
        self._events: deque[Event] = deque(maxlen=EVENTS)

    def add(self, heard: StreamMessage | Prediction, now_s: float) -> None:
        """Apply a message that has arrived just now."""
        message = heard.prediction if isinstance(heard, Arrival) else heard
        self._node = self._node or message.node
        if message.node != self._node:
            return
        if message.boot != self._boot:
            self._begin(message.boot)
        self._first_s = now_s if self._first_s is None else self._first_s
        match message:
            case Prediction():
                if not self._ahead_s:  # until a status gives a better estimate
                    self._ahead_s.append(message.published_at - now_s)
                self._camera(message.camera).predicted(message, now_s)
            case Event():
                if message.shadow is None:  # one per frame would hide the events
                    self._events.append(message)
                if message.camera is not None:
                    self._camera(message.camera).happened(message)
            case Status():
                self._take_status(message, now_s)

    def add_earlier(self, events: Iterable[Event]) -> None:
        """Add events that happened before those that were received; those already known are left out."""
        fresh = [event for event in events if event.shadow is None and event not in self._events]
        ours = [event for event in fresh if event.node == self._node]
        self._events = deque(sorted([*self._events, *ours], key=lambda event: event.at), maxlen=EVENTS)

    def is_stale(self, now_s: float) -> bool:
        """Return whether no status has come for 3 s, or none within 3 s of the hub's first message."""
        since_s = self._first_s if self._status_s is None else self._status_s
        return since_s is None or now_s - since_s > STALE_S

    def node_state(self, now_s: float) -> NodeState:
        """Return the present state. Cameras and workers come in the order of the config."""
        stale = self.is_stale(now_s)
        at = now_s + max(self._ahead_s) if self._ahead_s else None
        return NodeState(
            node=self._node,
            boot=self._boot,
            at=at,
            away_s=None if self._status_s is None else now_s - self._status_s,
            stale=stale,
            cameras=self._known_cameras(now_s, at, stale=stale),
            workers=self._status.workers if self._status else {},
            watts={} if stale else self._joules.each_second(),
            method=self._status.energy.method if self._status else "none",
            events=tuple(self._events),
        )

    def _begin(self, boot: str) -> None:
        """Begin again after a restart of the node: its counters restart, and its clock may have changed."""
        self._boot = boot
        self._ahead_s.clear()
        self._dropped.clear()
        self._joules.clear()

    def _take_status(self, status: Status, now_s: float) -> None:
        if self._status is None:
            self._ahead_s.clear()
        self._status, self._status_s = status, now_s
        ahead_s = status.at - now_s
        if self._ahead_s and abs(ahead_s - max(self._ahead_s)) > JUMP_S:
            self._ahead_s.clear()  # the hub's clock was set
        self._ahead_s.append(ahead_s)
        self._joules.take(now_s, status.energy.rails)
        states = status.camera_states
        self._cameras = {name: self._camera(name) for name in states or self._cameras}
        for name, state in states.items():
            self._cameras[name].last_status = state
        sums = {(name, reason): n for name, state in states.items() for reason, n in state.dropped.items()}
        self._dropped.take(now_s, sums)

    def _camera(self, name: str) -> CameraBoard:
        return self._cameras.setdefault(name, CameraBoard(name))

    def _known_cameras(self, now_s: float, at: float | None, *, stale: bool) -> tuple[CameraSummary, ...]:
        dropping: dict[str, dict[str, float]] = {name: {} for name in self._cameras}
        for (name, reason), rate in self._dropped.each_second().items():
            dropping.setdefault(name, {})[reason] = rate
        return tuple(
            camera.known(now_s, at, stale=stale, dropping={} if stale else dropping[name])
            for name, camera in self._cameras.items()
        )
