"""Predictions, events and statuses of a node, folded into what is known now: what a display shows.

    board = Board()
    board.take(message, now_s)      # whatever `Subscription.receive` gives, but None
    known = board.known(now_s)      # as often as there is something to draw: values that stay as they are

`now_s` is any clock of the caller's that runs on, as `time.monotonic()`: none is read here. A board is for one
thread.
"""

from collections import deque

from edged.client.camera_board import CameraBoard
from edged.client.known import CameraKnown, Known
from edged.client.rates import Rates
from edged.client.received import Arrival, Heard
from edged.messages import Event, Prediction, Status

STALE_S = 3.0
EVENTS = 100
JUMP_S = 1.0
CLOCKS = 5  # statuses: of their times, the one that took the least to come tells the hub's clock best


class Board:
    """Of one node: the first one that is heard. What others say is left out."""

    def __init__(self, node: str | None = None) -> None:
        """`node`: this one, not the first."""
        self._node = node
        self._boot: str | None = None
        self._cameras: dict[str, CameraBoard] = {}
        self._status: Status | None = None
        self._told_s: float | None = None
        self._first_s: float | None = None
        self._ahead_s: deque[float] = deque(maxlen=CLOCKS)  # the hub's clock against that of the caller
        self._dropped: Rates[tuple[str, str]] = Rates()
        self._joules: Rates[str] = Rates()
        self._events: deque[Event] = deque(maxlen=EVENTS)

    def take(self, heard: Heard | Prediction, now_s: float) -> None:
        """It has come just now."""
        message = heard.prediction if isinstance(heard, Arrival) else heard
        self._node = self._node or message.node
        if message.node != self._node:
            return
        if message.boot != self._boot:
            self._begin(message.boot)
        self._first_s = now_s if self._first_s is None else self._first_s
        match message:
            case Prediction():
                if not self._ahead_s:  # until a status tells it better
                    self._ahead_s.append(message.published_at - now_s)
                self._camera(message.camera).predicted(message, now_s)
            case Event():
                if message.shadow is None:  # one a frame would leave no room for what happens
                    self._events.append(message)
                if message.camera is not None:
                    self._camera(message.camera).happened(message)
            case Status():
                self._take_status(message, now_s)

    def is_stale(self, now_s: float) -> bool:
        """Whether the hub has told nothing of itself for 3 s, or since it was first heard."""
        since_s = self._first_s if self._told_s is None else self._told_s
        return since_s is None or now_s - since_s > STALE_S

    def known(self, now_s: float) -> Known:
        """What is known now. Cameras and workers come in the order of the config."""
        stale = self.is_stale(now_s)
        at = now_s + max(self._ahead_s) if self._ahead_s else None
        return Known(
            node=self._node,
            boot=self._boot,
            at=at,
            away_s=None if self._told_s is None else now_s - self._told_s,
            stale=stale,
            cameras=self._known_cameras(now_s, at, stale=stale),
            workers=self._status.workers if self._status else {},
            watts={} if stale else self._joules.each_second(),
            method=self._status.energy.method if self._status else "none",
            events=tuple(self._events),
        )

    def _begin(self, boot: str) -> None:
        """Another start of the node: its sums begin anew, and perhaps its clock."""
        self._boot = boot
        self._ahead_s.clear()
        self._dropped.clear()
        self._joules.clear()

    def _take_status(self, status: Status, now_s: float) -> None:
        if self._status is None:
            self._ahead_s.clear()
        self._status, self._told_s = status, now_s
        self._tell_clock(status.at - now_s)
        self._joules.take(now_s, status.energy.rails)
        states = status.camera_states
        self._cameras = {name: self._camera(name) for name in states or self._cameras}
        for name, told in states.items():
            self._cameras[name].told = told
        sums = {(name, reason): n for name, told in states.items() for reason, n in told.dropped.items()}
        self._dropped.take(now_s, sums)

    def _tell_clock(self, ahead_s: float) -> None:
        if self._ahead_s and abs(ahead_s - max(self._ahead_s)) > JUMP_S:
            self._ahead_s.clear()  # somebody has set it
        self._ahead_s.append(ahead_s)

    def _camera(self, name: str) -> CameraBoard:
        return self._cameras.setdefault(name, CameraBoard(name))

    def _known_cameras(self, now_s: float, at: float | None, *, stale: bool) -> tuple[CameraKnown, ...]:
        dropping: dict[str, dict[str, float]] = {name: {} for name in self._cameras}
        for (name, reason), rate in self._dropped.each_second().items():
            dropping.setdefault(name, {})[reason] = rate
        return tuple(
            camera.known(now_s, at, stale=stale, dropping={} if stale else dropping[name])
            for name, camera in self._cameras.items()
        )
